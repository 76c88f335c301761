"""PyTorch tensors that are adjacency matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Edges
from sepool.graph.objects.numpy import from_dense, matrix_edges


def from_torch(tensor: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a sparse adjacency matrix, or a dense one that cannot be a list of edges."""
    import torch

    if tensor.layout == torch.strided and (tensor.ndim != 2 or len(set(tensor.shape)) > 1):
        raise TypeError(
            f"cannot read a graph from Tensor of shape {tuple(tensor.shape)}; pass "
            "as_graph(edges=edge_index.T) for an edge_index whose columns are edges, a PyG Data if "
            "it lists every edge in both directions, or a square adjacency matrix"
        )
    if tensor.layout == torch.strided and len(tensor) < 4:
        raise ValueError(
            f"a tensor of shape {tuple(tensor.shape)} could hold edges or be an adjacency matrix; "
            "pass as_graph(edges=tensor) or as_graph(adjacency=tensor)"
        )
    return from_matrix(tensor, symmetrise)


def from_matrix(tensor: Any, symmetrise: bool) -> Edges:
    """Read an adjacency matrix, sparse in any layout or dense."""
    import torch

    tensor = tensor.detach()
    if tensor.layout == torch.strided:
        return from_dense(as_array(tensor), symmetrise)
    shape = tuple(tensor.shape)
    if len(shape) != 2:
        raise ValueError(f"an adjacency matrix is square, got shape {shape}")
    coo = tensor.to_sparse_coo().coalesce()
    if coo.dense_dim():
        raise ValueError(
            f"an adjacency matrix has one number an entry, got values {tuple(coo.values().shape)}"
        )
    row, col = as_array(coo.indices())
    return matrix_edges(row, col, as_array(coo.values()), shape, symmetrise)


def as_array(tensor: Any) -> NDArray[Any]:
    """Return a tensor as a NumPy array, of any type of numbers and on any device."""
    import torch

    tensor = tensor.detach().cpu()
    return np.asarray((tensor.double() if tensor.dtype == torch.bfloat16 else tensor).numpy())
