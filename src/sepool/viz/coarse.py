"""The graph as the levels of a coding tree see it: clusters, and the weight between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.levels import check_graph
from sepool.tree import CodingTree


class Links(NamedTuple):
    """The edges of one level, every pair once: two ends and the weight between them."""

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    w: NDArray[np.float64]

    def merged(self, parent: NDArray[Any]) -> Links:
        """The edges one level up; those inside a cluster are gone."""
        a, b = parent[self.u].astype(np.int64), parent[self.v].astype(np.int64)
        apart = a != b
        low, high = np.minimum(a, b)[apart], np.maximum(a, b)[apart]
        count = int(parent.max(initial=0)) + 1
        pairs, place = np.unique(low * count + high, return_inverse=True)
        weights = np.bincount(place, self.w[apart], len(pairs)).astype(np.float64)
        return Links(pairs // count, pairs % count, weights)


def links_of(tree: CodingTree, graph: Graph) -> list[Links]:
    """The edges on every level but the root's, where there are none.

    Raises:
        ValueError: the tree is of another graph.

    Example:
        >>> import sepool
        >>> graph = sepool.as_graph([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)])
        >>> tree = sepool.CodingTree.from_levels(graph, [0, 0, 1, 1])
        >>> links_of(tree, graph)[1].w
        array([3.])
    """
    check_graph(tree, graph)
    u, v, w = graph.edges()
    links = [Links(u.astype(np.int64), v.astype(np.int64), w)]
    for level in range(1, tree.height):
        links.append(links[-1].merged(tree.assignment(level)))
    return links


def node_names(tree: CodingTree) -> list[str]:
    """What the nodes are called."""
    return list(tree.names) if tree.names is not None else [str(i) for i in range(tree.num_nodes)]
