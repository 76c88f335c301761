"""Segment sums and adjacencies against loops and dense matrices."""

from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import (
    dense_adjacency,
    dense_assignment,
    random_batch,
    random_graph,
)

from sepool.pyg.hierarchy import DIRECTED, SORTED, SYMMETRIC, hierarchy
from sepool_experiments.layers.adjacency import (
    Adjacency,
    edge_dot,
    edge_softmax,
    pooled_adjacency,
    weighted_propagate,
)
from sepool_experiments.layers.segments import (
    as_factor,
    pool_max,
    pool_sum,
    segment_max,
    segment_sum,
    unpool,
)

# Clusters of 2, 0, 3 and 1 members.
PTR = torch.tensor([0, 2, 2, 5, 6])
ASSIGNMENT = torch.tensor([2, 0, 2, 3, 0, 2])
ORDER = torch.tensor([1, 4, 0, 2, 5, 3])
LAYOUTS = [
    ({}, SORTED),
    ({"shuffled": True}, SYMMETRIC),
    ({"weighted": True}, SORTED),
    ({"directed": True}, DIRECTED),
    ({"directed": True, "weighted": True, "shuffled": True}, DIRECTED),
    ({"loops": True, "weighted": True}, SORTED),
]


def adjacency_of(graph, layout):
    weight = graph.edge_weight.double() if "edge_weight" in graph else None
    return Adjacency.from_edges(graph.edge_index, weight, graph.num_nodes, layout)


def doubles(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1,)], ids=str)
def test_segment_sum_and_max_equal_loops(shape):
    x = torch.randn(6, *shape)
    actual, largest = segment_sum(x, PTR, ORDER), segment_max(x, PTR, ORDER)
    for cluster in range(4):
        members = x[cluster == ASSIGNMENT]
        torch.testing.assert_close(actual[cluster], members.sum(0))
        if len(members):
            assert torch.equal(largest[cluster], members.amax(0))


def test_pooling_passes_gradcheck_twice():
    x, p = doubles(6, 2), doubles(4, 2)
    assert torch.autograd.gradcheck(lambda x: pool_sum(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradcheck(lambda p: unpool(p, PTR, ASSIGNMENT, ORDER), p)
    assert torch.autograd.gradcheck(lambda x: pool_max(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradgradcheck(lambda x: pool_sum(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradgradcheck(lambda x: pool_max(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradgradcheck(lambda p: unpool(p, PTR, ASSIGNMENT, ORDER), p)


def test_pool_max_ties_infinities_and_nans_equal_amax():
    ptr, assignment = torch.tensor([0, 7, 9, 11, 13]), torch.tensor([0] * 7 + [1, 1, 2, 2, 3, 3])
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.1] * 7 + [-inf, -inf, -inf, 2.0, nan, 1.0])
    actual = pool_max(x.unsqueeze(1), ptr, assignment).flatten()
    expected = torch.stack([part.amax() for part in x.split(ptr.diff().tolist())])
    assert torch.equal(actual[:3], expected[:3])
    assert actual[3].isnan()
    assert expected[3].isnan()


def test_weighted_pool_sum_equals_sum_of_products():
    x, weight, assignment = doubles(6, 2), torch.rand(6), ASSIGNMENT.sort().values
    expected = pool_sum(x * as_factor(weight, x), PTR, assignment)
    torch.testing.assert_close(pool_sum(x, PTR, assignment, row_weight=weight), expected)
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert check(lambda x: pool_sum(x, PTR, assignment, None, weight), x)


@pytest.mark.parametrize(("options", "layout"), LAYOUTS, ids=str)
def test_propagate_equals_dense_product(options, layout):
    graph = random_graph(12, 0, **options)
    a, dense = adjacency_of(graph, layout), dense_adjacency(graph)
    x = doubles(12, 3)
    torch.testing.assert_close(a.propagate(x), dense.t() @ x)
    torch.testing.assert_close(a.degree().double(), dense.sum(0))
    assert torch.autograd.gradcheck(a.propagate, x)
    assert torch.autograd.gradgradcheck(a.propagate, x)
    wide = doubles(12, 2, 3)
    torch.testing.assert_close(a.propagate(wide)[:, 1], dense.t() @ wide[:, 1])


@pytest.mark.parametrize(("options", "layout"), LAYOUTS, ids=str)
def test_weighted_propagate_equals_dense_product(options, layout):
    graph = random_graph(8, 1, **options)
    a = adjacency_of(graph, layout)
    x, weight = doubles(8, 3), doubles(len(a.index))
    matrix = torch.zeros(8, 8, dtype=torch.float64).index_put((a.row, a.index), weight)
    torch.testing.assert_close(weighted_propagate(a, x, weight), matrix @ x)
    assert torch.autograd.gradcheck(lambda x, w: weighted_propagate(a, x, w), (x, weight))
    weights, tables = doubles(len(a.index), 2), doubles(8, 2, 3)
    actual = weighted_propagate(a, tables, weights)
    torch.testing.assert_close(actual[:, 0], weighted_propagate(a, tables[:, 0], weights[:, 0]))
    assert torch.autograd.gradcheck(lambda x, w: weighted_propagate(a, x, w), (tables, weights))


@pytest.mark.parametrize(("options", "layout"), LAYOUTS, ids=str)
def test_edge_dot_equals_gram_matrix(options, layout):
    a = adjacency_of(random_graph(8, 1, **options), layout)
    x = doubles(8, 3)
    torch.testing.assert_close(edge_dot(a, x), (x @ x.t())[a.row, a.index])
    assert torch.autograd.gradcheck(lambda x: edge_dot(a, x), x)


def test_edge_softmax_equals_softmax_of_rows():
    a = adjacency_of(random_graph(8, 2), SORTED)
    score = doubles(len(a.index))
    actual = edge_softmax(a, score)
    for node in range(8):
        torch.testing.assert_close(actual[a.row == node], score[a.row == node].softmax(0))
    assert torch.autograd.gradcheck(lambda s: edge_softmax(a, s), score)
    torch.testing.assert_close(edge_softmax(a, score + 1000), actual)
    both = torch.stack([score, -score], 1)
    torch.testing.assert_close(edge_softmax(a, both)[:, 1], edge_softmax(a, -score))


@pytest.mark.parametrize("options", [{}, {"directed": True}, {"weighted": True}], ids=str)
def test_pooled_adjacency_equals_dense_product(options):
    batch = random_batch(0, **options)
    levels = hierarchy(batch)
    s, x = dense_assignment(levels, 1), doubles(levels.num_clusters(1), 2)
    dense = s @ dense_adjacency(batch) @ s.t()
    actual = pooled_adjacency(levels, 1).propagate(x)
    torch.testing.assert_close(actual, dense.t() @ x, rtol=1e-6, atol=1e-6)
    pattern = (dense.fill_diagonal_(0) > 0).double()
    torch.testing.assert_close(
        pooled_adjacency(levels, 1, binary=True).propagate(x), pattern.t() @ x
    )


def test_propagate_without_edges_is_zero():
    a = Adjacency.from_edges(torch.empty(2, 0, dtype=torch.long), None, 3)
    x = torch.randn(3, 2, requires_grad=True)
    assert torch.equal(a.propagate(x), torch.zeros(3, 2))
    a.propagate(x).sum().backward()
    assert torch.equal(x.grad, torch.zeros(3, 2))
