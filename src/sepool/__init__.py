"""sepool: the hierarchy hidden in a graph, as the coding tree of least structural entropy.

>>> import sepool
>>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
>>> sepool.coding_tree(bridge, height=2)
CodingTree(height=2, nodes=6, clusters=[6, 2, 1], entropy=1.6995)
"""

from sepool.build import coding_tree, coding_trees
from sepool.entropy import one_dimensional_entropy, structural_entropy
from sepool.graph import Graph, GraphBatch, as_graph, as_graph_batch
from sepool.tree import CodingTree, TreeBatch
from sepool.treefile import TreeFormatError

__version__ = "0.1.0"
__all__ = [
    "CodingTree",
    "Graph",
    "GraphBatch",
    "TreeBatch",
    "TreeFormatError",
    "as_graph",
    "as_graph_batch",
    "coding_tree",
    "coding_trees",
    "one_dimensional_entropy",
    "structural_entropy",
]
