"""SciPy sparse adjacency matrices."""

from __future__ import annotations

from typing import Any

from sepool.graph.edges import Edges, as_weights


def from_scipy(matrix: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a sparse adjacency matrix; its row sums are the degrees."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix is square, got shape {matrix.shape}")
    coo = matrix.tocoo()
    entries = coo.data != 0
    w = as_weights(coo.data[entries], int(entries.sum()))
    return Edges(coo.row[entries], coo.col[entries], w, matrix.shape[0], both=not symmetrise)
