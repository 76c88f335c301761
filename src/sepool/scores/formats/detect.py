"""Recognition of the format of a file of clusters."""

from __future__ import annotations

from sepool.scores.formats.infomap import is_tree_line
from sepool.scores.formats.lines import community_separator, is_pajek_head
from sepool.scores.formats.rows import NodeIndex
from sepool.scores.formats.table import has_header, separator_of
from sepool.scores.formats.text import Text, rows_of

_BY_HEAD = {"# node_id module flow": "infomap-clu", "# path flow name node_id": "infomap-tree"}
_BY_SUFFIX = {".tree": "infomap-tree", ".ftree": "infomap-tree", ".clu": "infomap-clu"}


def detect(text: Text, nodes: NodeIndex) -> str:
    """Return the format of a text file, by its first line, its suffix, then the number of columns.

    Where columns leave several, the one that lists every node of the graph once.

    Raises:
        ValueError: several formats remain, or none fits.
    """
    _, first = next(text.content())
    if is_pajek_head(first):
        return "pajek"
    if is_tree_line(first):
        return "infomap-tree"
    for line in text.lines:
        if not line.startswith("#"):
            break
        if line.strip() in _BY_HEAD:
            return _BY_HEAD[line.strip()]
    if text.suffix in _BY_SUFFIX and len(first.split()) > 1:
        return _BY_SUFFIX[text.suffix]
    separator = separator_of(text)
    if separator == ",":
        return "table"
    rows = rows_of(text, text.content(), separator)
    if len(rows[0]) > 1 and rows[0][0] not in nodes and has_header(rows, nodes):
        return "table"
    return _by_columns(text, rows, nodes)


def _by_columns(text: Text, rows: list[list[str]], nodes: NodeIndex) -> str:
    """Return the format of lines without a header."""
    widths = set(map(len, rows))
    if widths == {1}:
        return "labels"
    if len(widths) > 1:
        return "communities"
    first, second = ([row[i] for row in rows] for i in (0, 1))
    if widths == {2} and len(set(first)) == len(first) and len(set(second)) < len(second):
        return "table"  # of a node and its cluster; a community would share a member
    candidates = ["table", "communities"] if widths != {3} else ["infomap-clu", "communities"]
    members = rows_of(text, text.content(), community_separator(text))
    fits = {
        "communities": nodes.covers([member for row in members for member in row]),
        "table": widths == {2} and nodes.covers(first),
        "infomap-clu": widths == {3} and nodes.covers(first) and all(map(_is_flow, rows)),
    }
    fitting = [name for name in candidates if fits[name]]
    if len(fitting) == 1:
        return fitting[0]
    raise ValueError(
        f"{text.path}: {len(rows)} lines of {len(rows[0])} columns may be of the format "
        f"{' or '.join(candidates)}; choose one with format= (--format)"
    )


def _is_flow(row: list[str]) -> bool:
    """Return True for a module and a flow behind a node."""
    flow = row[2].lower().replace(".", "", 1).replace("e-", "", 1)
    return row[1].isdigit() and flow.isdigit()
