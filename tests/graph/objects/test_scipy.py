"""Sparse matrices of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sepool import as_graph


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "lil_array"])
def test_as_graph_matrix_row_sums_are_the_degrees(form):
    dense = np.array([[0, 2, 0.5], [2, 0, 0], [0.5, 0, 0]])
    assert as_graph(getattr(sparse, form)(dense)).degrees().tolist() == [2.5, 2, 0.5]


def test_as_graph_matrix_loop_adds_its_entry():
    matrix = sparse.csr_array(np.array([[3, 1], [1, 0]]))
    assert as_graph(matrix).degrees().tolist() == [1, 1]
    assert as_graph(matrix, self_loops=True).degrees().tolist() == [4, 1]


def test_as_graph_matrix_explicit_zeros_are_no_edges():
    matrix = sparse.coo_array(([0.0, 0.0, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    assert as_graph(matrix, weight=None).num_edges == 1
    assert as_graph(matrix.astype(bool)).num_edges == 1
