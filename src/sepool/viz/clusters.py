"""A graph with the clusters of all levels around its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.graph.graph import as_graph
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
from sepool.viz.places import Layout, layout

NAMED = 80  # graphs of more nodes have their clusters labelled instead
MOST_LABELS = 24
SIDE, WIDER, TITLE = 9.0, 12.0, 0.5  # inches; wider are pictures with names beside their nodes
INSIDE, BESIDE = 0.85, 0.6  # radii of nodes, of what the layout leaves for them
SIZES = (10.0, 9.0, 8.0, 7.0, 6.0)  # of names beside nodes: the first at which all have room
ROUNDS, GAP = 6, 0.12  # attempts a size; between a node and its name


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
    names = _names(tree)
    inside = _size_inside(names, box)
    beside = bool(names) and not inside
    figure, axes = _room(box, WIDER if beside else SIDE)
    for above in range(tree.height - 1, 0, -1):
        _draw_clusters(axes, tree, places, above, colours, level)
    draw_links(axes, links[0], places.centre[0])
    own = colours[ancestors(tree, 0, level)]
    width = 2 * (BESIDE if beside else INSIDE) * places.radius[0]
    draw_disks(axes, places.centre[0], width, own, 3, edge=rim(axes, 1.0))
    if beside:
        _name_beside(axes, tree, places, names)
    elif names:
        _name_inside(axes, places, names, inside, own)
    else:
        _label_clusters(axes, tree, places)
    text = summary(tree, graph.num_edges) if title is None else plain(title, 90)
    axes.set_title(text, color=INK, size=14)
    return figure


def _names(tree: CodingTree) -> list[str]:
    """What to call the nodes in the picture; nothing, if there are too many."""
    few = tree.num_nodes <= NAMED
    return [plain(name, 16) for name in node_names(tree)] if few else []


def _size_inside(names: list[str], box: Box) -> float:
    """The size at which all names have room inside their nodes; 0 if it is too small to read."""
    if not names:
        return 0.0
    unit = 72 * SIDE / max(box[2] - box[0], box[3] - box[1])
    # A letter is about 0.62 of its size wide.
    size = min(14.0, 1.5 * unit / max(0.62 * max(map(len, names)), 1.25))
    return size if size >= 5 else 0.0


def _room(box: Box, side: float) -> tuple[Figure, Axes]:
    """A figure as wide or as high as the box asks for."""
    width, height = box[2] - box[0], box[3] - box[1]
    inch = side / max(width, height)
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


def _name_inside(
    axes: Axes, places: Layout, names: list[str], size: float, own: NDArray[np.str_]
) -> None:
    labels = Labels(axes)
    for name, place, fill in zip(names, places.centre[0].tolist(), own, strict=True):
        labels.write([place], name, size=size, color=text_on(fill))


def _name_beside(axes: Axes, tree: CodingTree, places: Layout, names: list[str]) -> None:
    """All names in the largest size at which they have room; else as many as have, and a note."""
    for size in SIZES:
        # Nodes with many edges first; then once more, those first that had no room.
        order = np.argsort(-tree.volumes(0), kind="stable").tolist()
        for _ in range(ROUNDS):
            for text in list(axes.texts):
                text.remove()
            lacking = _try_beside(axes, tree, places, names, size, order)
            if not lacking:
                return
            order = [*lacking, *(i for i in order if i not in lacking)]
    shown = len(names) - len(lacking)
    _note(axes, f"{shown} of {len(names)} names are shown: there is no room for the others")


def _try_beside(
    axes: Axes,
    tree: CodingTree,
    places: Layout,
    names: list[str],
    size: float,
    order: list[int],
) -> list[int]:
    """Writes one name after the other, and returns the nodes that there is no room to name.

    A name touches its node, and no cluster that the node is not in: it would seem to be there.
    """
    labels, lacking = Labels(axes), []
    centre, radius = places.centre[0], BESIDE * places.radius[0]
    labels.keep_clear(centre, radius)
    for i in order:
        half = labels.measure(names[i], size=size) / 2
        spots = _spots(complex(centre[i]), half, float(radius[i]) + GAP)
        if tree.height > 1:
            others = np.arange(tree.num_clusters(1)) != tree.assignment(1)[i]
            disks = places.centre[1][others], places.radius[1][others]
            spots = [spot for spot in spots if not _touches(spot, half, *disks)]
        if not labels.write(spots, names[i], size=size):
            lacking.append(i)
    return lacking


def _spots(place: complex, half: complex, radius: float) -> list[complex]:
    """Middles of a label next to a disk: right, left, below, above, then askew."""
    across, up = radius + half.real, radius + half.imag
    ways = [across + 0j, -across + 0j, -1j * up, 1j * up]
    for x, y in ((across - radius / 4, up / 2), (0.5 * half.real, up), (0.9 * half.real, up)):
        ways += [complex(x, -y), complex(-x, -y), complex(x, y), complex(-x, y)]
    return [place + way for way in ways]


def _touches(
    spot: complex, half: complex, centre: NDArray[np.complex128], radius: NDArray[np.float64]
) -> bool:
    """Whether a label reaches into one of the disks."""
    way = centre - spot
    x = np.maximum(np.abs(way.real) - half.real, 0)
    y = np.maximum(np.abs(way.imag) - half.imag, 0)
    return bool((np.hypot(x, y) < radius).any())


def _label_clusters(axes: Axes, tree: CodingTree, places: Layout) -> None:
    """The sizes of the largest clusters of the finest level that has few."""
    levels = [i for i in range(1, tree.height) if 1 < tree.num_clusters(i) <= NAMED]
    if not levels:
        return
    level = levels[0]
    labels, sizes = Labels(axes), tree.cluster_sizes(level)
    for i in np.argsort(-sizes, kind="stable")[:MOST_LABELS].tolist():
        labels.write([complex(places.centre[level][i])], f"{sizes[i]:,}", size=9, bbox=HALO)
    _note(axes, f"numbers: nodes in the largest clusters of level {level}")


def _note(axes: Axes, text: str) -> None:
    axes.text(0.01, 0.005, text, size=9, color=GREY, transform=axes.transAxes)
