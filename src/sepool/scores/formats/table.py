"""Tables ``node,level_1,level_2,...``, separated by commas, tabs or blanks."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from sepool.scores.formats.rows import NodeIndex, Rows
from sepool.scores.formats.text import SHOWN, Text

_HEADERS = ("node", "nodes", "node_id", "id", "name", "vertex")
_NAMES = {",": "commas", "\t": "tabs", " ": "blanks"}


def read_table(text: Text, nodes: NodeIndex) -> Rows:
    """Read a table with a row a node; two columns may do without a header.

    Raises:
        ValueError: a row is malformed, or more than two columns have no header of levels.
    """
    separator = separator_of(text)
    rows, lines = _rows(text, separator, nodes)
    if not rows:
        raise ValueError(f"{text.path}: no rows in this table")
    header = rows[0] if has_header(rows, nodes) else []
    if header:
        rows, lines = rows[1:], lines[1:]
        if not rows:
            raise ValueError(f"{text.path}: no clusters below the header")
    width = len(header or rows[0])
    _check_header(text, header, width, rows)
    for row, number in zip(rows, lines, strict=True):
        if len(row) != width:
            raise text.error(number, f"expected {width} columns, got {len(row)}")
        if "" in row[1:]:
            raise text.error(
                number, f"node {row[0]!r} has no cluster in column {row.index('') + 1}"
            )
    columns = list(map(list, zip(*rows, strict=True)))
    shown = f"header {','.join(header)}" if header else "no header"
    return Rows(lines, columns[1:], columns[0], note=f"separated by {_NAMES[separator]}, {shown}")


def separator_of(text: Text) -> str:
    """Return the comma or the tab if it is on every line, a blank otherwise."""
    lines = [line for _, line in text.content()]
    for separator in ",\t":
        if all(separator in line for line in lines):
            return separator
    return " "


def has_header(rows: Sequence[Sequence[str]], nodes: NodeIndex) -> bool:
    """Return True if the first row names the columns.

    It has a customary name for nodes, or there is one row too many; a node of the graph is a header
    only if both hold.
    """
    customary, one_more = rows[0][0].lower() in _HEADERS, len(rows) == len(nodes) + 1
    return (customary and one_more) if rows[0][0] in nodes else (customary or one_more)


def _rows(text: Text, separator: str, nodes: NodeIndex) -> tuple[list[list[str]], list[int]]:
    """Return the rows and their lines; a field in quotation marks may go over several lines."""
    first, _ = next(text.content())
    lines = text.lines[first - 1 :]
    plain = lines if separator != " " else [line.replace("\t", " ").strip() for line in lines]
    reader = csv.reader(
        (line + "\n" for line in plain), delimiter=separator, skipinitialspace=True, strict=True
    )
    rows, numbers = [], []
    at = first  # line on which a row begins
    try:
        for row in reader:
            name = row[0] if row and row[0] in nodes else row[0].strip() if row else ""
            if any(row) and (name in nodes or not name.startswith(("#", "%"))):
                rows.append([name, *(field.strip() for field in row[1:])])
                numbers.append(at)
            at = first + reader.line_num
    except csv.Error as error:
        raise text.error(at, f"{error}, got {lines[at - first][:SHOWN]!r}") from None
    return rows, numbers


def _check_header(text: Text, header: list[str], width: int, rows: list[list[str]]) -> None:
    """Fail on a table of one column, and on levels that the header does not name."""
    number = next(text.content())[0]
    if width < 2:
        raise text.error(number, f"expected 'node,cluster', got {','.join(header or rows[0])!r}")
    expected = [f"level_{i}" for i in range(1, width)]
    if width > 2 and [name.lower() for name in header[1:]] != expected:
        raise text.error(
            number,
            f"{width} columns need the header node,{','.join(expected)} (finest first), got "
            f"{','.join(header or rows[0])[:SHOWN]!r}; otherwise keep two columns",
        )
