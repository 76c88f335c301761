"""The graph as it gets coarser, a panel a level."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.graph.graph import as_graph
from sepool.tree import CodingTree
from sepool.viz.clusters import draw_disks, draw_links, rim, summary
from sepool.viz.coarse import links_of, node_names
from sepool.viz.colours import INK, ancestors, cluster_colours, colour_level, text_on
from sepool.viz.figures import (
    Labels,
    box_around,
    clear_axes,
    new_figure,
    plain,
    points_a_unit,
    quiet_fonts,
)
from sepool.viz.places import Layout, layout

COLUMNS = 4
SIDE, HEAD = 3.3, 0.62  # inches of a panel and of the two lines above it
COARSER = "#5c6673"  # marks above the level of the colours


@quiet_fonts()
def plot_levels(
    tree: CodingTree, graph: Any, *, level: int | None = None, title: str | None = None
) -> Figure:
    """Draws the coarse graph of every level: marks as large as their clusters, lines as wide as
    the weight between them.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        level: the level whose clusters give the colours; the coarsest by default.
        title: a line above the picture; what the tree is like, by default.

    Returns:
        A ``matplotlib.figure.Figure``.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> tree = CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])
        >>> [axes.get_title() for axes in plot_levels(tree, bridge).axes]
        ['level 0: 6 nodes\\n1.56 bits', 'level 1: 2 clusters\\n0.143 bits']
    """
    graph = as_graph(graph)
    links = links_of(tree, graph)
    level = colour_level(tree, level)
    colours = cluster_colours(tree, links, level)
    places = layout(tree, graph)
    top, counts = tree.height - 1, tree.counts
    box = box_around(places.centre[top], places.radius[top])
    flat = min(1.2, (box[3] - box[1]) / (box[2] - box[0]))
    columns = min(tree.height, COLUMNS)
    rows = ceil(tree.height / columns)
    figure = new_figure(max(SIDE * columns, 5), rows * (SIDE * flat + HEAD) + 0.45)
    grid = figure.add_gridspec(
        rows,
        columns,
        left=0.01,
        right=0.99,
        bottom=0.01,
        top=1 - (HEAD + 0.45) / figure.get_figheight(),
        wspace=0.03,
        hspace=HEAD / (SIDE * flat),
    )
    for i in range(tree.height):
        axes = figure.add_subplot(grid[i // columns, i % columns])
        clear_axes(axes, box)
        draw_links(axes, links[i], places.centre[i])
        fill = colours[ancestors(tree, i, level)] if i <= level else np.full(counts[i], COARSER)
        _draw_marks(axes, tree, places, i, fill)
        what = ("node" if i == 0 else "cluster") + "s" * (counts[i] > 1)
        note = f"level {i}: {counts[i]:,} {what}\n{tree.contributions(i).sum():.3g} bits"
        axes.set_title(note, size=13, color=INK, linespacing=1.3)
    text = summary(tree, graph.num_edges) if title is None else plain(title, 90)
    figure.suptitle(text, y=1 - 0.12 / figure.get_figheight(), va="top", size=14, color=INK)
    return figure


def _draw_marks(
    axes: Axes, tree: CodingTree, places: Layout, level: int, fill: NDArray[np.str_]
) -> None:
    """Areas go with the number of nodes; the marks of few have labels in them."""
    sizes, centre = tree.cluster_sizes(level), places.centre[level]
    # As large as the disks of the layout allow, on the same scale for all marks of a level.
    unit = float((places.radius[level] / np.sqrt(sizes)).min())
    radius = unit * np.sqrt(sizes)
    draw_disks(axes, centre, 2 * radius, fill, 3, edge=rim(axes, float(radius.min())))
    texts = node_names(tree) if level == 0 else [f"{size:,}" for size in sizes.tolist()]
    labels, points = Labels(axes), points_a_unit(axes)
    longest = max(map(len, texts)) if level == 0 else 0  # all nodes in one size
    for i in np.argsort(-sizes, kind="stable")[:200].tolist():
        text = plain(texts[i], 12)
        letters = min(max(longest, len(text)), 12)
        size = min(16.0, 1.6 * float(radius[i]) * points / max(0.62 * letters, 1.25))
        if size >= 4:
            labels.write([complex(centre[i])], text, size=size, color=text_on(fill[i]))
