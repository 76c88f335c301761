"""A graph with the nested clusters of all levels around its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.colours import GREY, INK, text_on
from sepool.viz.drawing import (
    HALO,
    Box,
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

MAX_NAMED = 80  # nodes; larger graphs have names of clusters as labels
MAX_CLUSTER_LABELS = 24
SIDE, WIDE_SIDE, TITLE_HEIGHT = 9.0, 12.0, 0.5  # inches; wide with names next to the nodes
RADIUS, SMALL_RADIUS = 0.85, 0.6  # of nodes in their disks of the layout; small next to names
FONT_SIZES = (10.0, 9.0, 8.0, 7.0, 6.0)  # of names next to nodes, tried in this order
ATTEMPTS, GAP = 6, 0.12  # attempts a font size; distance between a node and its name


@ignore_missing_glyphs()
def plot_clusters(
    tree: CodingTree, graph: Any, *, level: int | None = None, title: str | None = None
) -> Figure:
    """Draw a graph, every cluster of every level a disk inside the disk of its parent.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        level: finest level with shades of its own; all levels have them by default.
        title: a line above the picture; sizes and entropy by default.

    Returns:
        A ``matplotlib.figure.Figure``; `sepool.viz.save_figure` writes it.

    Example:
        >>> import sepool
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> figure = plot_clusters(sepool.coding_tree(bridge, height=2), bridge)
        >>> figure.axes[0].get_title()
        '6 nodes, 7 edges, 2 clusters: 1.6995 bits'
    """
    scene = Scene.of(tree, graph, level, title)
    named = node_names(tree) if tree.num_nodes <= MAX_NAMED else []
    names = [single_line(name, 16) for name in named]
    inside = _size_inside(names, scene)
    outside = bool(names) and not inside
    figure, axes = _new_axes(scene.box, WIDE_SIDE if outside else SIDE)
    for above in range(tree.height - 1, 0, -1):
        several = np.bincount(tree.assignment(above)) > 1
        centre, radius = scene.disks.centre[above][several], scene.disks.radius[above][several]
        fill = scene.fills[above][several]
        draw_disks(axes, centre, radius, fill, 1 - above / 100, alpha=0.13)
        draw_disks(axes, centre, radius, "none", 1 - above / 100, edge=fill)
    draw_edges(axes, scene.edges[0], scene.disks.centre[0])
    radius = (SMALL_RADIUS if outside else RADIUS) * scene.disks.radius[0]
    rim = "white" if points_per_unit(axes) > 3 else None  # would hide smaller nodes
    draw_disks(axes, scene.disks.centre[0], radius, scene.fills[0], 3, edge=rim)
    if outside:
        _label_outside(axes, tree, scene, names)
    elif names:
        placer = LabelPlacer(axes)
        for name, centre, fill in zip(names, scene.disks.centre[0], scene.fills[0], strict=True):
            placer.place([complex(centre)], name, size=inside, color=text_on(fill))
    else:
        _label_clusters(axes, tree, scene)
    axes.set_title(scene.heading, color=INK, size=14)
    return figure


def _size_inside(names: list[str], scene: Scene) -> float:
    """Return the font size of names inside their nodes, 0 if it is illegible."""
    if not names:
        return 0.0
    left, bottom, right, top = scene.box
    unit = 72 * SIDE / max(right - left, top - bottom)
    diameter = 1.5 * unit * float(scene.disks.radius[0].min())
    size = fitting_size(diameter, max(map(len, names)), 14.0)
    return size if size >= 5 else 0.0


def _new_axes(box: Box, side: float) -> tuple[Figure, Axes]:
    """Return axes in a new figure with the aspect ratio of the box."""
    width, height = box[2] - box[0], box[3] - box[1]
    scale = side / max(width, height)
    figure = new_figure(max(width * scale, 5), height * scale + TITLE_HEIGHT)
    axes = figure.add_axes((0, 0, 1, 1 - TITLE_HEIGHT / figure.get_figheight()))
    frame_axes(axes, box)
    return figure, axes


def _label_outside(axes: Axes, tree: CodingTree, scene: Scene, names: list[str]) -> None:
    """Write names next to the nodes, in the largest font size that leaves none out."""
    for size in FONT_SIZES:
        order = np.argsort(-tree.volumes(0), kind="stable").tolist()  # large degrees first
        for _ in range(ATTEMPTS):
            for text in list(axes.texts):
                text.remove()
            omitted = _try_outside(axes, tree, scene, names, size, order)
            if not omitted:
                return
            order = [*omitted, *(i for i in order if i not in omitted)]
    shown = len(names) - len(omitted)
    _note(axes, f"{shown} of {len(names)} names shown; no space for the others")


def _try_outside(
    axes: Axes,
    tree: CodingTree,
    scene: Scene,
    names: list[str],
    size: float,
    order: list[int],
) -> list[int]:
    """Write names next to their nodes, return the nodes without free space.

    A name touches no cluster except its node's: it would seem to belong there.
    """
    placer, omitted = LabelPlacer(axes), []
    centre, radius = scene.disks.centre[0], SMALL_RADIUS * scene.disks.radius[0]
    placer.reserve(centre, radius)
    for i in order:
        half = placer.measure(names[i], size=size) / 2
        positions = positions_around(complex(centre[i]), half, float(radius[i]) + GAP)
        if tree.height > 1:
            others = np.arange(tree.num_clusters(1)) != tree.assignment(1)[i]
            disks = scene.disks.centre[1][others], scene.disks.radius[1][others]
            positions = [p for p in positions if not _intersects(p, half, *disks)]
        if not placer.place(positions, names[i], size=size):
            omitted.append(i)
    return omitted


def _intersects(
    position: complex, half: complex, centre: NDArray[np.complex128], radius: NDArray[np.float64]
) -> bool:
    """Return True if a label overlaps one of the disks."""
    offset = centre - position
    x = np.maximum(np.abs(offset.real) - half.real, 0)
    y = np.maximum(np.abs(offset.imag) - half.imag, 0)
    return bool((np.hypot(x, y) < radius).any())


def _label_clusters(axes: Axes, tree: CodingTree, scene: Scene) -> None:
    """Write the names of the largest clusters next to them, on the finest level of few clusters."""
    levels = [i for i in range(1, tree.height) if 1 < tree.num_clusters(i) <= MAX_NAMED]
    if not levels:
        return
    level = levels[0]
    placer, sizes = LabelPlacer(axes), tree.cluster_sizes(level)
    placer.reserve(scene.disks.centre[0], RADIUS * scene.disks.radius[0])
    centre, radius = scene.disks.centre[level], scene.disks.radius[level]
    note = f"names: nodes of the largest degree in the largest clusters of level {level}"
    placer.avoid(_note(axes, note))
    for i in np.argsort(-sizes, kind="stable")[:MAX_CLUSTER_LABELS].tolist():
        for count in (3, 1):
            text = single_line(tree.cluster_names(level, count)[i], 30)
            half = placer.measure(text, size=9) / 2
            positions = positions_around(complex(centre[i]), half, float(radius[i]) + GAP)
            if placer.place(positions[2:4] + positions[:2], text, size=9, bbox=HALO):
                break


def _note(axes: Axes, text: str) -> Text:
    return axes.text(0.01, 0.005, text, size=9, color=GREY, transform=axes.transAxes)
