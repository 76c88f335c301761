"""Arrays and lists of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sepool.graph.edges import Edges, Ids, as_weights, node_count, refuse_masked

_NAMES = "for nodes with names pass a networkx graph or an edge-list file"


def from_array(edges: ArrayLike, weights: Any = None, num_nodes: int | None = None) -> Edges:
    """Read rows ``u v`` or ``u v weight``; a row is one undirected edge."""
    refuse_masked(edges, "edges")
    try:
        table = np.asarray(edges)
    except ValueError:
        raise ValueError(
            "expected edges as rows 'u v' or 'u v weight', all of one length"
        ) from None
    if table.size == 0 and table.ndim < 3:
        table = table.reshape(0, 2).astype(np.int64)
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        hint = "for an adjacency matrix pass scipy.sparse.csr_array(matrix)"
        if table.ndim == 2 and len(table) == 2:
            hint = "transpose it, or pass a PyG Data if it is an edge_index"
        raise ValueError(
            f"expected edges of shape (m, 2) or (m, 3), one edge a row, got {table.shape}; {hint}"
        )
    if isinstance(edges, np.ndarray) and is_ambiguous(table):
        raise ValueError(
            f"an array of shape {table.shape} could hold edges, one a row, or else be an "
            "adjacency matrix (pass scipy.sparse.csr_array(matrix)) or an edge_index (transpose "
            "it); for weighted edges give ids as integers and the weights as an array of their own"
        )
    if table.shape[1] == 3:
        if weights is not None:
            raise ValueError("weights are given twice: as a third column and as an array")
        weights = table[:, 2]
    ids = whole_ids(table[:, :2])
    n = highest_id(ids) + 1 if num_nodes is None else node_count(num_nodes, low=1)
    return Edges(ids[:, 0], ids[:, 1], as_weights(weights, len(ids)), n)


def is_ambiguous(table: NDArray[Any]) -> bool:
    """Return True if edges could as well be a symmetric matrix without loops, or an edge_index."""
    if table.shape not in ((2, 2), (2, 3), (3, 3)) or not table.any():
        return False
    whole = table.dtype.kind in "iu"
    if table.shape == (2, 3):
        return whole
    if table.shape == (2, 2) and whole:  # floats are seldom ids
        return False
    return bool((table == table.T).all() and not table.diagonal().any())


def whole_ids(ids: NDArray[Any]) -> Ids:
    """Return node ids as integers; fail on 1.5 and NaN, and leave the range to the core."""
    if ids.dtype.kind == "O":
        ids = _inferred(ids)
    if ids.dtype.kind not in "iuf":
        raise TypeError(f"node ids must be whole numbers, got an array of {ids.dtype}; {_NAMES}")
    if ids.dtype.kind == "f":
        broken = ~(np.abs(ids) < 2.0**53) | (ids != np.floor(ids))
        if broken.any():
            raise ValueError(f"node ids must be whole numbers, got {ids[broken][0]}")
    elif ids.size and ids.max() >= 2**63:
        raise ValueError(f"node ids must be 0 to 2^63 - 1, got {ids.max()}")
    return ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64)


def _inferred(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids of Python objects as an array of numbers."""
    listed: list[Any] = ids.ravel().tolist()
    for value in listed:
        if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
            raise TypeError(f"node ids must be whole numbers, got {value!r}; {_NAMES}")
        size: Any = abs(value)
        if size >= 2**63:
            raise ValueError(f"node ids must be 0 to 2^63 - 1, got {value}")
    return np.array(listed).reshape(ids.shape)


def highest_id(ids: NDArray[Any]) -> int:
    """Return the highest id, -1 if there are none."""
    return int(ids.max()) if ids.size else -1
