"""SciPy sparse adjacency matrices."""

from __future__ import annotations

from typing import Any

from sepool.graph.edges import Edges
from sepool.graph.objects.numpy import matrix_edges


def from_scipy(matrix: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a sparse adjacency matrix; its row sums are the degrees."""
    if len(matrix.shape) != 2:
        raise ValueError(f"an adjacency matrix is square, got shape {matrix.shape}")
    coo = matrix.tocoo()
    return matrix_edges(coo.row, coo.col, coo.data, matrix.shape, symmetrise)
