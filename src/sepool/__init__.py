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

if TYPE_CHECKING:
    from sepool import cluster as cluster
    from sepool import nn as nn
    from sepool import tl as tl
    from sepool import viz as viz
    from sepool.build import coding_tree as coding_tree
    from sepool.build import coding_trees as coding_trees
    from sepool.consensus import stability as stability
    from sepool.depth.update import update as update
    from sepool.entropy import one_dimensional_entropy as one_dimensional_entropy
    from sepool.entropy import structural_entropy as structural_entropy
    from sepool.files.tree import TreeFormatError as TreeFormatError
    from sepool.graph.batch import GraphBatch as GraphBatch
    from sepool.graph.batch import as_graph_batch as as_graph_batch
    from sepool.graph.graph import Graph as Graph
    from sepool.graph.graph import as_graph as as_graph
    from sepool.pyg.dataset import load_graphs as load_graphs
    from sepool.pyg.dataset import save_graphs as save_graphs
    from sepool.pyg.encoding import AddTreeEncoding as AddTreeEncoding
    from sepool.pyg.hierarchy import hierarchy as hierarchy
    from sepool.pyg.transform import AddCodingTree as AddCodingTree
    from sepool.scores.compare import compare as compare
    from sepool.scores.formats.read import read_clustering as read_clustering
    from sepool.tree import CodingTree as CodingTree
    from sepool.tree_batch import TreeBatch as TreeBatch

__version__ = "0.2.0"

# Public names and their modules, imported on first use; `cluster`, `nn`, `tl`, `viz` are modules.
_MODULES = {
    "CodingTree": "sepool.tree",
    "Graph": "sepool.graph.graph",
    "GraphBatch": "sepool.graph.batch",
    "TreeBatch": "sepool.tree_batch",
    "TreeFormatError": "sepool.files.tree",
    "as_graph": "sepool.graph.graph",
    "as_graph_batch": "sepool.graph.batch",
    "coding_tree": "sepool.build",
    "coding_trees": "sepool.build",
    "compare": "sepool.scores.compare",
    "one_dimensional_entropy": "sepool.entropy",
    "read_clustering": "sepool.scores.formats.read",
    "stability": "sepool.consensus",
    "structural_entropy": "sepool.entropy",
    "update": "sepool.depth.update",
    "AddCodingTree": "sepool.pyg.transform",
    "AddTreeEncoding": "sepool.pyg.encoding",
    "hierarchy": "sepool.pyg.hierarchy",
    "load_graphs": "sepool.pyg.dataset",
    "save_graphs": "sepool.pyg.dataset",
    "cluster": "sepool.cluster",
    "nn": "sepool.nn",
    "tl": "sepool.tl",
    "viz": "sepool.viz",
}
# Names that need more than NumPy: the extra to install, and a package that comes with it.
_OPTIONAL = {
    "AddCodingTree": ("torch", "torch_geometric"),
    "AddTreeEncoding": ("torch", "torch_geometric"),
    "hierarchy": ("torch", "torch_geometric"),
    "load_graphs": ("torch", "torch_geometric"),
    "save_graphs": ("torch", "torch_geometric"),
    "cluster": ("cluster", "sklearn"),
    "nn": ("torch", "torch_geometric"),
    "tl": ("io", "pandas"),
    "viz": ("viz", "matplotlib"),
}
__all__ = [name for name in _MODULES if name not in _OPTIONAL]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'sepool' has no attribute {name!r}")
    path = _MODULES[name]
    if name not in _OPTIONAL:
        value = getattr(import_module(path), name)
    else:
        from sepool.extras import needs

        with needs(_OPTIONAL[name][0], f"sepool.{name}"):
            module = import_module(path)
            value = module if path == f"sepool.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names that can be imported; ``help(sepool)`` imports every one of them."""
    missing = {name for name, (_, package) in _OPTIONAL.items() if not find_spec(package)}
    return sorted({*globals(), *_MODULES} - missing)
