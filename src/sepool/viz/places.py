"""Places for the nodes of a graph along its coding tree: every cluster a disk in its parent's disk.

From the leaves up, the children of every cluster are spread by stress (distances in the picture
follow distances in the graph) and pushed apart until their disks do not overlap. From the root
down, every disk is then turned so that its members face the clusters they have edges to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.tree import CodingTree
from sepool.viz.coarse import Links, links_of
from sepool.viz.split import split_crowds
from sepool.viz.stress import pack

Places = NDArray[np.complex128]
Sizes = NDArray[np.float64]
PAIRS = 400_000  # what a level may compare; crowds beyond it get cells, for the layout alone
CROWD = (64, 256)
RIM = 0.08  # how much wider a cluster is than what it holds


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the nodes of every level are.

    Attributes:
        centre: the places of every level, the graph's nodes first; complex numbers, x + iy.
        radius: the radius of the disk of every node of every level; a leaf has about 1.
    """

    centre: tuple[Places, ...]
    radius: tuple[Sizes, ...]


def layout(tree: CodingTree, graph: Graph) -> Layout:
    """Places all nodes of a tree; the same input gives the same places.

    Example:
        >>> import sepool
        >>> graph = sepool.as_graph([(0, 1), (2, 3)])
        >>> places = layout(sepool.coding_tree(graph), graph)
        >>> [len(centre) for centre in places.centre]
        [4, 2, 1]
    """
    steps = _steps(tree, links_of(tree, graph))
    radius: list[Sizes] = [np.ones(tree.num_nodes)]
    inner: list[Places] = []
    for parent, links, real in steps:
        place, reach = pack(parent, radius[-1], links)
        inner.append(place)
        rim = real & (np.bincount(parent) > 1)  # a disk around a single disk is that disk
        radius.append(np.where(rim, reach * (1 + RIM), reach))
    centre: list[Places] = [np.zeros(1, np.complex128)]
    for (parent, links, _), place in zip(reversed(steps), reversed(inner), strict=True):
        centre.append(centre[-1][parent] + _turned(place, parent, links, centre[-1]))
    levels = [0, *(i for i, (*_, real) in enumerate(steps, 1) if real)]
    places = centre[::-1]
    return Layout(tuple(places[i] for i in levels), tuple(radius[i] for i in levels))


Step = tuple[NDArray[Any], Links, bool]


def _steps(tree: CodingTree, levels: list[Links]) -> list[Step]:
    """The way from leaves to root: parents, edges, and whether the parents are on the tree."""
    steps: list[Step] = []
    for level in range(1, tree.height + 1):
        links, parent = levels[level - 1], tree.assignment(level).astype(np.int64)
        while (cell := split_crowds(parent, links, _crowd(len(parent)))) is not None:
            steps.append((cell, links, False))
            above = np.empty(int(cell.max()) + 1, np.int64)
            above[cell] = parent
            links, parent = links.merged(cell), above
        steps.append((parent, links, True))
    return steps


def _crowd(count: int) -> int:
    """How many children of one parent are too many, on a level of so many nodes."""
    return int(np.clip(PAIRS // count, *CROWD))


def _turned(place: Places, parent: NDArray[Any], links: Links, centre: Places) -> Places:
    """Turns or mirrors what is in every disk so that outside edges get short."""
    count = len(centre)
    straight, mirrored = np.zeros(count, np.complex128), np.zeros(count, np.complex128)
    for a, b in ((links.u, links.v), (links.v, links.u)):
        p, q = parent[a], parent[b]
        apart = p != q
        a, p, q, w = a[apart], p[apart], q[apart], links.w[apart]
        way = centre[q] - centre[p]
        way /= np.maximum(np.abs(way), 1e-12)
        straight += _sums(p, w * place[a].conj() * way, count)
        mirrored += _sums(p, w * place[a] * way, count)
    mirror = np.abs(mirrored) > np.abs(straight) * (1 + 1e-9)
    turn = np.where(mirror, mirrored, straight)
    size = np.abs(turn)
    turn = np.where(size > 1e-9, turn / np.maximum(size, 1e-9), 1)
    faced = np.where(mirror[parent], place.conj(), place)
    return np.asarray(faced * turn[parent], np.complex128)


def _sums(group: NDArray[Any], values: Places, count: int) -> Places:
    real = np.bincount(group, values.real, count)
    return np.asarray(real + 1j * np.bincount(group, values.imag, count), np.complex128)
