"""A coding tree from root to leaves, with the entropy contribution of every node."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.colours import GREY, INK, PALETTE
from sepool.viz.drawing import heading, ignore_missing_glyphs, new_figure, node_names, single_line

MAX_NAMED = 80  # leaves
MAX_CLUSTER_NAMES = 24  # below trees of more leaves
MAX_BRANCHES = 400  # a level; larger levels are drawn as wedges
# From grey to dark blue, in order of lightness.
COLORMAP = LinearSegmentedColormap.from_list("bits", ["#b9c4cf", "#5b9bd0", "#0b4a8f", "#061a3a"])

Array = NDArray[np.float64]


@ignore_missing_glyphs()
def plot_dendrogram(tree: CodingTree, *, title: str | None = None) -> Figure:
    """Draw a coding tree with the entropy contributions of its nodes.

    Colour and width of a branch show the bits of its lower end. The strip below shows the bits of
    the leaves, the bars at the right the bits of every level. In a tree of many leaves a wedge
    stands for the subtree below a cluster, and clusters have the names of their nodes of the
    largest degree.

    Args:
        tree: a coding tree.
        title: a line above the picture; sizes and entropy by default.

    Returns:
        A ``matplotlib.figure.Figure``.

    Example:
        >>> tree = CodingTree.from_levels([(0, 1), (2, 3)], [0, 0, 1, 1])
        >>> len(plot_dendrogram(tree).axes)  # branches, leaves, levels, colour bar
        4
    """
    n = tree.num_nodes
    width = float(np.clip(4 + 0.14 * n, 8, 13))
    figure = new_figure(width, 2.6 + 0.8 * min(tree.height, 6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(5, 1))
    branches, leaves, levels, scale = (figure.add_subplot(grid[i]) for i in (0, 2, 1, 3))
    order = np.lexsort([tree.labels(level) for level in range(tree.height)])
    bits = _draw_branches(branches, tree, np.argsort(order).astype(float))
    _draw_leaves(leaves, tree, order)
    _draw_levels(levels, tree)
    bar = figure.colorbar(bits, cax=scale, orientation="horizontal")
    bar.outline.set_visible(False)
    scale.set_box_aspect(0.1)
    scale.tick_params(labelsize=6.5, colors=INK, length=2)
    scale.set_title("bits per branch", size=7, color=INK, pad=3)
    scale.locator_params(nbins=3)
    branches.set_title(heading(tree, title), color=INK, size=11)
    return figure


def _draw_branches(axes: Axes, tree: CodingTree, x: Array) -> ScalarMappable:
    """Draw elbows from children to parents, and wedges below the finest level of few nodes."""
    left, right = x - 0.4, x + 0.4
    lowest = next((i for i in range(tree.height + 1) if tree.num_clusters(i) <= MAX_BRANCHES), 0)
    max_bits = max((tree.contributions(i).max() for i in range(lowest, tree.height)), default=0)
    scale = ScalarMappable(Normalize(0, max_bits or 1), COLORMAP)
    for level in range(tree.height):
        parent = tree.assignment(level + 1)
        count = tree.num_clusters(level + 1)
        above_left, above_right = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(above_left, parent, left)
        np.maximum.at(above_right, parent, right)
        above = np.bincount(parent, x) / np.bincount(parent)
        if level >= lowest:
            bits = tree.contributions(level)
            low, high = np.full(len(x), float(level)), np.full(len(x), level + 1.0)
            elbows = np.stack(
                [np.stack([x, x, above[parent]], 1), np.stack([low, high, high], 1)], 2
            )
            darker = np.argsort(bits, kind="stable")
            widths = np.clip(120 / max(len(x), 1), 0.4, 1.2) * (1 + 2.2 * bits / (max_bits or 1))
            lines = LineCollection(
                list(elbows[darker]),
                colors=scale.to_rgba(bits[darker]),
                linewidths=widths[darker],
                capstyle="round",
                joinstyle="round",
            )
            axes.add_collection(lines)
        elif level + 1 == lowest:
            apex = np.stack([above, np.full(count, float(lowest))], 1)
            base = [np.stack([end, np.zeros(count)], 1) for end in (above_right, above_left)]
            wedges = np.stack([apex, *base], 1)
            axes.add_collection(PolyCollection(list(wedges), fc="#c9d3de", ec="none"))
        x, left, right = above, above_left, above_right
    axes.plot(x, [tree.height], "o", color=INK, ms=4)
    if lowest:
        note = f"wedge: subtree below a cluster of level {lowest}"
        axes.text(0.005, 0.02, note, transform=axes.transAxes, size=7, color=INK)
    _leaf_axis(axes, tree)
    _level_axis(axes, tree)
    axes.set_yticks(range(0, tree.height + 1, -(-tree.height // 10)))
    axes.set_ylabel("level", color=INK, size=9)
    return scale


def _leaf_axis(axes: Axes, tree: CodingTree) -> None:
    n = tree.num_nodes
    axes.set_xlim(-0.5 - 0.01 * n, n - 0.5 + 0.01 * n)
    axes.set_xticks([])
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.spines[:].set_visible(False)


def _level_axis(axes: Axes, tree: CodingTree) -> None:
    axes.set_ylim(-0.06 * tree.height, tree.height * 1.06)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def _draw_leaves(axes: Axes, tree: CodingTree, order: NDArray[np.intp]) -> None:
    """Draw the bits of the leaves as bars, for many leaves as an outline."""
    n = tree.num_nodes
    bits = tree.contributions(0)[order]
    if n <= MAX_BRANCHES:
        axes.bar(np.arange(n), bits, width=0.8, color=PALETTE[0])
    else:
        axes.stairs(bits, np.arange(n + 1) - 0.5, fill=True, color=PALETTE[0], lw=0)
    _leaf_axis(axes, tree)
    axes.set_ylim(bits.max(initial=0) * 1.05 or 1, 0)
    axes.set_ylabel("bits\nper leaf", color=INK, size=8)
    axes.locator_params(axis="y", nbins=3)
    axes.tick_params(axis="y", labelsize=7)
    if n > MAX_NAMED:
        axes.set_xlabel(f"{n:,} nodes, in the order of the tree", color=INK, size=8)
        _name_clusters(axes, tree, order)
        return
    names = node_names(tree)
    short = [single_line(names[i], 14) for i in order]
    rotation = 90 if max(map(len, short)) > 2 else 0
    axes.set_xticks(range(n), short, rotation=rotation, size=7 if n <= 50 else 5.5)


def _name_clusters(axes: Axes, tree: CodingTree, order: NDArray[np.intp]) -> None:
    """Write the first names of clusters below them, on the finest level of few clusters."""
    levels = [i for i in range(1, tree.height) if 1 < tree.num_clusters(i) <= MAX_CLUSTER_NAMES]
    if not levels:
        return
    labels = tree.labels(levels[0])
    middle = np.bincount(labels[order], np.arange(tree.num_nodes)) / np.bincount(labels)
    names = [single_line(name, 14) for name in tree.cluster_names(levels[0], count=1)]
    rotation = 90 if max(map(len, names)) > 4 else 0
    axes.set_xticks(middle, names, rotation=rotation, size=7)
    axes.set_xlabel(f"{axes.get_xlabel()}; names: clusters of level {levels[0]}", color=INK, size=8)


def _draw_levels(axes: Axes, tree: CodingTree) -> None:
    """Draw the bits of every level as bars next to its branches."""
    bits = np.array([tree.contributions(level).sum() for level in range(tree.height)])
    bars = axes.barh(np.arange(tree.height) + 0.5, bits, height=0.5, color=PALETTE[0])
    axes.bar_label(bars, fmt="%.3g", padding=3, size=8, color=INK)
    _level_axis(axes, tree)
    axes.set_xticks([])
    axes.set_xlim(0, (float(bits.max(initial=0)) or 1.0) * 1.5)
    axes.axvline(0, color=GREY, lw=0.8)
    axes.set_title("bits per level", size=9, color=INK)
