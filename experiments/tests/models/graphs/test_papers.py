"""Models that pool once, against PyG's operators and by what their papers state."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from experiments.tests.models.toys import (
    HIDDEN,
    Dense,
    batch_of,
    build,
    graph_set,
    random_set,
    store_of,
    without_padding,
)
from torch_geometric import nn as pyg
from torch_geometric.nn.aggr.utils import MultiheadAttentionBlock

from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.graphs.gin import GIN
from sepool_experiments.models.graphs.gmt import HEADS, Attention
from sepool_experiments.models.graphs.model import side_by_side
from sepool_experiments.models.graphs.set2set import set2set
from sepool_experiments.models.graphs.sortpool import first_nodes

PTR, GRAPH = torch.tensor([0, 5, 7]), torch.tensor([0] * 5 + [1] * 2)


def test_gcn_is_the_mean_of_three_convolutions_side_by_side():
    graphs = random_set()
    store = store_of(graphs)
    batch, model = batch_of(store), build("GCN", store)
    plain, x, outputs = without_padding(batch), torch.from_numpy(graphs.values), []
    for conv in model.convs:
        theirs = pyg.GCNConv(x.size(1), HIDDEN)
        theirs.lin.weight.data, theirs.bias.data = conv.linear.weight[0].t(), conv.linear.bias[0]
        x = theirs(x, plain.edges).relu()
        outputs.append(x)
    expected = pyg.global_mean_pool(torch.cat(outputs, 1), plain.batch, plain.graphs)
    torch.testing.assert_close(model.embed(batch)[: plain.graphs], expected)


def test_gcn_readout_can_be_changed():
    store = store_of(random_set())
    assert build("GCN", store).readout == "mean"
    assert build("GCN", store, extra=(("readout", "sum"),)).readout == "sum"
    with pytest.raises(ValueError, match="readout must be sum or mean, got 'max'"):
        build("GCN", store, readout="max")


def test_gin_sums_tell_multisets_apart_that_means_cannot():
    """A triangle and two of them."""
    triangle = ~np.eye(3, dtype=bool)
    store = store_of(graph_set([triangle, np.kron(np.eye(2, dtype=bool), triangle)], [0, 1]), "GIN")
    for readout, same in ((None, False), ("mean", True)):
        model = build("GIN", store, readout=readout).eval()
        assert isinstance(model, GIN)
        one, two = model.embed(batch_of(store, [[0, 1]]))[:2]
        assert torch.allclose(one, two, atol=1e-6) == same


def test_gin_padding_changes_no_running_mean():
    store = store_of(random_set(), "GIN")
    ids = torch.tensor([[2, 3, 4]])
    means = []
    for spare in (0.0, 0.5):
        model = build("GIN", store)
        model(store.batch(ids, store.capacity(ids, spare)))
        means.append(torch.cat([buffer.flatten() for buffer in model.buffers()]))
    torch.testing.assert_close(*means)


def test_set2set_equals_pyg_for_the_same_weights():
    theirs, gates = pyg.aggr.Set2Set(4, processing_steps=3), Linear(12, 16)
    lstm = theirs.lstm
    gates.weight.data = torch.cat([lstm.weight_ih_l0, lstm.weight_hh_l0], 1).t().detach()
    gates.bias.data = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach()
    x, ptr = torch.randn(9, 4), torch.tensor([0, 2, 2, 9])
    graph = torch.tensor([0] * 2 + [2] * 7)
    out = set2set(x, ptr, graph, gates, steps=3)
    torch.testing.assert_close(out, theirs(x, graph, dim_size=3))
    order = torch.tensor([1, 0, *reversed(range(2, 9))])
    torch.testing.assert_close(set2set(x[order], ptr, graph, gates, steps=3), out)


def test_sortpool_equals_pyg():
    x = torch.randn(7, 3)
    out = first_nodes(x, x[:, -1], PTR, GRAPH, k=4)
    expected = pyg.aggr.SortAggregation(k=4)(x, GRAPH)
    torch.testing.assert_close(out.view(2, -1), expected)
    assert (out.view(2, 4, 3)[1, 2:] == 0).all()  # the second graph is too small


def test_sortpool_order_plays_no_role():
    x, order = torch.randn(7, 3), torch.tensor([3, 1, 4, 0, 2, 6, 5])
    out = first_nodes(x, x[:, 0], PTR, GRAPH, k=3)
    torch.testing.assert_close(first_nodes(x[order], x[order, 0], PTR, GRAPH, k=3), out)


def test_sortpool_gradient_goes_back_to_the_nodes_that_are_kept():
    x = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    key = torch.arange(7.0)
    assert torch.autograd.gradcheck(lambda x: first_nodes(x, key, PTR, GRAPH, 2), x)
    first_nodes(x, key, PTR, GRAPH, 2).sum().backward()
    assert x.grad.sum(1).tolist() == [0, 0, 0, 3, 3, 3, 3]


def block_of(mine: Attention, keys=True) -> MultiheadAttentionBlock:
    """PyG's block with the weights of ours; keys made elsewhere are taken as they are."""
    theirs = MultiheadAttentionBlock(HIDDEN, HEADS, layer_norm=False)

    def weight(layer):
        return layer.weight.detach().view(HIDDEN, HIDDEN).t(), layer.bias.detach().view(-1)

    same = torch.eye(HIDDEN), torch.zeros(HIDDEN)
    inputs = [weight(mine.query), *(weight(m) if keys else same for m in (mine.key, mine.value))]
    theirs.attn.in_proj_weight.data = torch.cat([w for w, _ in inputs])
    theirs.attn.in_proj_bias.data = torch.cat([b for _, b in inputs])
    theirs.attn.out_proj.weight.data, theirs.attn.out_proj.bias.data = weight(mine.out)
    theirs.lin.weight.data, theirs.lin.bias.data = weight(mine.last)
    return theirs


def test_gmt_attention_equals_pyg():
    mine, x, y = Attention(HIDDEN), torch.randn(3, 2, HIDDEN), torch.randn(3, 5, HIDDEN)
    torch.testing.assert_close(mine(x, y), block_of(mine)(x, y))
    with pytest.raises(ValueError, match="a multiple of 4 heads, got 6"):
        Attention(6)


def test_gmt_is_pooling_self_attention_pooling():
    store = store_of(random_set())
    batch, model = batch_of(store), build("GMT", store)
    seeds, last = model.seeds
    pool, between, join = model.pool, model.between, model.join
    x = model.narrow(side_by_side(model.convolve(batch))).relu()
    keys, values = (Dense.of(batch, conv(x, batch.operators[0])) for conv in (pool.key, pool.value))
    count = without_padding(batch).graphs
    first = block_of(pool, keys=False)
    out, _ = first.attn(seeds.expand(count, -1, -1), keys.x, values.x, ~keys.mask)
    out = out + seeds
    out = out + first.lin(out).relu()
    out = block_of(between)(out, out)
    out = block_of(join)(last.expand(count, -1, -1), out).squeeze(1)
    embedded = model.embed(batch)
    assert embedded.shape == (batch.levels.num_graphs, HIDDEN)
    torch.testing.assert_close(embedded[:count], out, atol=1e-5, rtol=1e-4)
