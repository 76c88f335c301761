"""sepool: the hierarchy hidden in a graph, as the coding tree of least structural entropy.

>>> import sepool
>>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
>>> sepool.coding_tree(bridge, height=2)
CodingTree(height=2, nodes=6, clusters=[6, 2, 1], entropy=1.6995)
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sepool.build import coding_tree, coding_trees
from sepool.entropy import one_dimensional_entropy, structural_entropy
from sepool.extras import needs
from sepool.graph import Graph, as_graph
from sepool.graphbatch import GraphBatch, as_graph_batch
from sepool.tree import CodingTree
from sepool.treebatch import TreeBatch
from sepool.treefile import TreeFormatError

if TYPE_CHECKING:
    from sepool import nn as nn
    from sepool import viz as viz
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

# What needs other packages is imported when it is asked for, and left out of a star import.
_LAZY = {  # the module, and the package without which it is of no use
    "AddCodingTree": ("sepool.transforms", "torch_geometric"),
    "hierarchy": ("sepool.data", "torch_geometric"),
    "load_graphs": ("sepool.graphfile", "torch_geometric"),
    "nn": ("sepool", "torch_geometric"),
    "save_graphs": ("sepool.graphfile", "torch_geometric"),
    "viz": ("sepool", "matplotlib"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'sepool' has no attribute {name!r}")
    module, _ = _LAZY[name]
    with needs("viz" if name == "viz" else "torch", f"sepool.{name}"):
        if module == "sepool":  # a module of the package itself
            return import_module(f"sepool.{name}")
        value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Without what cannot be had: ``help(sepool)`` asks for everything that is listed."""
    lazy = {name for name, (_, package) in _LAZY.items() if find_spec(package)}
    return sorted({*globals(), *lazy})
