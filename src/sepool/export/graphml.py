"""GraphML: the graph with the clusters of its nodes as attributes."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import numpy as np

from sepool.export.names import text_names
from sepool.export.tables import level_columns
from sepool.extras import needs

if TYPE_CHECKING:
    from sepool.tree import CodingTree

_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write_graphml(tree: CodingTree, file: IO[bytes]) -> None:
    """Write the graph; nodes have ``level_1``, ``level_2``, ..., edges ``weight`` unless all are 1.

    Raises:
        ValueError: the tree does not have its graph, or has another; two names are the same as
            text, or one has a character that XML cannot hold.
    """
    with needs("io", "a .graphml file"):
        import networkx as nx
    graph = tree.graph
    if graph is None:
        raise ValueError(
            "a .graphml file needs the graph, which the tree does not have; write it from the tree "
            "that coding_tree or CodingTree.from_levels returned, or dataclasses.replace(tree, "
            "graph=sepool.as_graph(...))"
        )
    same_size = graph.num_nodes == tree.num_nodes
    if not same_size or not np.allclose(graph.degrees(), tree.volumes(0)):
        raise ValueError("a .graphml file needs the graph, and the tree is of another one")
    names = text_names(tree, "a .graphml file", _NOT_XML, unique=True)
    u, v, w = graph.edges()
    if graph.loops is not None:  # a self-loop counts twice in the degree
        loops = np.flatnonzero(graph.loops)
        u, v = np.concatenate([u, loops]), np.concatenate([v, loops])
        w = np.concatenate([w, graph.loops[loops] * graph.unit / 2])
    copy = nx.Graph()
    copy.add_nodes_from(names)
    for key, labels in level_columns(tree).items():
        nx.set_node_attributes(copy, dict(zip(names, labels.tolist(), strict=True)), key)
    ends = zip((names[i] for i in u), (names[i] for i in v), w.tolist(), strict=True)
    if (w == 1).all():
        copy.add_edges_from((a, b) for a, b, _ in ends)
    else:
        copy.add_weighted_edges_from(ends)
    nx.write_graphml(copy, file)
