"""Communities of least structural entropy as functions like those of ``nx.community``.

Both functions are dispatched by networkx: ``backend="sepool"`` and ``nx.config.backend_priority``
work for them, and ``nx.config.backends`` lists sepool.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sepool.build import coding_tree
from sepool.extras import needs
from sepool.graph.graph import as_graph
from sepool.tree import CodingTree

with needs("io", "sepool.integrations.networkx"):
    import networkx as nx


@nx._dispatchable(edge_attrs="weight")  # type: ignore[untyped-decorator]
def structural_entropy_communities(
    G: Any,  # noqa: N803
    weight: str | None = "weight",
    *,
    height: int | None = None,
    num_clusters: int | None = None,
    trials: int = 1,
    seed: int = 0,
    symmetrise: bool = False,
) -> list[set[Any]]:
    """Return the communities on the coarsest level of the coding tree of least structural entropy.

    No modularity is maximised and there is no resolution: the levels are those that the graph
    supports. A graph without structure is one community.

    Args:
        G: a graph or multigraph of networkx.
        weight: the edge attribute that holds the weights, 1 where it is missing; None ignores
            weights.
        height: as in `sepool.coding_tree`, 2 for one level of communities.
        num_clusters: number of communities.
        trials: as in `sepool.coding_tree`.
        seed: of the search, an integer.
        symmetrise: accept a directed graph and let every arc count as an undirected edge.

    Raises:
        ValueError: the graph is directed or has no nodes, or an argument has an impossible value.

    Example:
        >>> graph = nx.connected_caveman_graph(4, 6)
        >>> communities = structural_entropy_communities(graph)
        >>> [sorted(community) for community in communities][:2]
        [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
        >>> communities == structural_entropy_communities(graph, backend="sepool")
        True
    """
    graph = as_graph(G, weight=weight, symmetrise=symmetrise)
    tree = coding_tree(graph, height, num_clusters=num_clusters, trials=trials, seed=seed)
    return _partitions(tree)[-1]


@nx._dispatchable(edge_attrs="weight")  # type: ignore[untyped-decorator]
def structural_entropy_partitions(
    G: Any,  # noqa: N803
    weight: str | None = "weight",
    *,
    height: int | None = None,
    num_clusters: int | None = None,
    trials: int = 1,
    seed: int = 0,
    symmetrise: bool = False,
) -> Iterator[list[set[Any]]]:
    """Return an iterator over the levels of the coding tree of least structural entropy.

    The finest partition comes first, as in ``nx.community.louvain_partitions``; the last one is
    that of `structural_entropy_communities`. Arguments are as there.

    Example:
        >>> graph = nx.karate_club_graph()
        >>> [len(partition) for partition in structural_entropy_partitions(graph, height=4)]
        [12, 4, 2]
    """
    graph = as_graph(G, weight=weight, symmetrise=symmetrise)
    tree = coding_tree(graph, height, num_clusters=num_clusters, trials=trials, seed=seed)
    return iter(_partitions(tree))


def _partitions(tree: CodingTree) -> list[list[set[Any]]]:
    """Return the communities on each level, finest first; the root alone for a tree of height 1."""
    return [tree.communities(level) for level in range(1, (tree.top or tree.height) + 1)]
