"""Weighted graphs of samples, from features, similarities or distances."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from sepool.arguments import whole_number

FEATURES, SIMILARITIES, DISTANCES = AFFINITIES = (
    "nearest_neighbors",
    "precomputed",
    "precomputed_nearest_neighbors",
)
_ROUNDING = 1e-8  # of the largest similarity: more than that is no rounding


class Options(Protocol):
    """The parameters of an estimator that its graph depends on."""

    affinity: str
    n_neighbors: int
    metric: Any
    n_jobs: int | None


def affinity_matrix(X: Any, options: Options) -> sparse.csr_array:  # noqa: N803
    """Return the symmetric matrix of the weights between samples.

    Args:
        X: features, similarities or distances; an array or a sparse matrix.
        options: the estimator.
    """
    if options.affinity == SIMILARITIES:
        return _symmetric(X)
    metric = "precomputed" if options.affinity == DISTANCES else options.metric
    search = NearestNeighbors(
        n_neighbors=_num_neighbors(options.n_neighbors, X.shape[0]),
        metric=metric,
        n_jobs=options.n_jobs,
    )
    directed = sparse.csr_array(search.fit(X).kneighbors_graph())
    return sparse.csr_array(directed + directed.T)


def _num_neighbors(n_neighbors: int, num_samples: int) -> int:
    """Return the number of neighbours, at most that of the other samples."""
    number = whole_number("n_neighbors", n_neighbors, 1)
    if number < num_samples:
        return number
    warnings.warn(
        f"n_neighbors={number}, but a sample has {num_samples - 1} others; all are its neighbours",
        UserWarning,
        stacklevel=4,
    )
    return num_samples - 1


def _symmetric(similarities: Any) -> sparse.csr_array:
    """Return similarities without rounding errors; fail if they differ by direction."""
    matrix = sparse.csr_array(similarities)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"affinity='precomputed' needs a square matrix of similarities, got shape "
            f"{matrix.shape}; pass features with affinity='nearest_neighbors'"
        )
    if matrix.nnz and matrix.data.min() < 0:
        raise ValueError(f"similarities must not be negative, got {matrix.data.min():g}")
    difference = abs(matrix - matrix.T).tocoo()
    if difference.nnz and difference.max() > _ROUNDING * matrix.max():
        largest = np.argmax(difference.data)
        i, j = int(difference.row[largest]), int(difference.col[largest])
        raise ValueError(
            f"similarities must be symmetric, got {matrix[i, j]:g} from {i} to {j} and "
            f"{matrix[j, i]:g} from {j} to {i}; pass (X + X.T) / 2"
        )
    return sparse.csr_array((matrix + matrix.T) / 2)
