"""Structural entropy of any hierarchy, from volumes and boundaries in NumPy.

A check on the core, which reads the edges here and nothing else.
"""

from __future__ import annotations

from typing import Any

from sepool.graph.graph import as_graph
from sepool.levels import Labels, check_graph
from sepool.tree import CodingTree


def structural_entropy(graph: Any, tree_or_labels: CodingTree | Labels) -> float:
    """Return the structural entropy of a graph on a coding tree, in bits (Eq. 3 of the paper).

    Args:
        graph: anything `sepool.as_graph` takes; call that first if it needs options.
        tree_or_labels: a `sepool.CodingTree`, or labels as `sepool.CodingTree.from_levels` takes
            them: the cluster of every node, also as a dictionary or as sets of nodes; or a list of
            these, finest first.

    Returns:
        The sum over all nodes of the tree but the root of ``g / V log2(p / v)``: ``v``, ``p`` and
        ``V`` are the volumes of the node, its parent and the root, ``g`` is the boundary of the
        node. A graph without edges has an entropy of 0.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> round(structural_entropy(bridge, [0, 0, 0, 1, 1, 1]), 4)
        1.6995
    """
    graph = as_graph(graph)
    if isinstance(tree_or_labels, CodingTree):
        tree = tree_or_labels
        check_graph(tree, graph)
        tree_or_labels = [tree.labels(level) for level in range(1, tree.height)]
    return CodingTree.from_levels(graph, tree_or_labels).entropy


def one_dimensional_entropy(graph: Any) -> float:
    """Return the structural entropy on the tree of height 1, without clusters, in bits.

    Example:
        >>> one_dimensional_entropy([(0, 1), (1, 2), (2, 3), (3, 0)])
        2.0
    """
    return CodingTree.from_levels(graph, []).entropy
