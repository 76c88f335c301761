"""Clusterings of CDlib from coding trees."""

from __future__ import annotations

from typing import Any

from sepool.extras import needs
from sepool.graph.graph import as_graph
from sepool.levels import check_graph, names_of
from sepool.tree import CodingTree


def node_clustering(tree: CodingTree, graph: Any, level: int | None = None) -> Any:
    """Return the clusters of a level as a ``cdlib.NodeClustering``.

    Its ``method_name`` is "structural_entropy", its ``method_parameters`` are the level, the height
    of the tree and its entropy.

    Args:
        tree: of the graph, from any library.
        graph: a networkx or igraph graph.
        level: of the clusters, the coarsest by default.

    Raises:
        ValueError: the tree is of another graph, or has no such level.
        sepool.extras.MissingPackage: CDlib is not installed.

    Example:
        >>> import networkx as nx, sepool
        >>> graph = nx.karate_club_graph()
        >>> clustering = node_clustering(sepool.coding_tree(graph), graph)  # doctest: +SKIP
        >>> clustering.newman_girvan_modularity().score  # doctest: +SKIP
        0.37146
    """
    with needs("", "node_clustering"):
        from cdlib import NodeClustering
    whole = as_graph(graph, symmetrise=True)
    check_graph(tree, whole)
    if hasattr(graph, "vs") and whole.names is None:
        raise ValueError("CDlib needs names of the vertices of igraph: set graph.vs['name']")
    level = (tree.top or tree.height) if level is None else level
    position = {name: i for i, name in enumerate(names_of(whole))}
    communities = tree.communities(level, position)
    return NodeClustering(
        [sorted(community, key=position.__getitem__) for community in communities],
        graph,
        method_name="structural_entropy",
        method_parameters={"level": level, "height": tree.height, "entropy": tree.entropy},
    )
