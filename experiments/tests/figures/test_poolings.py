from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import TopKPooling, dense_diff_pool, dense_mincut_pool
from torch_geometric.utils import to_dense_adj

from sepool_experiments.figures.poolings import POOLINGS, ReplicatedGraph, SoftClusters
from sepool_experiments.figures.shapes import grid

REPLICAS, WIDTH = 3, 8


@pytest.fixture
def graph():
    return ReplicatedGraph.of(grid(4).data(), REPLICAS)


@pytest.fixture
def x():
    return torch.randn(REPLICAS * 16, WIDTH, generator=torch.Generator().manual_seed(0))


def test_replicated_graph_has_equal_blocks(graph):
    a = graph.operator.adjacency
    assert graph.by_replica(graph.x).shape == (3, 16, 2)
    assert graph.operator.node_term is None
    assert len(a.index) == 3 * (2 * 24 + 16)
    assert torch.equal(a.row // 16, a.index // 16)
    dense = torch.zeros(48, 48)
    dense[a.row, a.index] = a.weight
    assert torch.equal(dense, dense.T)
    assert torch.equal(dense[:16, :16], dense[16:32, 16:32])


@pytest.mark.parametrize("name", [name for name in POOLINGS if name != "SEP"])
def test_pooling_returns_all_rows(name, graph, x):
    pool = POOLINGS[name](WIDTH, 16, REPLICAS)
    back = pool(x, graph)
    assert back.shape == x.shape
    nonzero = graph.by_replica(back).abs().sum(2) > 0
    soft = isinstance(pool, SoftClusters)
    assert (nonzero.sum(1) == (16 if soft else 4)).all()
    assert (pool.auxiliary is not None) == soft
    back.sum().backward()
    assert all(p.grad is not None for p in pool.parameters())


def test_top_k_equals_pyg(graph, x):
    pool = POOLINGS["TopKPool"](WIDTH, 16, REPLICAS)
    back = graph.by_replica(pool(x, graph))
    edges = grid(4).data().edge_index
    for i in range(REPLICAS):
        theirs = TopKPooling(WIDTH, ratio=0.25)
        theirs.select.weight.data = pool.direction.weight[i].T.detach()
        x_kept, *_, nodes, _ = theirs(graph.by_replica(x)[i], edges)
        assert torch.allclose(back[i, nodes], x_kept, atol=1e-6)


def test_auxiliary_losses_equal_pyg(graph, x):
    dense = to_dense_adj(grid(4).data().edge_index)
    diff = POOLINGS["DiffPool"](WIDTH, 16, REPLICAS)
    diff(x, graph)
    scores = graph.by_replica(diff.conv(x, graph.operator))
    for i in range(REPLICAS):
        rows = graph.by_replica(x)[i : i + 1]
        *_, link, entropy = dense_diff_pool(rows, dense, scores[i : i + 1])
        assert torch.allclose(diff.auxiliary[i], link + entropy, atol=1e-5)
    cut = POOLINGS["MinCutPool"](WIDTH, 16, REPLICAS)
    cut(x, graph)
    scores = graph.by_replica(cut.linear(x))
    for i in range(REPLICAS):
        rows = graph.by_replica(x)[i : i + 1]
        *_, mincut, ortho = dense_mincut_pool(rows, dense, scores[i : i + 1])
        assert torch.allclose(cut.auxiliary[i], mincut + ortho, atol=1e-5)


def test_soft_clusters_unpool_by_assignment(graph, x):
    cut = POOLINGS["MinCutPool"](WIDTH, 16, REPLICAS)
    s = graph.by_replica(cut.linear(x).softmax(1))
    expected = s @ s.transpose(1, 2) @ graph.by_replica(x)
    assert torch.allclose(graph.by_replica(cut(x, graph)), expected, atol=1e-5)
