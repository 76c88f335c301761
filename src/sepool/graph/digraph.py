"""Directed networkx graphs of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sepool.extras import needs

if TYPE_CHECKING:
    from sepool.tree import CodingTree


def tree_digraph(tree: CodingTree) -> Any:
    """Return a ``networkx.DiGraph`` of the nodes of a tree, see `sepool.CodingTree.to_networkx`."""
    with needs("io", "to_networkx"):
        import networkx as nx

    digraph = nx.DiGraph()
    for level in reversed(range(tree.height + 1)):
        columns = {
            "volume": tree.volumes(level).tolist(),
            "boundary": tree.boundaries(level).tolist(),
            "entropy": tree.contributions(level).tolist(),
        }
        for i, values in enumerate(zip(*columns.values(), strict=True)):
            digraph.add_node((level, i), level=level, **dict(zip(columns, values, strict=True)))
        if level < tree.height:
            up = enumerate(tree.assignment(level + 1).tolist())
            digraph.add_edges_from(((level + 1, p), (level, i)) for i, p in up)
    for i, name in enumerate(range(tree.num_nodes) if tree.names is None else tree.names):
        digraph.nodes[0, i]["name"] = name
    return digraph
