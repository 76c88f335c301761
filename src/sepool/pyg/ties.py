"""Features of PyG graphs as colours, which order nodes that are interchangeable by the structure.

Trees must not depend on the order of the nodes, but a model also reads features. These colours have
everything that the models of `sepool.nn` read besides the edges of the tree: ``x``, ``edge_attr``,
edge weights that are not those of the tree, self-loops, and the directions of edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.graph.colours import Colours, edge_colours, rank_pairs, rank_parts, rank_rows
from sepool.pyg.format import EdgeBlocks
from sepool.segments import Ints, pointers

with needs("torch", "sepool.pyg.ties"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Data

TIES = ("features", "structure")
Weights = NDArray[np.float64] | None


class Features(NamedTuple):
    """Ranks of the features of nodes and edges; None where all are alike."""

    nodes: Ints | None
    edges: Ints | None


def read_features(
    graphs: Sequence[Data], nodes: Ints, edges: EdgeBlocks, tree_weight: Weights
) -> Features:
    """Return the features of graphs, or of a dataset in one ``Data``."""
    of_nodes = _ranks([data.get("x") for data in graphs], nodes, "x", "a node")
    of_edges = _ranks(
        [data.get("edge_attr") for data in graphs], edges.counts, "edge_attr", "an edge"
    )
    if edges.weight is not None and edges.weight is not tree_weight:
        weights = rank_rows(edges.weight)
        of_edges = weights if of_edges is None else rank_pairs(of_edges, weights)
    return Features(of_nodes, of_edges)


def colours_of_features(
    features: Features, nodes: Ints, edges: EdgeBlocks, rows: Sequence[Any], directed: bool
) -> Colours:
    """Return the colours of graphs.

    Args:
        features: what `read_features` returns.
        nodes: number of nodes of every graph.
        edges: the edges as a model reads them.
        rows: the compressed rows of the graphs that the trees are built of.
        directed: the edges may have one direction only.
    """
    if features.edges is None and not directed and not (edges.row == edges.col).any():
        return Colours(features.nodes)
    start = pointers(nodes)[:-1]
    shift = np.repeat(start, edges.counts)
    values = np.zeros(len(shift), np.int64) if features.edges is None else features.edges
    indptr, indices = rows[:2]
    neighbors = indices + np.repeat(np.repeat(start, nodes), np.diff(indptr))
    arcs, loops = edge_colours(indptr, neighbors, edges.row + shift, edges.col + shift, values)
    if loops is None or features.nodes is None:
        return Colours(features.nodes if loops is None else loops, arcs)
    return Colours(rank_pairs(features.nodes, loops), arcs)


def _ranks(parts: Sequence[Any], sizes: Ints, name: str, item: str) -> Ints | None:
    """Return the ranks of the rows of an attribute, 0 where a graph has none."""
    if all(part is None for part in parts):
        return None
    sizes = sizes if len(parts) == len(sizes) else sizes.sum(keepdims=True)
    arrays = []
    for i, (part, size) in enumerate(zip(parts, sizes.tolist(), strict=True)):
        rows = torch.zeros(size) if part is None else part
        if not isinstance(rows, Tensor) or rows.is_complex() or rows.shape[:1] != (size,):
            graph = f"graph {i}: " if len(parts) > 1 else ""
            actual = tuple(rows.shape) if isinstance(rows, Tensor) else type(rows).__name__
            raise ValueError(
                f"{graph}{name} must be a tensor of {size} rows of real numbers, one {item}, got "
                f'{actual}; ties="structure" builds trees without features'
            )
        arrays.append(numpy_of(rows.to_dense() if rows.layout != torch.strided else rows))
    return rank_parts(arrays)


def numpy_of(tensor: Tensor) -> NDArray[Any]:
    """Return the values of a tensor of any device and type."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:  # NumPy has no such type
        tensor = tensor.float()
    array: NDArray[Any] = tensor.numpy()
    return array
