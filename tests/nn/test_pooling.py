"""SEP and SEP-U against the formulas written with dense matrices."""

from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import (
    add_trees,
    dense_adjacency,
    dense_assignment,
    random_batch,
    random_graph,
)

from sepool.nn import Pooled, SEPooling, SEPUnpooling
from sepool.nn.pooling import readout as read_out
from sepool.pyg.hierarchy import hierarchy

KINDS = [{}, {"directed": True}, {"weighted": True}, {"loops": True}, {"shuffled": True}]
SEEDS = range(3)


def dense_pool(x, s, reduce):
    """Eq. 2, and its mean and maximum."""
    if reduce == "max":
        return torch.stack([x[members.bool()].amax(0) for members in s])
    return s @ x if reduce == "sum" else (s @ x) / s.sum(1, keepdim=True)


def to_dense(pooled: Pooled, size: int):
    weight = pooled.edge_weight
    weight = torch.ones(pooled.edge_index.size(1)) if weight is None else weight
    matrix = torch.zeros(size, size, dtype=torch.float64)
    return matrix.index_put_(tuple(pooled.edge_index), weight.double(), accumulate=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_pooled_features_and_gradients(options, reduce, seed):
    batch = random_batch(seed, **options)
    levels = hierarchy(batch)
    layer = SEPooling(reduce)
    x = batch.x.double().requires_grad_()
    for level in (1, 2, 3):
        s = dense_assignment(levels, level)
        found, wanted = layer(x, levels, level).x, dense_pool(x, s, reduce)
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
        cotangent = torch.randn_like(wanted)
        torch.testing.assert_close(
            torch.autograd.grad(found, x, cotangent)[0],
            torch.autograd.grad(wanted, x, cotangent)[0],
            rtol=0,
            atol=1e-12,
        )
        x = wanted.detach().requires_grad_()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_pooled_adjacency(options, seed):
    batch = random_batch(seed, **options)
    levels = hierarchy(batch)
    a, x = dense_adjacency(batch), batch.x
    for level in (1, 2, 3):
        s = dense_assignment(levels, level)
        a = s @ a @ s.t()
        weighted, binary = (SEPooling(pooled=p)(x, levels, level) for p in ("weighted", "binary"))
        torch.testing.assert_close(to_dense(weighted, len(a)), a, rtol=1e-6, atol=0)
        pattern = ((a > 0) & ~torch.eye(len(a), dtype=torch.bool)).double()
        assert torch.equal(to_dense(binary, len(a)), pattern)
        assert torch.equal(weighted.batch, binary.batch)
        x = weighted.x


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_unpooling(reduce):
    levels = hierarchy(random_batch(1))
    layer = SEPUnpooling(reduce)
    for level in (1, 2, 3):
        s = dense_assignment(levels, level)
        x = torch.randn(len(s), 4, dtype=torch.float64, requires_grad=True)
        wanted = s.t() @ (x if reduce == "sum" else x / s.sum(1, keepdim=True))
        found = layer(x, levels, level)
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
        cotangent = torch.randn_like(wanted)
        torch.testing.assert_close(
            torch.autograd.grad(found, x, cotangent), torch.autograd.grad(wanted, x, cotangent)
        )


def test_members_that_share_the_maximum_share_the_gradient():
    graph = random_graph(4, 0)
    levels = hierarchy(add_trees([graph], [(4, 1, 1, 1)])[0])
    x = torch.tensor([[2.0], [1.0], [2.0], [0.0]], requires_grad=True)
    SEPooling("max")(x, levels, 1).x.sum().backward()
    assert x.grad.flatten().tolist() == [0.5, 0, 0.5, 0]


@pytest.mark.parametrize("readout", ["sum", "mean"])
def test_read_out(readout):
    batch = random_batch(3)
    levels = hierarchy(batch)
    for level in range(4):
        x = torch.randn(levels.num_clusters(level), 2)
        parts = [x[levels.batch(level) == graph] for graph in range(batch.num_graphs)]
        wanted = torch.stack([getattr(part, readout)(0) for part in parts])
        torch.testing.assert_close(read_out(x, levels, level, readout), wanted)


def test_graphs_without_edges():
    graphs = [random_graph(n, n, share=0.0) for n in (1, 3)]
    batch = type(random_batch()).from_data_list(add_trees(graphs, [(1, 1, 1), (3, 2, 1)]))
    levels = hierarchy(batch)
    pooled = SEPooling()(batch.x, levels, 1)
    assert pooled.edge_index.shape == (2, 0)
    assert pooled.batch.tolist() == [0, 1, 1]
    assert SEPooling(pooled="binary")(batch.x, levels, 1).edge_index.shape == (2, 0)


def test_repr():
    assert repr(SEPooling()) == "SEPooling(reduce='sum', pooled='weighted')"
    assert repr(SEPooling("max", "binary")) == "SEPooling(reduce='max', pooled='binary')"
    assert repr(SEPUnpooling("mean")) == "SEPUnpooling(reduce='mean')"


def test_bad_input():
    batch = random_batch()
    levels = hierarchy(batch)
    with pytest.raises(ValueError, match="level must be 1 to 3, got 4"):
        SEPooling()(batch.x, levels, 4)
    with pytest.raises(ValueError, match="level must be 1 to 3, got 0"):
        SEPUnpooling()(batch.x, levels, 0)
    with pytest.raises(TypeError, match="level must be a whole number, got '1'"):
        SEPooling()(batch.x, levels, "1")
    with pytest.raises(ValueError, match=r"floating-point numbers, got torch.int64: x.float\(\)"):
        SEPooling()(batch.x.long(), levels, 1)
    with pytest.raises(TypeError, match=r"levels must be what sepool\.hierarchy\(data\) gives"):
        SEPooling()(batch.x, batch, 1)
    nodes, clusters = levels.num_clusters(0), levels.num_clusters(1)
    with pytest.raises(ValueError, match=f"x has {nodes} rows, but level 1 has {clusters} nodes"):
        SEPooling()(batch.x, levels, 2)
    with pytest.raises(ValueError, match=f"x has {nodes} rows, but level 1 has {clusters} nodes"):
        SEPUnpooling()(batch.x, levels, 1)
    with pytest.raises(ValueError, match="reduce must be one of sum, mean, max, sym, got 'median'"):
        SEPooling("median")
    with pytest.raises(ValueError, match="pooled must be one of weighted, binary, got 'dense'"):
        SEPooling(pooled="dense")
    with pytest.raises(ValueError, match="reduce must be one of sum, mean, got 'max'"):
        SEPUnpooling("max")
