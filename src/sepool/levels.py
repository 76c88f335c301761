"""From labels to the levels of a coding tree: a clustering from elsewhere, checked and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph import Graph

if TYPE_CHECKING:
    from sepool.tree import CodingTree


def as_levels(labels: Any, num_nodes: int) -> list[NDArray[Any]]:
    """One array of labels a level, each as long as the graph has nodes."""
    labels = getattr(labels, "membership", labels)  # a clustering of igraph or leidenalg
    rows = labels if isinstance(labels, (list, tuple)) else np.atleast_1d(labels)
    single = len(rows) > 0 and np.ndim(rows[0]) == 0
    levels = [np.asarray(level) for level in ([rows] if single else rows)]
    for i, level in enumerate(levels, 1):
        if level.dtype.kind not in "iubU":
            raise TypeError(f"labels must be integers or strings, got {level.dtype} on level {i}")
        if level.shape != (num_nodes,):
            raise ValueError(
                f"expected {num_nodes} labels, one a node, got shape {level.shape} on level {i}"
            )
    return levels


def assignments_of(levels: list[NDArray[Any]], num_nodes: int) -> list[NDArray[np.int64]]:
    """The parents of every level, its clusters numbered so that siblings stand side by side."""
    above = np.zeros(num_nodes, np.int64)  # the cluster of every node on the level above
    assignments = []
    for i in reversed(range(len(levels))):
        values, first, labels = np.unique(levels[i], return_index=True, return_inverse=True)
        strays = np.flatnonzero(above[first][labels] != above)
        if strays.size:
            stray, cluster = strays[0], labels[strays[0]]
            raise ValueError(
                f"labels must be nested, finest first: cluster {values[cluster]} of level {i + 1} "
                f"holds the nodes {first[cluster]} and {stray}, which level {i + 2} puts apart"
            )
        order = np.lexsort((first, above[first]))
        assignments.append(above[first[order]])
        above = np.argsort(order)[labels]
    return [above, *reversed(assignments)]


def volumes_and_cuts(
    graph: Graph, assignments: list[NDArray[np.int64]]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """The volumes and cuts of every level; an edge counts as long as its ends are apart."""
    u: NDArray[Any]
    v: NDArray[Any]
    u, v, w = graph.edges()
    volumes, cuts = [graph.degrees()], []
    for parent in assignments:
        size = len(parent)
        cuts.append(np.bincount(u, w, size).astype(np.float64) + np.bincount(v, w, size))
        volumes.append(np.bincount(parent, volumes[-1]).astype(np.float64))
        u, v = parent[u], parent[v]
        apart = u != v
        u, v, w = u[apart], v[apart], w[apart]
    return volumes, [*cuts, np.zeros(1)]


def check_graph(tree: CodingTree, graph: Graph) -> None:
    """Sees whether a tree can be of a graph.

    Raises:
        ValueError: it is of another: the nodes are not as many, or have other names.

    Example:
        >>> import sepool
        >>> check_graph(sepool.coding_tree([(0, 1), (1, 2)]), sepool.as_graph([(0, 1)]))
        Traceback (most recent call last):
        ValueError: the tree has 3 leaves, but the graph has 2 nodes
    """
    if tree.num_nodes != graph.num_nodes:
        raise ValueError(
            f"the tree has {tree.num_nodes} leaves, but the graph has {graph.num_nodes} nodes"
        )
    if tree.names is not None and graph.names is not None and tree.names != graph.names:
        raise ValueError("the tree is of another graph: its nodes have other names")
