"""Colours that tell clusters apart, also for people who see few colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.coarse import Links

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


def colour_numbers(sizes: NDArray[np.int64], links: Links) -> NDArray[np.int64]:
    """A number in the palette for every cluster; clusters that share much weight differ.

    Example:
        >>> links = Links(np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> colour_numbers(np.array([5, 4, 3]), links)
        array([0, 1, 2])
    """
    count, kinds = len(sizes), len(PALETTE)
    ends = np.concatenate([links.u, links.v])
    order = np.argsort(ends, kind="stable")
    others = np.concatenate([links.v, links.u])[order]
    weights = np.concatenate([links.w, links.w])[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=count))])
    colour = np.full(count, kinds, np.int64)  # one past the palette: none yet
    used = np.zeros(kinds)
    for cluster in np.argsort(-sizes, kind="stable").tolist():
        near = slice(start[cluster], start[cluster + 1])
        shared = np.bincount(colour[others[near]], weights[near], kinds + 1)[:kinds]
        choice = int(np.lexsort((np.arange(kinds), used, shared))[0])
        colour[cluster] = choice
        used[choice] += 1
    return colour


def text_on(fill: str) -> str:
    """Black or white, whichever has more contrast with a colour.

    The contrast is that of WCAG 2, a ratio of relative luminances.

    Example:
        >>> text_on("#0072b2"), text_on("#e69f00")
        ('white', 'black')
    """
    parts = (int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    light = sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "white" if (light + 0.05) ** 2 < 1.05 * 0.05 else "black"


def level_colours(tree: CodingTree, links: list[Links]) -> list[NDArray[np.int64]]:
    """The colour numbers of the clusters of every level from 1 to the one below the root."""
    return [
        colour_numbers(tree.cluster_sizes(level), links[level]) for level in range(1, tree.height)
    ]


def colour_level(tree: CodingTree, level: int | None) -> int:
    """The level whose clusters give the colours: the coarsest that tells anything, by default."""
    if level is None:
        several = [i for i in range(1, tree.height) if tree.num_clusters(i) > 1]
        return several[-1] if several else tree.height
    if not 1 <= level <= tree.height:
        raise ValueError(f"level must be 1 to {tree.height}, got {level!r}")
    return level


def cluster_colours(tree: CodingTree, links: list[Links], level: int) -> NDArray[np.str_]:
    """The colour of every cluster of one level."""
    if level == tree.height:
        return np.array([PALETTE[0]])
    return np.array(PALETTE)[colour_numbers(tree.cluster_sizes(level), links[level])]


def ancestors(tree: CodingTree, low: int, high: int) -> NDArray[np.int64]:
    """The cluster on a high level of every node of a low one."""
    above = np.arange(tree.num_clusters(low))
    for level in range(low + 1, high + 1):
        above = tree.assignment(level)[above].astype(np.int64)
    return above
