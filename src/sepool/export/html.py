"""HTML of trees for notebooks: a dendrogram of the coarse levels above the summary.

The picture is inline SVG in the colour of the text, so that it fits light and dark pages; there are
no scripts, and nothing is loaded.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.export.summary import HEADINGS, TreeSummary, counted, single_line
from sepool.levels import names_of

if TYPE_CHECKING:
    from sepool.tree import CodingTree

MAX_ROWS, MAX_PARENTS = 36, 160  # bound the elements of the picture, however large the tree
ROW, TOP, WIDTH, LABELS = 15, 20, 720, 300  # pixels; LABELS of the width are for names
LENGTH = 36  # characters of a label

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """The ends of the branches in the picture: a level, its clusters in order, the rest."""

    level: int
    clusters: NDArray[np.intp]
    hidden: int


def page(tree: CodingTree) -> str:
    """Return a dendrogram and the table of the summary.

    Example:
        >>> from sepool import CodingTree
        >>> html = page(CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1]))
        >>> html[:5], html.count("<path"), html[-6:]
        ('<div>', 3, '</div>')
    """
    summary = tree.summary()
    heading = f"{summary.size}, height {summary.height}; {summary.saving}"
    return f"<div><div>{escape(heading)}</div>{_dendrogram(tree)}{_table(summary)}</div>"


def _rows(tree: CodingTree) -> Rows:
    """Return the finest level of few clusters, or the largest clusters of a coarsest of many."""
    level, parents = tree.height, 0
    while level > 0 and tree.num_clusters(level - 1) <= MAX_ROWS:
        parents += tree.num_clusters(level)
        if parents > MAX_PARENTS:
            break
        level -= 1
    if level < tree.height:
        parent = tree.assignment(level + 1)
        return Rows(level, np.argsort(parent, kind="stable"), 0)
    level -= 1
    size = tree.cluster_sizes(level) if level else tree.volumes(0)
    largest = np.argsort(-size, kind="stable")[: MAX_ROWS - 1]
    return Rows(level, np.sort(largest), len(size) - len(largest))


def _dendrogram(tree: CodingTree) -> str:
    rows = _rows(tree)
    step = (WIDTH - LABELS - 30) / (tree.height - rows.level)
    end = WIDTH - LABELS
    y = np.full(tree.num_clusters(rows.level), np.nan)
    y[rows.clusters] = TOP + ROW * (np.arange(len(rows.clusters)) + 0.5)
    parts = [_labels(tree, rows, end)]
    for level in range(rows.level, tree.height + 1):
        x = end - (level - rows.level) * step
        parts.append(_text(x, 11, "middle", f"level {level}" if step > 55 else str(level)))
        if level > rows.level:
            paths, y = _branches(tree, level, y, x, step)
            parts.append(paths)
    height = TOP + ROW * (len(rows.clusters) + (rows.hidden > 0)) + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Dendrogram of the coding tree" font-family="sans-serif" font-size="11" '
        f'fill="currentColor" style="width:100%;max-width:{WIDTH}px;height:auto">'
        f"{''.join(parts)}</svg>"
    )


def _branches(tree: CodingTree, level: int, y: Array, x: float, step: float) -> tuple[str, Array]:
    """Return a path for every cluster of a level, and the places of the clusters."""
    parent = tree.assignment(level)
    paths, places = [], np.full(tree.num_clusters(level), np.nan)
    drawn = np.flatnonzero(~np.isnan(y))
    order = drawn[np.argsort(parent[drawn], kind="stable")]
    first = np.flatnonzero(np.diff(parent[order], prepend=-1))
    for members in np.split(order, first[1:]):
        low, high = y[members].min(), y[members].max()
        places[parent[members[0]]] = (low + high) / 2
        lines = "".join(f"M{x:.1f} {y[i]:.1f}h{step:.1f}" for i in members)
        paths.append(
            f'<path d="{lines}M{x:.1f} {low:.1f}V{high:.1f}" fill="none" '
            'stroke="currentColor" stroke-opacity=".55"/>'
        )
    return "".join(paths), places


def _labels(tree: CodingTree, rows: Rows, x: float) -> str:
    """Return the names and sizes at the ends of the branches, clusters with a bar below them."""
    if rows.level:
        names, sizes = tree.cluster_names(rows.level), tree.cluster_sizes(rows.level)
        scale = 40 / sizes.max()
    else:
        names, sizes, scale = list(map(str, names_of(tree))), np.ones(tree.num_nodes, int), 0.0
    parts = []
    for row, cluster in enumerate(rows.clusters.tolist()):
        y, bar = TOP + ROW * (row + 0.5), max(scale * sizes[cluster], 1)
        label = single_line(names[cluster], LENGTH)
        if rows.level:
            parts.append(
                f'<rect x="{x:.1f}" y="{y - 4:.1f}" width="{bar:.1f}" height="8" opacity=".35"/>'
            )
            label += f" ({sizes[cluster]:,})"
        parts.append(_text(x + (bar if rows.level else 0) + 5, y + 4, "start", label))
    if rows.hidden:
        noun = "other cluster" if rows.level else "other node"
        y = TOP + ROW * (len(rows.clusters) + 0.5)
        parts.append(_text(x + 5, y + 4, "start", f"and {counted(rows.hidden, noun)}"))
    return "".join(parts)


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _table(summary: TreeSummary) -> str:
    if not summary.levels:
        return ""
    head = _row("th", HEADINGS)
    body = "".join(_row("td", level.cells()) for level in summary.levels)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, cells: tuple[str, ...]) -> str:
    """Return a row of a table, numbers to the right, names to the left."""
    sides = [*["right"] * (len(cells) - 1), "left"]
    return "".join(
        [
            "<tr>",
            *(
                f'<{tag} style="text-align:{side};padding:0 .5em">{escape(cell)}</{tag}>'
                for cell, side in zip(cells, sides, strict=True)
            ),
            "</tr>",
        ]
    )
