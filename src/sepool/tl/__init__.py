"""Tools for single-cell data, in the style of scanpy's ``sc.tl``.

``sepool.tl.cluster(adata)`` clusters cells on all levels that their neighbours support, and
``sepool.tl.tree(adata)`` returns the tree. Neither needs scanpy: any ``AnnData`` with a graph of
neighbours will do.
"""

from __future__ import annotations

from sepool.tl.clustering import cluster as cluster
from sepool.tl.storage import tree as tree

__all__ = ["cluster", "tree"]
