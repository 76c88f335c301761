"""Cells between a cluster and its children: of a bounded number, or of those without neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.build import coding_tree
from sepool.graph.graph import as_graph
from sepool.viz.coarse_graph import EdgeList

MAX_CELL = 48
HEIGHT = 4  # of the trees whose leaf order fills the cells

Index = NDArray[np.int64]


def group_isolates(parent: NDArray[Any], edges: EdgeList) -> Index | None:
    """Return the cell of every node, None if none has company in having no edges to siblings.

    The nodes of a parent without edges to siblings have one cell, the others a cell each.

    Example:
        >>> edges = EdgeList(np.array([0]), np.array([1]), np.ones(1))
        >>> group_isolates(np.zeros(4, np.int64), edges)
        array([0, 1, 2, 2])
    """
    inside = parent[edges.u] == parent[edges.v]
    connected = np.zeros(len(parent), np.bool_)
    connected[edges.u[inside]] = connected[edges.v[inside]] = True
    isolates = np.bincount(parent, ~connected)
    mixed = (isolates > 1) & (isolates < np.bincount(parent))
    if not mixed.any():
        return None
    grouped = ~connected & mixed[parent]
    cell = np.where(grouped, len(parent) + parent, np.arange(len(parent)))
    return np.unique(cell, return_inverse=True)[1].astype(np.int64)


def split_large(parent: NDArray[Any], edges: EdgeList, max_children: int) -> Index | None:
    """Return the cell of every node, None if no parent has too many children.

    The leaf order of a coding tree is cut into cells of equal size; a parent of few children has
    one cell.

    Example:
        >>> parent = np.array([0, 0, 1, 1, 1, 1])
        >>> edges = EdgeList(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        >>> split_large(parent, edges, max_children=4) is None
        True
    """
    large = np.flatnonzero(np.bincount(parent) > max_children)
    if not large.size:
        return None
    cell = np.zeros(len(parent), np.int64)
    inside = parent[edges.u] == parent[edges.v]
    u, v, weight = edges.u[inside], edges.v[inside], edges.weight[inside]
    for cluster in large:
        members, own = np.flatnonzero(parent == cluster), parent[u] == cluster
        pairs = np.searchsorted(members, np.column_stack([u[own], v[own]]))
        order, count = _leaf_order(pairs, weight[own], len(members)), len(members)
        cell[members[order]] = np.arange(count) * -(-count // MAX_CELL) // count
    _, cells = np.unique(parent * (int(cell.max()) + 1) + cell, return_inverse=True)
    return cells.astype(np.int64)


def _leaf_order(pairs: NDArray[Any], weight: NDArray[np.float64], num_nodes: int) -> NDArray[Any]:
    """Return nodes in the order of the leaves of a coding tree."""
    graph = as_graph((pairs, weight), num_nodes=num_nodes)
    tree = coding_tree(graph, HEIGHT, method="fast")
    return np.lexsort([tree.labels(level) for level in range(HEIGHT)])
