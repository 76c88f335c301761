"""Cluster colours: hues that differ between neighbours, shades of them for the clusters inside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sepool.tree import CodingTree
from sepool.viz.coarse_graph import EdgeList, ancestors

# Okabe and Ito (2008) without black and yellow, two of Tol's, and eight more as far from these and
# from one another as they can be, for the colour-blind too.
PALETTE = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#882255", "#999933"),
    *("#66e36e", "#0c680d", "#efb0b7", "#8464e2", "#846535", "#534e82", "#cdaefe", "#fe6e6a"),
)
INK, PALE, GREY = "#2f3640", "#d9dde3", "#8a9099"
COARSER = "#5c6673"  # clusters of which a level has no other
# Lightness and hue (radians) of the shades of a colour; deeper levels differ less.
SHADES = np.array([(0, 0), (-0.11, 0.1), (0.1, -0.1), (-0.06, -0.22), (0.06, 0.22), (-0.17, 0)])
FADING = 0.6  # of the differences, a level
_TO_LMS = np.array(
    [
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    ]
)
_TO_LAB = np.array(
    [
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    ]
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def rgb(colours: NDArray[np.str_]) -> NDArray[np.uint8]:
    """Return the channels of colours ``#rrggbb``, a row each.

    Example:
        >>> rgb(np.array(["#0072b2"])).tolist()
        [[0, 114, 178]]
    """
    if not len(colours):
        return np.empty((0, 3), np.uint8)
    digits = "".join(colour[1:] for colour in colours.tolist())
    return np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(-1, 3)


def oklab(colours: NDArray[np.str_]) -> Floats:
    """Return colours in Oklab (Ottosson 2020), where distances are those that people see."""
    part = rgb(colours) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T, np.float64)


def shades_of(colours: NDArray[np.str_], shade: Indices, strength: float) -> NDArray[np.str_]:
    """Return a shade of every colour; shade 0 is the colour itself.

    Example:
        >>> shades_of(np.array(["#0072b2", "#0072b2"]), np.array([0, 1]), 1.0).tolist()
        ['#0072b2', '#004f91']
    """
    lab = oklab(colours)
    light, turn = strength * SHADES[shade].T
    colour = (lab[:, 1] + 1j * lab[:, 2]) * np.exp(1j * turn)
    lightness = np.clip(lab[:, 0] + light, 0.32, 0.88)
    moved = np.column_stack([lightness, colour.real, colour.imag])
    linear = np.clip((moved @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T, 0, 1)
    part = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    rows = np.round(part * 255).astype(int).tolist()
    return np.array([f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rows], "<U7")


def _likeness(lab: Floats) -> Floats:
    """Return how alike colours are, from 0 to 1 for the same."""
    distance = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    return np.asarray(np.exp(-((distance / 0.08) ** 2)), np.float64)


def palette_indices(
    sizes: Indices, edges: EdgeList, likeness: Floats | None = None
) -> NDArray[np.int64]:
    """Colour clusters greedily, largest first: the least weight to clusters of similar colour.

    Args:
        sizes: of the clusters.
        edges: between them.
        likeness: of every pair of colours; those of the palette by default.
    """
    likeness = _likeness(oklab(np.array(PALETTE))) if likeness is None else likeness
    count, num_colours = len(sizes), len(likeness)
    ends = np.concatenate([edges.u, edges.v])
    order = np.argsort(ends, kind="stable")
    neighbours = np.concatenate([edges.v, edges.u])[order]
    weight = np.concatenate([edges.weight, edges.weight])[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=count))]).tolist()
    colour = np.full(count, num_colours, np.int64)  # one past the palette: none yet
    usage, first = np.zeros(num_colours), np.arange(num_colours)
    for cluster in np.argsort(-sizes, kind="stable").tolist():
        near = slice(start[cluster], start[cluster + 1])
        shared = np.bincount(colour[neighbours[near]], weight[near], num_colours + 1)[:num_colours]
        cost = np.round(shared @ likeness * 50 / max(float(weight[near].sum()), 1e-300))
        choice = int(np.lexsort((first, usage, shared, cost))[0])
        colour[cluster] = choice
        usage[choice] += 1
    return colour


def text_on(fill: str) -> str:
    """Return black or white: the text colour of higher contrast by WCAG 2."""
    channels = (int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in channels)
    luminance = sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "white" if (luminance + 0.05) ** 2 < 1.05 * 0.05 else "black"


def checked_level(tree: CodingTree, level: int | None) -> int:
    """Return the finest level with colours of its own, by default that of the finest clusters."""
    if level is None:
        return 1
    if not 1 <= level <= tree.height:
        raise ValueError(f"level must be 1 to {tree.height}, got {level!r}")
    return level


def cluster_fills(tree: CodingTree, edges: list[EdgeList]) -> list[NDArray[np.str_]]:
    """Return the colours of the clusters of every level but the nodes' and the root's.

    The coarsest level of several clusters has hues, the levels below it shades of them; siblings
    that share edges differ.
    """
    several = [i for i in range(1, tree.height) if tree.num_clusters(i) > 1]
    if not several:
        return [np.full(1, PALETTE[0]) for _ in range(1, tree.height)]
    top = several[-1]
    fills = [np.full(1, COARSER) for _ in range(top + 1, tree.height)]
    fills.insert(0, np.array(PALETTE)[palette_indices(tree.cluster_sizes(top), edges[top])])
    likeness = np.eye(len(SHADES))
    for level in range(top - 1, 0, -1):
        parent = tree.assignment(level + 1)
        u, v, weight = edges[level]
        inside = parent[u] == parent[v]
        siblings = EdgeList(u[inside], v[inside], weight[inside])
        shade = palette_indices(tree.cluster_sizes(level), siblings, likeness)
        shade[np.bincount(parent)[parent] == 1] = 0  # an only child is its parent
        fills.insert(0, shades_of(fills[0][parent], shade, FADING ** (top - 1 - level)))
    return fills


def level_fills(
    tree: CodingTree, edges: list[EdgeList], level: int | None
) -> list[NDArray[np.str_]]:
    """Return the colours of all nodes below the root, with shades down to a level.

    The nodes below the level have the colours of their clusters on it.
    """
    level = checked_level(tree, level)
    fills = cluster_fills(tree, edges)
    if level >= tree.height or not fills:
        return [np.full(tree.num_clusters(i), PALETTE[0]) for i in range(tree.height)]
    fine = [fills[level - 1][ancestors(tree, i, level)] for i in range(level)]
    return [*fine, *fills[level - 1 :]]
