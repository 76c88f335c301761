"""A graph with the clusters of all levels around its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.graph import as_graph
from sepool.tree import CodingTree
from sepool.viz.coarse import Links, links_of, node_names
from sepool.viz.colours import GREY, INK, ancestors, cluster_colours, colour_level, text_on
from sepool.viz.figures import (
    HALO,
    Box,
    Labels,
    box_around,
    clear_axes,
    new_figure,
    plain,
    points_a_unit,
    quiet_fonts,
)
from sepool.viz.layout import Layout, layout

NAMED = 80  # graphs of more nodes have their clusters labelled instead
MOST_LABELS = 24
SIDE, TITLE = 9.0, 0.45  # inches


@quiet_fonts()
def plot_clusters(
    tree: CodingTree, graph: Any, *, level: int | None = None, title: str | None = None
) -> Figure:
    """Draws a graph, every cluster of every level a disk in the disk of its parent.

    Args:
        tree: a coding tree of the graph.
        graph: anything `sepool.as_graph` takes.
        level: the level whose clusters give the colours; the coarsest by default.
        title: a line above the picture; what the tree is like, by default.

    Returns:
        A ``matplotlib.figure.Figure``; `sepool.viz.save_figure` writes it.

    Example:
        >>> import sepool
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> figure = plot_clusters(sepool.coding_tree(bridge), bridge)
        >>> figure.axes[0].get_title()
        '6 nodes, 7 edges, 2 clusters: 1.6995 bits'
    """
    graph = as_graph(graph)
    links = links_of(tree, graph)
    level = colour_level(tree, level)
    colours = cluster_colours(tree, links, level)
    places = layout(tree, graph)
    top = max(tree.height - 1, 0)
    box = box_around(places.centre[top], places.radius[top])
    figure, axes = _room(box)
    for above in range(tree.height - 1, 0, -1):
        _draw_clusters(axes, tree, places, above, colours, level)
    draw_links(axes, links[0], places.centre[0])
    own = colours[ancestors(tree, 0, level)]
    draw_disks(axes, places.centre[0], 1.7 * places.radius[0], own, 3, edge=rim(axes, 1.0))
    _label(axes, tree, places, own)
    axes.set_title(summary(tree, graph.num_edges) if title is None else plain(title, 90), color=INK)
    return figure


def _room(box: Box) -> tuple[Figure, Axes]:
    """A figure as wide or as high as the box asks for."""
    width, height = box[2] - box[0], box[3] - box[1]
    inch = SIDE / max(width, height)
    figure = new_figure(max(width * inch, 5), height * inch + TITLE)
    share = TITLE / figure.get_figheight()
    axes = figure.add_axes((0, 0, 1, 1 - share))
    clear_axes(axes, box)
    return figure, axes


def summary(tree: CodingTree, edges: int | None = None) -> str:
    """One line on a tree."""
    parts = [_count(tree.num_nodes, "node")] + ([] if edges is None else [_count(edges, "edge")])
    if tree.height > 1:
        counts = [f"{tree.num_clusters(level):,}" for level in range(1, tree.height)]
        counts = [", ".join(counts[:-1])] * (len(counts) > 1) + counts[-1:]
        parts.append(f"{' and '.join(counts)} cluster{'s' * (counts != ['1'])}")
    return f"{', '.join(parts)}: {tree.entropy:.4f} bits"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def draw_links(axes: Axes, links: Links, centre: NDArray[np.complex128]) -> None:
    """Lines that fade as they get many; the heavier, the wider."""
    if not len(links.w):
        return
    ends = np.stack([centre[links.u], centre[links.v]], axis=1)
    order = np.argsort(links.w, kind="stable")
    share = np.sqrt(links.w / links.w.max())[order]
    alpha = float(np.clip(6 / np.sqrt(len(order)), 0.08, 0.6))
    thick = float(np.clip(50 / np.sqrt(len(order)), 0.35, 2.6))
    lines = LineCollection(
        list(np.stack([ends.real, ends.imag], axis=2)[order]),
        linewidths=thick * (0.3 + 0.7 * share),
        colors=GREY if len(order) < 400 else INK,
        alpha=alpha * (0.25 + 0.75 * share),
        zorder=2,
    )
    axes.add_collection(lines, autolim=False)


def rim(axes: Axes, radius: float) -> str | None:
    """A white line around marks, unless they are so small that it would hide them."""
    return "white" if radius * points_a_unit(axes) > 3 else None


def _draw_clusters(
    axes: Axes, tree: CodingTree, places: Layout, above: int, colours: NDArray[np.str_], level: int
) -> None:
    """The clusters of one level; those coarser than the colours are grey."""
    several = np.bincount(tree.assignment(above)) > 1
    if above > level:
        fill = np.full(int(several.sum()), "#9aa1ab")
    else:
        fill = colours[ancestors(tree, above, level)][several]
    centre, width = places.centre[above][several], 2 * places.radius[above][several]
    draw_disks(axes, centre, width, fill, 1 - above / 100, alpha=0.13)
    draw_disks(axes, centre, width, np.full(len(fill), "none"), 1 - above / 100, edge=fill)


def draw_disks(
    axes: Axes,
    centre: NDArray[np.complex128],
    width: NDArray[np.float64],
    fill: NDArray[np.str_],
    order: float,
    edge: Any = None,
    alpha: float | None = None,
) -> None:
    disks = EllipseCollection(
        width,
        width,
        np.zeros(len(width)),
        units="xy",
        offsets=np.column_stack([centre.real, centre.imag]),
        offset_transform=axes.transData,
        facecolors=list(fill),
        edgecolors="none" if edge is None else edge,
        linewidths=0.0 if edge is None else 0.6,
        alpha=alpha,
        zorder=order,
    )
    axes.add_collection(disks, autolim=False)


def _label(axes: Axes, tree: CodingTree, places: Layout, own: NDArray[np.str_]) -> None:
    if tree.num_nodes <= NAMED:
        _label_nodes(axes, tree, places, own)
    elif several := [i for i in range(1, tree.height) if 1 < tree.num_clusters(i) <= NAMED]:
        _label_clusters(axes, tree, places, several[0])


def _label_nodes(axes: Axes, tree: CodingTree, places: Layout, own: NDArray[np.str_]) -> None:
    """Short names go inside the marks, longer ones beside them where there is room."""
    labels, unit = Labels(axes), points_a_unit(axes)
    names = [plain(name, 16) for name in node_names(tree)]
    # A letter is about 0.62 of its size wide.
    inside = min(9.0, 1.5 * unit / (0.62 * max(map(len, names))))
    if inside >= 5:
        for name, place, fill in zip(names, places.centre[0].tolist(), own, strict=True):
            labels.write([place], name, size=inside, color=text_on(fill))
        return
    labels.keep_clear(places.centre[0], 0.7 * places.radius[0])
    size = float(np.clip(0.9 * unit, 4, 7))
    for i in np.argsort(-tree.volumes(0), kind="stable").tolist():
        below, beside = 0.8 + 0.6 * size / unit, 1 + 0.3 * size * len(names[i]) / unit
        ways = (-1j * below, 1j * below, beside, -beside, beside - 1j * below, beside + 1j * below)
        labels.write([complex(places.centre[0][i]) + way for way in ways], names[i], size=size)


def _label_clusters(axes: Axes, tree: CodingTree, places: Layout, level: int) -> None:
    """The sizes of the largest clusters of a level."""
    labels, sizes = Labels(axes), tree.cluster_sizes(level)
    for i in np.argsort(-sizes, kind="stable")[:MOST_LABELS].tolist():
        labels.write([complex(places.centre[level][i])], f"{sizes[i]:,}", size=7, bbox=HALO)
    note = f"numbers: nodes in the largest clusters of level {level}"
    axes.text(0.01, 0.005, note, size=7, color=INK, transform=axes.transAxes)
