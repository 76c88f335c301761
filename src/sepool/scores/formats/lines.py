"""One item a line: Pajek partitions, labels in the order of the nodes, communities."""

from __future__ import annotations

import re

from sepool.scores.formats.rows import Rows
from sepool.scores.formats.text import SHOWN, Text, rows_of

_VERTICES = re.compile(r"\*vertices\s+(\d+)", re.IGNORECASE)


def is_pajek_head(line: str) -> bool:
    """Return True for a line ``*Vertices n``."""
    return _VERTICES.fullmatch(line) is not None


def read_pajek(text: Text) -> Rows:
    """Read ``*Vertices n``, then the cluster of a node a line, in the order of the nodes.

    Raises:
        ValueError: a line is no whole number, or there are not n.
    """
    (number, first), *content = text.content()
    head = _VERTICES.fullmatch(first)
    if head is None:
        raise text.error(number, f"expected '*Vertices n', got {first[:SHOWN]!r}")
    for number, line in content:
        if not re.fullmatch(r"-?\d+", line):
            raise text.error(number, f"expected the number of a cluster, got {line[:SHOWN]!r}")
    if len(content) != int(head[1]):
        raise text.error(
            number, f"*Vertices {head[1]}, but {len(content)} lines with clusters follow"
        )
    return Rows([number for number, _ in content], [[line for _, line in content]])


def read_labels(text: Text) -> Rows:
    """Read the cluster of a node a line, in the order of the nodes."""
    content = list(text.content())
    return Rows([number for number, _ in content], [[line for _, line in content]])


def read_communities(text: Text) -> Rows:
    """Read the members of a community a line, separated by tabs if any line has one, or by blanks.

    Raises:
        ValueError: a name has an open quotation mark.
    """
    content = list(text.content())
    separator = community_separator(text)
    nodes, labels, lines = [], [], []
    for i, members in enumerate(rows_of(text, content, separator)):
        members = [member for member in members if member]
        nodes += members
        labels += [str(i)] * len(members)
        lines += [content[i][0]] * len(members)
    return Rows(lines, [labels], nodes, note=f"{len(content)} communities")


def community_separator(text: Text) -> str:
    """Return the tab if any line has one, otherwise a blank; a line may be of one member."""
    return "\t" if any("\t" in line for _, line in text.content()) else " "
