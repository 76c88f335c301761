"""The coarse graphs of all levels, a panel each."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sepool.tree import CodingTree
from sepool.viz.colours import INK, text_on
from sepool.viz.drawing import (
    draw_disks,
    draw_edges,
    frame_axes,
    ignore_missing_glyphs,
    new_figure,
    node_names,
    points_per_unit,
    single_line,
)
from sepool.viz.labels import LabelPlacer, fitting_size
from sepool.viz.scene import Scene

MAX_COLUMNS = 4
MAX_LABELS = 200
SIDE, HEAD, TITLE_HEIGHT = 3.3, 0.62, 0.45  # inches: a panel, the lines above it, the title


@ignore_missing_glyphs()
def plot_levels(
    tree: CodingTree, graph: Any, *, level: int | None = None, title: str | None = None
) -> Figure:
    r"""Draw the coarse graph of every level, clusters and edges scaled by size and weight.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        level: level of the clusters that set the colours; the coarsest by default.
        title: a line above the picture; sizes and entropy by default.

    Returns:
        A ``matplotlib.figure.Figure``.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> tree = CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])
        >>> [axes.get_title() for axes in plot_levels(tree, bridge).axes]
        ['level 0: 6 nodes\n1.56 bits', 'level 1: 2 clusters\n0.143 bits']
    """
    scene = Scene.of(tree, graph, level, title)
    left, bottom, right, top = scene.box
    panel = SIDE * min(1.2, (top - bottom) / (right - left))
    columns = min(tree.height, MAX_COLUMNS)
    rows = ceil(tree.height / columns)
    height = rows * (panel + HEAD) + TITLE_HEIGHT
    figure = new_figure(max(SIDE * columns, 5), height)
    grid = figure.add_gridspec(
        rows,
        columns,
        left=0.01,
        right=0.99,
        bottom=0.01,
        top=1 - (HEAD + TITLE_HEIGHT) / height,
        wspace=0.03,
        hspace=HEAD / panel,
    )
    for i in range(tree.height):
        axes = figure.add_subplot(grid[i // columns, i % columns])
        frame_axes(axes, scene.box)
        draw_edges(axes, scene.edges[i], scene.disks.centre[i])
        _draw_nodes(axes, tree, scene, i)
        noun = ("node" if i == 0 else "cluster") + "s" * (tree.counts[i] > 1)
        note = f"level {i}: {tree.counts[i]:,} {noun}\n{tree.contributions(i).sum():.3g} bits"
        axes.set_title(note, size=13, color=INK, linespacing=1.3)
    figure.suptitle(scene.heading, y=1 - 0.12 / height, va="top", size=14, color=INK)
    return figure


def _draw_nodes(axes: Axes, tree: CodingTree, scene: Scene, level: int) -> None:
    """Draw the nodes of a level with areas by size, the largest with labels inside."""
    sizes, centre, fill = tree.cluster_sizes(level), scene.disks.centre[level], scene.fills[level]
    # The largest common scale at which no node exceeds its disk of the layout.
    radius = float((scene.disks.radius[level] / np.sqrt(sizes)).min()) * np.sqrt(sizes)
    points = points_per_unit(axes)
    rim = "white" if radius.min() * points > 3 else None  # would hide smaller nodes
    draw_disks(axes, centre, radius, fill, 3, edge=rim)
    texts = node_names(tree) if level == 0 else [f"{size:,}" for size in sizes.tolist()]
    longest = max(map(len, texts)) if level == 0 else 0  # names have one font size
    placer = LabelPlacer(axes)
    for i in np.argsort(-sizes, kind="stable")[:MAX_LABELS].tolist():
        text = single_line(texts[i], 12)
        length = min(max(longest, len(text)), 12)
        size = fitting_size(1.6 * float(radius[i]) * points, length, 16.0)
        if size >= 4:
            placer.place([complex(centre[i])], text, size=size, color=text_on(fill[i]))
