"""Clusterings and dendrograms of igraph from coding trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.depth.pick import connected_components
from sepool.extras import needs
from sepool.graph.edges import WEIGHT
from sepool.graph.graph import Graph, as_graph
from sepool.levels import check_graph
from sepool.segments import Ints
from sepool.tree import CodingTree


def vertex_clustering(
    tree: CodingTree, graph: Any, level: int | None = None, *, weight: str | None = WEIGHT
) -> Any:
    """Return the clusters of a level as an ``igraph.VertexClustering``.

    Args:
        tree: of the graph, from any library.
        graph: the igraph graph.
        level: of the clusters, the coarsest by default.
        weight: the edge attribute for the modularity, where the graph has it; None for none.

    Raises:
        ValueError: the tree is of another graph, or has no such level.

    Example:
        >>> import igraph, sepool
        >>> graph = igraph.Graph.Famous("Zachary")
        >>> clustering = vertex_clustering(sepool.coding_tree(graph, height=2), graph)
        >>> len(clustering), round(clustering.modularity, 3)
        (6, 0.361)
    """
    with needs("io", "vertex_clustering"):
        from igraph import VertexClustering
    _graph_of(tree, graph, weight)
    level = (tree.top or tree.height) if level is None else level
    labels = tree.labels(level).tolist()
    return VertexClustering(graph, labels, modularity_params=_modularity_params(graph, weight))


def vertex_dendrogram(tree: CodingTree, graph: Any, *, weight: str | None = WEIGHT) -> Any:
    """Return the tree as an ``igraph.VertexDendrogram``.

    A dendrogram is binary: the children of a cluster are merged one after the other. All merges of
    a level precede those of the next, and merges within components those across them, so that a cut
    at the number of clusters of a level has its clusters; by default that of the coarsest level.

    Args:
        tree: of the graph, from any library.
        graph: the igraph graph.
        weight: as in `vertex_clustering`.

    Raises:
        ValueError: the tree is of another graph.

    Example:
        >>> import igraph, sepool
        >>> graph = igraph.Graph.Famous("Zachary")
        >>> tree = sepool.coding_tree(graph, height=3)
        >>> dendrogram = vertex_dendrogram(tree, graph)
        >>> cut = dendrogram.as_clustering(tree.num_clusters(1))
        >>> cut.compare_to(vertex_clustering(tree, graph, level=1))  # variation of information
        0.0
    """
    with needs("io", "vertex_dendrogram"):
        from igraph import VertexDendrogram
    levels = [tree.labels(level).astype(np.int64) for level in range(1, tree.height + 1)]
    components = connected_components(_graph_of(tree, graph, weight))
    if len(levels) == 1 or _nested(levels[-2], components):
        levels.insert(-1, components)
    return VertexDendrogram(
        graph,
        _merges(levels),
        optimal_count=tree.num_clusters(tree.top or tree.height),
        modularity_params=_modularity_params(graph, weight),
    )


def _graph_of(tree: CodingTree, graph: Any, weight: str | None) -> Graph:
    """Return the graph; fail if the tree is of another one."""
    import igraph

    if not isinstance(graph, igraph.Graph):
        raise TypeError(f"graph must be an igraph.Graph, got {type(graph).__name__}")
    whole = as_graph(graph, weight=weight, symmetrise=True)
    check_graph(tree, whole)
    return whole


def _modularity_params(graph: Any, weight: str | None) -> dict[str, str]:
    return {"weights": weight} if weight is not None and weight in graph.es.attributes() else {}


def _nested(labels: Ints, components: Ints) -> bool:
    """Return True if no cluster has nodes of several components."""
    _, first, cluster = np.unique(labels, return_index=True, return_inverse=True)
    return bool((components[first][cluster] == components).all())


def _merges(levels: list[Ints]) -> list[tuple[int, int]]:
    """Return the pairs of clusters to merge, finest level first, the last level being the root.

    Nodes have the numbers below that of nodes; every merge makes a cluster of the next number.
    """
    number = node = np.arange(len(levels[0]))  # of every cluster: its number, and one of its nodes
    pairs = [np.zeros((0, 2), np.int64)]
    following = len(node)
    for labels in levels:
        parent = labels[node]
        order = np.argsort(parent, kind="stable")
        first = np.diff(parent[order], prepend=-1) != 0
        later = np.flatnonzero(~first)
        union = number[order]  # the cluster of a child and its siblings up to there
        right = union[later]
        union[later] = following + np.arange(len(later))
        pairs.append(np.column_stack([union[later - 1], right]))
        following += len(later)
        number, node = union[np.roll(first, -1)], node[order[first]]
    return [(a, b) for a, b in np.concatenate(pairs).tolist()]
