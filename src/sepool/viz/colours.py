"""Cluster colours that differ between neighbours and suit colour-blind readers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.coarse_graph import EdgeList, ancestors

# Okabe and Ito (2008) without black and yellow, and two of Tol's; neighbours differ in lightness.
PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#882255",
    "#999933",
)
INK, PALE, GREY = "#2f3640", "#d9dde3", "#8a9099"
COARSER = "#5c6673"  # clusters above the level that sets the colours


def palette_indices(sizes: NDArray[np.int64], edges: EdgeList) -> NDArray[np.int64]:
    """Colour clusters greedily, largest first: the least weight to clusters of equal colour."""
    count, num_colours = len(sizes), len(PALETTE)
    ends = np.concatenate([edges.u, edges.v])
    order = np.argsort(ends, kind="stable")
    neighbours = np.concatenate([edges.v, edges.u])[order]
    weight = np.concatenate([edges.weight, edges.weight])[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=count))])
    colour = np.full(count, num_colours, np.int64)  # one past the palette: none yet
    usage = np.zeros(num_colours)
    for cluster in np.argsort(-sizes, kind="stable").tolist():
        near = slice(start[cluster], start[cluster + 1])
        shared = np.bincount(colour[neighbours[near]], weight[near], num_colours + 1)[:num_colours]
        choice = int(np.lexsort((np.arange(num_colours), usage, shared))[0])
        colour[cluster] = choice
        usage[choice] += 1
    return colour


def text_on(fill: str) -> str:
    """Return black or white: the text colour of higher contrast by WCAG 2."""
    channels = (int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in channels)
    luminance = sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "white" if (luminance + 0.05) ** 2 < 1.05 * 0.05 else "black"


def colour_level(tree: CodingTree, level: int | None) -> int:
    """Return the level that sets the colours; by default the coarsest of several clusters."""
    if level is None:
        several = [i for i in range(1, tree.height) if tree.num_clusters(i) > 1]
        return several[-1] if several else tree.height
    if not 1 <= level <= tree.height:
        raise ValueError(f"level must be 1 to {tree.height}, got {level!r}")
    return level


def level_fills(tree: CodingTree, edges: list[EdgeList], level: int) -> list[NDArray[np.str_]]:
    """Return the colours of all nodes below the root: one a cluster of the level, grey above it."""
    indices = np.zeros(1, np.int64)
    if level < tree.height:
        indices = palette_indices(tree.cluster_sizes(level), edges[level])
    colours = np.array(PALETTE)[indices]
    fine = [colours[ancestors(tree, i, level)] for i in range(min(level + 1, tree.height))]
    coarse = range(level + 1, tree.height)
    return [*fine, *(np.full(tree.num_clusters(i), COARSER) for i in coarse)]
