"""Separator and header of a text file, from its first lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from sepool.graph.columns import HEADERS, WEIGHTS
from sepool.graph.formats.edge_line import NUMBER

_LINES = 100  # that are looked at
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", " ": "blank"}
_HEAD = 1 << 16

Row = tuple[str, ...]


@dataclass(frozen=True)
class Dialect:
    """Layout of a text file.

    Attributes:
        separator: a comma, a semicolon, a tab or a blank.
        skip: number of comments and empty lines above the first row.
        lines: the first rows, header included, as text.
        rows: the same as fields.
        header: the names of the columns, None without a header.
    """

    separator: str
    skip: int
    lines: Row
    rows: tuple[Row, ...]
    header: Row | None

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def single_blanks(self) -> bool:
        """True if no blanks separate, or one blank always does."""
        rows = zip(self.lines, self.rows, strict=True)
        return self.separator != " " or all(line == " ".join(row) for line, row in rows)

    @property
    def regular(self) -> bool:
        """True if all rows have the same number of fields, two at least."""
        return self.width > 1 and {len(row) for row in self.rows} == {self.width}


def sniff(head: bytes) -> Dialect:
    r"""Return the layout of a text file that begins with these bytes.

    Example:
        >>> sniff(b"# friends\nsource;target\nann;bob\n").header
        ('source', 'target')
        >>> sniff(b"ann,bob\n").separator
        ','
    """
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("this is text in UTF-16; save the file in UTF-8")
    text = head.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").split("\n")
    if len(head) >= _HEAD and len(text) > 1:
        del text[-1]  # cut in two
    empty = [not line.strip() or line.lstrip()[0] in "#%" for line in text]
    skip = empty.index(False) if False in empty else len(text)
    lines = [line for line, no_row in zip(text, empty, strict=True) if not no_row][:_LINES]
    separator = _separator(lines)
    rows = _split(lines, separator)
    header = rows[0] if rows and is_header(rows) else None
    return Dialect(separator, skip, tuple(lines), rows, header)


def is_header(rows: Sequence[Row]) -> bool:
    """Return True if the first row names columns: by customary names, or as words above numbers."""
    words = tuple(field.lower() for field in rows[0])
    if _has_ends(words) or (len(words) == 3 and words[2] in WEIGHTS):
        return True
    if len(rows) < 2 or any(map(NUMBER.fullmatch, words)):
        return False
    below = zip(*(row for row in rows[1:] if len(row) == len(words)), strict=True)
    return any(any(cells) and all(map(NUMBER.fullmatch, filter(None, cells))) for cells in below)


def _has_ends(words: Row) -> bool:
    return any(one in words and other in words for one, other in HEADERS)


def _separator(lines: list[str]) -> str:
    if not lines:
        return " "
    if '"' not in lines[0]:
        for sign in "\t;,":
            if sign in lines[0] and _has_ends(_split([lines[0].lower()], sign)[0]):
                return sign
    first = lines[0]
    if all("\t" in line for line in lines):
        return "\t"
    if ";" in first and "," in first:
        # a;b;0,5 has decimal commas
        fields = [field for row in _split(lines, ";") for field in row if "," in field]
        decimal = all(NUMBER.fullmatch(field.replace(",", ".", 1)) for field in fields)
        return ";" if decimal and len(_split([first], ";")[0]) > 2 else ","
    return "," if "," in first else ";" if ";" in first else " "


def _split(lines: Sequence[str], separator: str) -> tuple[Row, ...]:
    if separator == " ":
        return tuple(tuple(line.split()) for line in lines)
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return tuple(tuple(field.strip() for field in row) for row in rows)
