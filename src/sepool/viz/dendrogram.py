"""A coding tree from root to leaves, and where its entropy comes from."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.clusters import summary
from sepool.viz.coarse import node_names
from sepool.viz.colours import GREY, INK, PALETTE
from sepool.viz.figures import new_figure, plain, quiet_fonts

NAMED = 80  # more leaves than these have no names
BRANCHES = 400  # levels of more nodes are drawn as wedges
# From grey to dark blue: lightness alone tells the order.
BITS = LinearSegmentedColormap.from_list("bits", ["#b9c4cf", "#5b9bd0", "#0b4a8f", "#061a3a"])

Array = NDArray[np.float64]


@quiet_fonts()
def plot_dendrogram(tree: CodingTree, *, title: str | None = None) -> Figure:
    """Draws a coding tree with what its nodes add to the entropy.

    A branch is the darker and the thicker the more bits its lower end adds; the strip below the
    leaves shows theirs, the bars at the right what every level adds up to. In a tree of many
    leaves a wedge stands for the subtree below a cluster.

    Args:
        tree: a coding tree.
        title: a line above the picture; what the tree is like, by default.

    Returns:
        A ``matplotlib.figure.Figure``.

    Example:
        >>> tree = CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1])
        >>> len(plot_dendrogram(tree).axes)  # the tree, the leaves' strip, the levels, the scale
        4
    """
    n = tree.num_nodes
    named = n <= NAMED
    figure = new_figure(float(np.clip(4 + 0.14 * n, 8, 13)), 2.6 + 0.8 * min(tree.height, 6))
    space = 0.2 if named and max(map(len, node_names(tree))) > 4 else 0.09 if named else 0.06
    grid = figure.add_gridspec(
        2,
        2,
        width_ratios=(5, 1),
        height_ratios=(5, 1),
        left=0.75 / figure.get_figwidth(),
        right=0.97,
        top=0.9,
        bottom=space + 0.1,
        wspace=0.06,
        hspace=0.05,
    )
    trunk, strip = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    bars = figure.add_subplot(grid[0, 1])
    order = np.lexsort([tree.labels(level) for level in range(tree.height)])
    scale = _draw_branches(trunk, tree, np.argsort(order).astype(float))
    _draw_strip(strip, tree, order, named)
    _draw_levels(bars, tree)
    _draw_scale(figure, scale, space + 0.115)
    trunk.set_title(summary(tree) if title is None else plain(title, 90), color=INK, size=11)
    return figure


def _draw_scale(figure: Figure, scale: ScalarMappable, height: float) -> None:
    axes = figure.add_axes((0.83, height, 0.12, 0.025))
    bar = figure.colorbar(scale, cax=axes, orientation="horizontal")
    bar.outline.set_visible(False)
    axes.tick_params(labelsize=6.5, colors=INK, length=2)
    axes.set_title("bits a branch", size=7, color=INK, pad=3)
    axes.locator_params(nbins=3)


def _draw_branches(axes: Axes, tree: CodingTree, x: Array) -> ScalarMappable:
    """Elbows from children to parents; below the finest level that has room, wedges."""
    left, right = x - 0.4, x + 0.4
    lowest = next((i for i in range(tree.height + 1) if tree.num_clusters(i) <= BRANCHES), 0)
    most = max((tree.contributions(i).max() for i in range(lowest, tree.height)), default=0)
    scale = ScalarMappable(Normalize(0, most or 1), BITS)
    for level in range(tree.height):
        parent = tree.assignment(level + 1)
        count = tree.num_clusters(level + 1)
        above_left, above_right = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(above_left, parent, left)
        np.maximum.at(above_right, parent, right)
        above = np.bincount(parent, x) / np.bincount(parent)
        if level >= lowest:
            bits = tree.contributions(level)
            up = above[parent]
            low, high = np.full(len(x), float(level)), np.full(len(x), level + 1.0)
            elbow = np.stack([np.stack([x, x, up], 1), np.stack([low, high, high], 1)], 2)
            darker = np.argsort(bits, kind="stable")
            widths = np.clip(120 / max(len(x), 1), 0.4, 1.2) * (1 + 2.2 * bits / (most or 1))
            lines = LineCollection(
                list(elbow[darker]),
                colors=scale.to_rgba(bits[darker]),
                linewidths=widths[darker],
                capstyle="round",
                joinstyle="round",
            )
            axes.add_collection(lines)
        elif level + 1 == lowest:
            tops, floor = np.full(count, float(lowest)), np.zeros(count)
            corners = [np.stack([above, tops], 1), np.stack([above_right, floor], 1)]
            corners.append(np.stack([above_left, floor], 1))
            axes.add_collection(PolyCollection(list(np.stack(corners, 1)), fc="#c9d3de", ec="none"))
        x, left, right = above, above_left, above_right
    axes.plot(x, [tree.height], "o", color=INK, ms=4)
    if lowest:
        note = f"a wedge: the subtree below a cluster of level {lowest}"
        axes.text(0.005, 0.02, note, transform=axes.transAxes, size=7, color=INK)
    axes.set_xlim(-0.5 - 0.01 * tree.num_nodes, tree.num_nodes - 0.5 + 0.01 * tree.num_nodes)
    _level_axis(axes, tree)
    axes.set_ylabel("level", color=INK, size=9)
    return scale


def _level_axis(axes: Axes, tree: CodingTree) -> None:
    axes.set_ylim(-0.06 * tree.height, tree.height * 1.06)
    step = -(-tree.height // 10)
    axes.set_yticks(range(0, tree.height + 1, step))
    axes.set_xticks([])
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.spines[:].set_visible(False)


def _draw_strip(axes: Axes, tree: CodingTree, order: NDArray[np.intp], named: bool) -> None:
    """What the leaves add, as bars; the bars of many leaves are an outline."""
    n = tree.num_nodes
    bits = tree.contributions(0)[order]
    if n <= BRANCHES:
        axes.bar(np.arange(n), bits, width=0.8, color=PALETTE[0])
    else:
        axes.stairs(bits, np.arange(n + 1) - 0.5, fill=True, color=PALETTE[0], lw=0)
    axes.set_xlim(-0.5 - 0.01 * n, n - 0.5 + 0.01 * n)
    axes.set_ylim(bits.max(initial=0) * 1.05 or 1, 0)
    axes.set_ylabel("bits\na leaf", color=INK, size=8)
    axes.locator_params(axis="y", nbins=3)
    axes.tick_params(colors=INK, labelsize=7, length=2)
    axes.spines[:].set_visible(False)
    if named:
        names = node_names(tree)
        short = [plain(names[i], 14) for i in order]
        upright = max(map(len, short)) > 2
        axes.set_xticks(range(n), short, rotation=90 if upright else 0, size=7 if n <= 50 else 5.5)
        axes.tick_params(axis="x", length=0)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{n:,} nodes, in the order of the tree", color=INK, size=8)


def _draw_levels(axes: Axes, tree: CodingTree) -> None:
    """What every level adds up to, beside the branches that carry it."""
    bits = np.array([tree.contributions(level).sum() for level in range(tree.height)])
    axes.barh(np.arange(tree.height) + 0.5, bits, height=0.5, color=PALETTE[0])
    _level_axis(axes, tree)
    axes.set_yticks([])
    most = float(bits.max(initial=0)) or 1.0
    axes.set_xlim(0, most * 1.5)
    for level, value in enumerate(bits.tolist()):
        text = f"{value:.3g}"
        axes.text(value + 0.04 * most, level + 0.5, text, size=8, color=INK, va="center")
    axes.axvline(0, color=GREY, lw=0.8)
    axes.set_title("bits a level", size=9, color=INK)
