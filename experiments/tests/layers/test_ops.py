"""Sorted sums against plain loops and dense matrices."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from experiments.tests.layers.graphs import (  # noqa: E402
    dense_adjacency,
    dense_assignment,
    random_batch,
    random_graph,
)

from sepool.nn.adjacency import (  # noqa: E402
    Adjacency,
    attend,
    dot_ends,
    edge_softmax,
    pooled_adjacency,
)
from sepool.nn.ops import (  # noqa: E402
    pool_along,
    pool_max,
    pool_relu,
    pool_sum,
    rows_like,
    segment_max,
    segment_sum,
    unpool,
)
from sepool.pyg.hierarchy import DIRECTED, SORTED, SYMMETRIC, hierarchy  # noqa: E402

# Clusters of 2, 0, 3 and 1 members.
PTR = torch.tensor([0, 2, 2, 5, 6])
ASSIGNMENT = torch.tensor([2, 0, 2, 3, 0, 2])
ORDER = torch.tensor([1, 4, 0, 2, 5, 3])
KINDS = [
    ({}, SORTED),
    ({"shuffled": True}, SYMMETRIC),
    ({"weighted": True}, SORTED),
    ({"directed": True}, DIRECTED),
    ({"directed": True, "weighted": True, "shuffled": True}, DIRECTED),
    ({"loops": True, "weighted": True}, SORTED),
]


def adjacency_of(graph, kind):
    weight = graph.edge_weight.double() if "edge_weight" in graph else None
    return Adjacency.from_edges(graph.edge_index, weight, graph.num_nodes, kind)


def doubles(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("used", ["both", "rows", "sums"])
def test_pooling_along(used):
    """The rows to go on with and their sums, with the gradients of both or of one."""
    x = doubles(6, 3)
    ptr, assignment = torch.tensor([0, 2, 2, 6]), torch.tensor([0, 0, 2, 2, 2, 2])
    rows, sums = pool_along(x, ptr, assignment)
    expected = torch.zeros(3, 3, dtype=x.dtype).index_add(0, assignment, x)
    assert torch.equal(rows, x)
    torch.testing.assert_close(sums, expected)

    def loss(rows, sums):
        parts = {"rows": rows.pow(3).sum(), "sums": sums.pow(2).sum()}
        return sum(parts.values()) if used == "both" else parts[used]

    found, wanted = (
        torch.autograd.grad(loss(*both), x)[0] for both in ((rows, sums), (x, expected))
    )
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1,)], ids=str)
def test_segments(shape):
    x = torch.randn(6, *shape)
    found, largest = segment_sum(x, PTR, ORDER), segment_max(x, PTR, ORDER)
    for cluster in range(4):
        members = x[cluster == ASSIGNMENT]
        torch.testing.assert_close(found[cluster], members.sum(0))
        if len(members):
            assert torch.equal(largest[cluster], members.amax(0))


def test_gradcheck_of_pooling():
    x, p = doubles(6, 2), doubles(4, 2)
    assert torch.autograd.gradcheck(lambda x: pool_sum(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradcheck(lambda p: unpool(p, PTR, ASSIGNMENT, ORDER), p)
    assert torch.autograd.gradcheck(lambda x: pool_max(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradgradcheck(lambda x: pool_sum(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradgradcheck(lambda x: pool_max(x, PTR, ASSIGNMENT, ORDER), x)
    assert torch.autograd.gradgradcheck(lambda p: unpool(p, PTR, ASSIGNMENT, ORDER), p)


def test_the_largest_is_one_of_the_members():
    """Also where many share it, and where it is no finite number."""
    ptr, assignment = torch.tensor([0, 7, 9, 11, 13]), torch.tensor([0] * 7 + [1, 1, 2, 2, 3, 3])
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.1] * 7 + [-inf, -inf, -inf, 2.0, nan, 1.0])
    found = pool_max(x.unsqueeze(1), ptr, assignment).flatten()
    wanted = torch.stack([part.amax() for part in x.split(ptr.diff().tolist())])
    assert torch.equal(found[:3], wanted[:3])
    assert found[3].isnan()
    assert wanted[3].isnan()


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_pooling_of_the_positive_part(shape, counted):
    x = torch.randn(6, *shape, requires_grad=True)
    if counted:  # rows that stand for several nodes are sorted
        times, assignment = torch.randint(1, 4, (6,)).float(), ASSIGNMENT.sort().values
        wanted = pool_sum(x.relu() * rows_like(times, x), PTR, assignment)
        found = pool_relu(x, PTR, assignment, times=times)
    else:
        wanted = pool_sum(x.relu(), PTR, ASSIGNMENT, ORDER)
        found = pool_relu(x, PTR, ASSIGNMENT, ORDER)
    torch.testing.assert_close(found, wanted)
    cotangent = torch.randn_like(wanted)
    torch.testing.assert_close(
        torch.autograd.grad(found, x, cotangent), torch.autograd.grad(wanted, x, cotangent)
    )


@pytest.mark.parametrize(("options", "kind"), KINDS, ids=str)
def test_propagation(options, kind):
    graph = random_graph(12, 0, **options)
    a, dense = adjacency_of(graph, kind), dense_adjacency(graph)
    x = doubles(12, 3)
    torch.testing.assert_close(a @ x, dense.t() @ x)
    torch.testing.assert_close(a.degree().double(), dense.sum(0))
    assert torch.autograd.gradcheck(a.propagate, x)
    assert torch.autograd.gradgradcheck(a.propagate, x)
    wide = doubles(12, 2, 3)
    torch.testing.assert_close((a @ wide)[:, 1], dense.t() @ wide[:, 1])


@pytest.mark.parametrize(("options", "kind"), KINDS, ids=str)
def test_attention(options, kind):
    graph = random_graph(8, 1, **options)
    a = adjacency_of(graph, kind)
    x, weight = doubles(8, 3), doubles(len(a.index))
    matrix = torch.zeros(8, 8, dtype=torch.float64).index_put((a.row, a.index), weight)
    torch.testing.assert_close(attend(a, x, weight), matrix @ x)
    assert torch.autograd.gradcheck(lambda x, w: attend(a, x, w), (x, weight))
    weights, tables = doubles(len(a.index), 2), doubles(8, 2, 3)
    found = attend(a, tables, weights)
    torch.testing.assert_close(found[:, 0], attend(a, tables[:, 0], weights[:, 0]))
    assert torch.autograd.gradcheck(lambda x, w: attend(a, x, w), (tables, weights))


@pytest.mark.parametrize(("options", "kind"), KINDS, ids=str)
def test_products_of_ends(options, kind):
    a = adjacency_of(random_graph(8, 1, **options), kind)
    x = doubles(8, 3)
    torch.testing.assert_close(dot_ends(a, x), (x @ x.t())[a.row, a.index])
    assert torch.autograd.gradcheck(lambda x: dot_ends(a, x), x)


def test_weights_that_want_a_gradient_get_one():
    graph = random_graph(8, 1)
    a = adjacency_of(graph, SORTED)
    x, weight = doubles(8, 3), doubles(len(a.index))
    assert torch.autograd.gradcheck(lambda x, w: a.weighted(w).propagate(x), (x, weight))


def test_softmax_over_rows():
    a = adjacency_of(random_graph(8, 2), SORTED)
    score = doubles(len(a.index))
    found = edge_softmax(a, score)
    for node in range(8):
        torch.testing.assert_close(found[a.row == node], score[a.row == node].softmax(0))
    assert torch.autograd.gradcheck(lambda s: edge_softmax(a, s), score)
    torch.testing.assert_close(edge_softmax(a, score + 1000), found)
    both = torch.stack([score, -score], 1)
    torch.testing.assert_close(edge_softmax(a, both)[:, 1], edge_softmax(a, -score))


@pytest.mark.parametrize("options", [{}, {"directed": True}, {"weighted": True}], ids=str)
def test_pooled_adjacency(options):
    batch = random_batch(0, **options)
    levels = hierarchy(batch)
    s, x = dense_assignment(levels, 1), doubles(levels.num_clusters(1), 2)
    dense = s @ dense_adjacency(batch) @ s.t()
    found = pooled_adjacency(levels, 1).propagate(x)
    torch.testing.assert_close(found, dense.t() @ x, rtol=1e-6, atol=1e-6)
    pattern = (dense.fill_diagonal_(0) > 0).double()
    torch.testing.assert_close(pooled_adjacency(levels, 1, binary=True) @ x, pattern.t() @ x)


def test_nothing_to_sum():
    a = Adjacency.from_edges(torch.empty(2, 0, dtype=torch.long), None, 3)
    x = torch.randn(3, 2, requires_grad=True)
    assert torch.equal(a @ x, torch.zeros(3, 2))
    (a @ x).sum().backward()
    assert torch.equal(x.grad, torch.zeros(3, 2))
