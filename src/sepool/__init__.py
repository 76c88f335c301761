"""sepool: the hierarchy hidden in a graph, as the coding tree of least structural entropy.

>>> import sepool
>>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
>>> sepool.coding_tree(bridge, height=2)
CodingTree(height=2, nodes=6, clusters=[6, 2, 1], entropy=1.6995)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sepool.build import coding_tree, coding_trees
from sepool.entropy import one_dimensional_entropy, structural_entropy
from sepool.extras import needs
from sepool.graph import Graph, as_graph
from sepool.graphbatch import GraphBatch, as_graph_batch
from sepool.tree import CodingTree, TreeBatch
from sepool.treefile import TreeFormatError

if TYPE_CHECKING:
    from sepool import nn as nn
    from sepool.data import hierarchy as hierarchy
    from sepool.graphfile import load_graphs as load_graphs
    from sepool.graphfile import save_graphs as save_graphs
    from sepool.transforms import AddCodingTree as AddCodingTree

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

# What needs PyTorch Geometric is imported when it is asked for, and left out of a star import.
_LAZY = {
    "AddCodingTree": "sepool.transforms",
    "hierarchy": "sepool.data",
    "load_graphs": "sepool.graphfile",
    "nn": "sepool",
    "save_graphs": "sepool.graphfile",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sepool' has no attribute {name!r}")
    with needs("torch", f"sepool.{name}"):
        if _LAZY[name] == "sepool":  # a module of the package itself
            return import_module(f"sepool.{name}")
        value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
