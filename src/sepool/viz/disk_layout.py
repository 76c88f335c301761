"""Layout of a graph along its coding tree: every cluster a disk inside the disk of its parent.

From the leaves up, the children of every cluster are spread by stress majorisation (distances in
the picture follow distances in the graph) and pushed apart until their disks are disjoint. From
the root down, every disk is rotated so that its nodes face their neighbours in other disks.
Siblings without neighbours have a disk of their own, apart from the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.tree import CodingTree
from sepool.viz.cells import Index, group_isolates, split_large
from sepool.viz.coarse_graph import EdgeList, coarse_edges
from sepool.viz.stress import Points, Radii, pack

MAX_PAIRS = 400_000  # of siblings, a level; clusters of more children are split into cells
MIN_CHILDREN, MAX_CHILDREN = 64, 256  # bounds of the number of children without cells
MARGIN = 0.08  # of a disk around its children, relative to its radius
MIN_RADIUS, MAX_RADIUS = 0.7, 2.5  # of leaves, whose areas are as their degrees in between
Step = tuple[NDArray[Any], EdgeList, bool]


@dataclass(frozen=True, eq=False)
class Layout:
    """Disks of the nodes of every level, the graph's nodes first.

    Attributes:
        centre: the centres of every level as complex numbers x + iy.
        radius: the radii of every level; a leaf of the mean degree has radius 1.
    """

    centre: tuple[Points, ...]
    radius: tuple[Radii, ...]


def layout(tree: CodingTree, graph: Graph) -> Layout:
    """Return the disks of all nodes of a tree; the result is deterministic.

    Example:
        >>> import sepool
        >>> graph = sepool.as_graph([(0, 1), (2, 3)])
        >>> disks = layout(sepool.coding_tree(graph, height=2), graph)
        >>> [len(centre) for centre in disks.centre]
        [4, 2, 1]
    """
    steps = _steps(tree, coarse_edges(tree, graph))
    radius: list[Radii] = [leaf_radii(tree.volumes(0))]
    offsets: list[Points] = []
    for parent, edges, on_tree in steps:
        offset, extent = pack(parent, radius[-1], edges)
        offsets.append(offset)
        padded = on_tree & (np.bincount(parent) > 1)  # an only child fills the disk of its parent
        radius.append(np.where(padded, extent * (1 + MARGIN), extent))
    centre: list[Points] = [np.zeros(1, np.complex128)]
    for (parent, edges, _), offset in zip(reversed(steps), reversed(offsets), strict=True):
        centre.append(centre[-1][parent] + _rotate(offset, parent, edges, centre[-1]))
    levels = [0, *(i for i, (*_, on_tree) in enumerate(steps, 1) if on_tree)]
    centre.reverse()
    return Layout(tuple(centre[i] for i in levels), tuple(radius[i] for i in levels))


def leaf_radii(degrees: NDArray[np.float64]) -> Radii:
    """Return the radii of leaves, 1 for the mean degree.

    Example:
        >>> leaf_radii(np.array([1.0, 4, 100, 0, 0, 0, 0])).tolist()
        [0.7, 0.7, 2.5, 0.7, 0.7, 0.7, 0.7]
    """
    mean = float(degrees.mean()) if degrees.size else 0.0
    if not mean:
        return np.ones(len(degrees))
    return np.clip(np.sqrt(degrees / mean), MIN_RADIUS, MAX_RADIUS)


def _steps(tree: CodingTree, levels: list[EdgeList]) -> list[Step]:
    """Return the parents from leaves to root, with cells between large clusters and children.

    A step is the parent of every node, the edges of the nodes, and False for parents that are
    cells instead of nodes of the tree.
    """
    steps: list[Step] = []
    for level in range(1, tree.height + 1):
        edges, parent = levels[level - 1], tree.assignment(level).astype(np.int64)
        cell = group_isolates(parent, edges)
        if cell is not None:
            edges = _append(steps, cell, edges, on_tree=False)
            parent = _parents_of_cells(cell, parent)
        _append(steps, parent, edges, on_tree=True)
    return steps


def _append(steps: list[Step], parent: Index, edges: EdgeList, *, on_tree: bool) -> EdgeList:
    """Append the step to parents, after steps to cells; return the edges between the parents."""
    while (cell := split_large(parent, edges, _max_children(len(parent)))) is not None:
        steps.append((cell, edges, False))
        edges, parent = edges.coarsen(cell), _parents_of_cells(cell, parent)
    steps.append((parent, edges, on_tree))
    return edges.coarsen(parent)


def _parents_of_cells(cell: Index, parent: Index) -> Index:
    parents = np.empty(int(cell.max()) + 1, np.int64)
    parents[cell] = parent
    return parents


def _max_children(num_nodes: int) -> int:
    """Return the largest number of children without cells on a level of so many nodes."""
    return int(np.clip(MAX_PAIRS // num_nodes, MIN_CHILDREN, MAX_CHILDREN))


def _rotate(offset: Points, parent: NDArray[Any], edges: EdgeList, centre: Points) -> Points:
    """Rotate or mirror the children inside every disk towards their neighbours in other disks."""
    count = len(centre)
    rotation, reflection = np.zeros(count, np.complex128), np.zeros(count, np.complex128)
    for u, v in ((edges.u, edges.v), (edges.v, edges.u)):
        p, q = parent[u], parent[v]
        between = p != q
        u, p, q, weight = u[between], p[between], q[between], edges.weight[between]
        direction = centre[q] - centre[p]
        direction /= np.maximum(np.abs(direction), 1e-12)
        rotation += _group_sums(p, weight * offset[u].conj() * direction, count)
        reflection += _group_sums(p, weight * offset[u] * direction, count)
    mirror = np.abs(reflection) > np.abs(rotation) * (1 + 1e-9)
    turn = np.where(mirror, reflection, rotation)
    length = np.abs(turn)
    turn = np.where(length > 1e-9, turn / np.maximum(length, 1e-9), 1)
    return np.asarray(np.where(mirror[parent], offset.conj(), offset) * turn[parent], complex)


def _group_sums(group: NDArray[Any], values: Points, count: int) -> Points:
    sums = np.bincount(group, values.real, count) + 1j * np.bincount(group, values.imag, count)
    return np.asarray(sums, np.complex128)
