"""SortPool: the order of the nodes is the order of their keys."""

from __future__ import annotations

import torch
from torch_geometric import nn as pyg

from sepool_experiments.models.graphs.sortpool import first_nodes

PTR, GRAPH = torch.tensor([0, 5, 7]), torch.tensor([0] * 5 + [1] * 2)


def test_equals_pyg():
    x = torch.randn(7, 3)
    found = first_nodes(x, x[:, -1], PTR, GRAPH, k=4)
    expected = pyg.aggr.SortAggregation(k=4)(x, GRAPH)
    torch.testing.assert_close(found.view(2, -1), expected)
    assert (found.view(2, 4, 3)[1, 2:] == 0).all()  # the second graph is too small


def test_order_plays_no_role():
    x, order = torch.randn(7, 3), torch.tensor([3, 1, 4, 0, 2, 6, 5])
    found = first_nodes(x, x[:, 0], PTR, GRAPH, k=3)
    torch.testing.assert_close(first_nodes(x[order], x[order, 0], PTR, GRAPH, k=3), found)


def test_gradient_goes_back_to_the_nodes_that_are_kept():
    x = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    key = torch.arange(7.0)
    assert torch.autograd.gradcheck(lambda x: first_nodes(x, key, PTR, GRAPH, 2), x)
    first_nodes(x, key, PTR, GRAPH, 2).sum().backward()
    assert x.grad.sum(1).tolist() == [0, 0, 0, 3, 3, 3, 3]
