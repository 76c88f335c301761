"""Tensors that are adjacency matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.shapes import same

from sepool import as_graph

torch = pytest.importorskip("torch")

DENSE = torch.tensor(
    [[3, 2, 0.5, 0], [2, 0, 0, 0], [0.5, 0, 0, 1], [0, 0, 1, 0]], dtype=torch.float64
)
LAYOUTS = {
    "coo": DENSE.to_sparse(),
    "csr": DENSE.to_sparse_csr(),
    "csc": DENSE.to_sparse_csc(),
    "bsr": DENSE.to_sparse_bsr((2, 2)),
    "dense": DENSE,
    "with gradient": DENSE.clone().requires_grad_().to_sparse(),
    "half": DENSE.bfloat16().to_sparse(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_graph_tensor_equals_the_matrix_of_scipy(layout):
    expected = sparse.csr_array(DENSE.numpy())
    for loops in (False, True):
        read = as_graph(LAYOUTS[layout], self_loops=loops)
        assert same(read, as_graph(expected, self_loops=loops))
    assert same(as_graph(adjacency=LAYOUTS[layout]), as_graph(expected))


def test_as_graph_tensor_entries_that_repeat_add_up():
    index = torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]])
    matrix = torch.sparse_coo_tensor(index, torch.tensor([1.0, 2, 2, 1]), (2, 2))
    assert as_graph(matrix).degrees().tolist() == [3, 3]


def test_as_graph_tensor_that_is_not_symmetric_needs_symmetrise():
    matrix = torch.tensor([[0.0, 1], [0, 0]]).to_sparse()
    with pytest.raises(ValueError, match=r"directed.*symmetrise=True"):
        as_graph(matrix)
    assert as_graph(matrix, symmetrise=True).total_volume == 2


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.long), r"from Tensor of shape \(2, 3\).*edge_index\.T"),
        (torch.zeros(5), r"from Tensor of shape \(5,\)|could hold edges"),
        (torch.ones(3, 3), r"could hold edges or be an adjacency matrix; pass as_graph\(edges="),
        (torch.ones(2, 3).to_sparse(), r"square, got shape \(2, 3\)"),
        (torch.ones(2, 2, 2).to_sparse(), r"square, got shape \(2, 2, 2\)"),
        (DENSE.to(torch.complex64).to_sparse(), "edge weights must be real numbers"),
        (-DENSE.to_sparse(), "weight -3"),
    ],
)
def test_as_graph_tensor_of_another_form_is_refused(tensor, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_graph(tensor)


def test_as_graph_edges_takes_tensors():
    edges = torch.tensor([[0, 1], [1, 2]])
    assert as_graph(edges=edges).degrees().tolist() == [1, 2, 1]
    assert as_graph(edges=edges.T).num_edges == 2
    weighted = as_graph(edges=(edges, torch.tensor([0.5, 1])))
    assert weighted.degrees().tolist() == [0.5, 1.5, 1]
    assert same(weighted, as_graph(edges=(edges.numpy(), np.array([0.5, 1]))))
