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
from sepool.viz.labels import LabelPlacer, fitting_size, positions_around
from sepool.viz.scene import Scene

MAX_COLUMNS = 4
MAX_LABELS, MAX_OUTSIDE = 200, 30  # of a level: inside nodes, around them
OUTSIDE = 7.0  # font size of names around nodes, the least inside clusters
SIDE, HEAD, TITLE_HEIGHT = 3.3, 0.62, 0.45  # inches: a panel, the lines above it, the title


@ignore_missing_glyphs()
def plot_levels(
    tree: CodingTree, graph: Any, *, level: int | None = None, title: str | None = None
) -> Figure:
    r"""Draw the coarse graph of every level, clusters and edges scaled by size and weight.

    Clusters have the names of their nodes of the largest degree.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        level: finest level with shades of its own; all levels have them by default.
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
    """Draw the nodes of a level, clusters with areas by size, the largest with names."""
    sizes, centre, fill = tree.cluster_sizes(level), scene.disks.centre[level], scene.fills[level]
    radius = scene.disks.radius[level]
    if level > 0:  # the largest common scale at which no cluster exceeds its disk of the layout
        radius = float((radius / np.sqrt(sizes)).min()) * np.sqrt(sizes)
    points = points_per_unit(axes)
    rim = "white" if radius.min() * points > 3 else None  # would hide smaller nodes
    draw_disks(axes, centre, radius, fill, 3, edge=rim)
    placer, order = LabelPlacer(axes), np.argsort(-tree.volumes(level), kind="stable")
    names = node_names(tree) if level == 0 else tree.cluster_names(level)
    diameter = 1.6 * radius * points
    size = fitting_size(float(diameter.min()), max(len(single_line(n, 12)) for n in names), 16.0)
    if level == 0 and size >= 4:  # all nodes in one font size
        for i in order[:MAX_LABELS].tolist():
            text, colour = single_line(names[i], 12), text_on(fill[i])
            placer.place([complex(centre[i])], text, size=size, color=colour)
        return
    placer.reserve(centre, radius)
    inside = LabelPlacer(axes)
    for i in order[:MAX_OUTSIDE].tolist():
        forms = _forms(names[i], float(diameter[i]))
        if forms and level > 0:
            text, size = forms[0]
            inside.place([complex(centre[i])], text, size=size, color=text_on(fill[i]))
            continue
        text = single_line(names[i].split(", ")[0] if level else names[i], 16)
        half = placer.measure(text, size=OUTSIDE) / 2
        around = positions_around(complex(centre[i]), half, float(radius[i]) + 0.5 / points)
        placer.place(around[2:4] + around[:2], text, size=OUTSIDE)


def _forms(name: str, diameter: float) -> list[tuple[str, float]]:
    """Return texts for a disk with their font sizes: the members in lines, the first alone."""
    lines = [single_line(part, 12) for part in name.split(", ")]
    forms = []
    for count in sorted({len(lines), 2, 1}, reverse=True):
        shown = lines[:count]
        length = max(max(map(len, shown)), 2 * len(shown))  # a line is as high as two characters
        forms.append(("\n".join(shown), fitting_size(0.9 * diameter, length, 13.0)))
    return [form for form in forms if form[1] >= OUTSIDE]
