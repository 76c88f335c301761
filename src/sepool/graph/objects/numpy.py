"""Arrays and lists of edges, and dense adjacency matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sepool.graph.edges import Edges, Ids, as_weights, node_count, one_of_weights, refuse_masked

_RANGE = "node ids must be 0 to 2^63 - 1"


def from_array(
    edges: Any,
    weights: Any = None,
    num_nodes: int | None = None,
    symmetrise: bool = False,
) -> Edges:
    """Read rows ``u v`` or ``u v weight``, or a square matrix of at least four rows.

    Smaller arrays that could be either are refused.
    """
    refuse_masked(edges, "edges")
    table = _table(edges)
    if table is not None and table.ndim == 2 and weights is None and table.dtype.kind in "biuf":
        if len(table) == table.shape[1] >= 4:
            return from_dense(table, symmetrise)
        if isinstance(edges, np.ndarray) and is_ambiguous(table):
            raise ValueError(
                f"an array of shape {table.shape} could hold edges, one a row, or else be an "
                "adjacency matrix or an edge_index; pass as_graph(edges=array), "
                "as_graph(adjacency=array) or as_graph(edges=edge_index.T)"
            )
    return from_rows(edges, weights, num_nodes)


def from_rows(edges: Any, weights: Any = None, num_nodes: int | None = None) -> Edges:
    """Read rows ``u v`` or ``u v weight`` of integers or names; a row is one undirected edge."""
    refuse_masked(edges, "edges")
    table = _table(edges)
    if table is None:
        from sepool.graph.objects.named import from_named, unpacked

        rows = edges.tolist() if isinstance(edges, np.ndarray) else edges
        named = from_named(rows, weights)
        if named is not None:
            return named
        u, v, w = unpacked(rows)
        ids = np.empty((len(u), 2), object)
        ids[:, 0], ids[:, 1] = u, v
        return _numbered(ids, one_of_weights(w, weights), num_nodes)
    if table.size == 0 and table.ndim < 3:
        table = table.reshape(0, 2).astype(np.int64)
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        hint = "pass a square matrix as as_graph(adjacency=matrix)"
        if table.ndim == 2 and len(table) == 2:
            hint = "transpose it, or pass a PyG Data if it is an edge_index"
        raise ValueError(
            f"expected edges of shape (m, 2) or (m, 3), one edge a row, got {table.shape}; {hint}"
        )
    if table.shape[1] == 3:
        weights = one_of_weights(table[:, 2], weights)
    return _numbered(table[:, :2], weights, num_nodes)


def from_dense(matrix: ArrayLike, symmetrise: bool) -> Edges:
    """Read a dense adjacency matrix; its row sums are the degrees."""
    refuse_masked(matrix, "adjacency matrices")
    try:
        table = np.asarray(matrix)
    except ValueError:
        raise ValueError("an adjacency matrix is square, got rows of several lengths") from None
    if table.ndim != 2:
        raise ValueError(f"an adjacency matrix is square, got shape {table.shape}")
    if table.dtype.kind not in "biufO":
        raise TypeError(f"an adjacency matrix holds numbers, got an array of {table.dtype}")
    row, col = np.nonzero(table)
    return matrix_edges(row, col, table[row, col], table.shape, symmetrise)


def matrix_edges(
    row: NDArray[Any],
    col: NDArray[Any],
    data: NDArray[Any],
    shape: tuple[int, ...],
    symmetrise: bool,
) -> Edges:
    """Return the edges of an adjacency matrix, every one in both directions unless arcs count."""
    if shape[0] != shape[1]:
        raise ValueError(f"an adjacency matrix is square, got shape {tuple(shape)}")
    entries = data != 0
    w = as_weights(data[entries], int(entries.sum()))
    return Edges(row[entries], col[entries], w, shape[0], both=not symmetrise)


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
        raise TypeError(f"node ids must be whole numbers or names, got an array of {ids.dtype}")
    if ids.dtype.kind == "f":
        broken = ~(np.abs(ids) < 2.0**53) | (ids != np.floor(ids))
        if broken.any():
            raise ValueError(f"node ids must be whole numbers, got {ids[broken][0]}")
    elif ids.size and ids.max() >= 2**63:
        raise ValueError(f"{_RANGE}, got {ids.max()}; make them strings")
    return ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64)


def highest_id(ids: NDArray[Any]) -> int:
    """Return the highest id, -1 if there are none."""
    return int(ids.max()) if ids.size else -1


def _table(edges: Any) -> NDArray[Any] | None:
    """Return an array of numbers; None for names, objects and rows of several lengths."""
    try:
        table = np.asarray(edges)
    except (ValueError, OverflowError):
        return None
    if table.dtype.kind in "USO" or (table.ndim > 2 and isinstance(edges, (list, tuple))):
        return None
    return table


def _numbered(ids: NDArray[Any], weights: Any, num_nodes: int | None) -> Edges:
    """Return edges between nodes with integer ids, 0 to the highest or below ``num_nodes``."""
    ids = whole_ids(ids)
    n = highest_id(ids) + 1 if num_nodes is None else node_count(num_nodes, low=1)
    return Edges(ids[:, 0], ids[:, 1], as_weights(weights, len(ids)), n)


def _inferred(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids of Python objects as an array of numbers."""
    listed: list[Any] = ids.ravel().tolist()
    for value in listed:
        if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
            raise TypeError(f"node ids must be whole numbers or names, got {value!r}")
        size: Any = abs(value)
        if size >= 2**63:
            raise ValueError(f"{_RANGE}, got {value}; make them strings")
    return np.array(listed).reshape(ids.shape)
