"""Coarse graphs of a coding tree: clusters and the weight between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.levels import check_graph
from sepool.tree import CodingTree


class EdgeList(NamedTuple):
    """Edges of one level: each pair of nodes once, with the weight between them."""

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: NDArray[np.float64]

    def coarsen(self, parent: NDArray[Any]) -> EdgeList:
        """Return the edges between parents, without those inside a parent."""
        a, b = parent[self.u].astype(np.int64), parent[self.v].astype(np.int64)
        between = a != b
        low, high = np.minimum(a, b)[between], np.maximum(a, b)[between]
        count = int(parent.max(initial=0)) + 1
        pairs, index = np.unique(low * count + high, return_inverse=True)
        weight = np.bincount(index, self.weight[between], len(pairs)).astype(np.float64)
        return EdgeList(pairs // count, pairs % count, weight)


def coarse_edges(tree: CodingTree, graph: Graph) -> list[EdgeList]:
    """Return the edges of every level below the root.

    Raises:
        ValueError: the tree is of another graph.
    """
    check_graph(tree, graph)
    u, v, weight = graph.edges()
    edges = [EdgeList(u.astype(np.int64), v.astype(np.int64), weight)]
    for level in range(1, tree.height):
        edges.append(edges[-1].coarsen(tree.assignment(level)))
    return edges


def ancestors(tree: CodingTree, low: int, high: int) -> NDArray[np.int64]:
    """Return the cluster on a high level of every node of a low level."""
    index = np.arange(tree.num_clusters(low))
    for level in range(low + 1, high + 1):
        index = tree.assignment(level)[index].astype(np.int64)
    return index
