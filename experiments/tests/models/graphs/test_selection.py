"""TopKPool and both SAGPools score nodes and keep the highest quarter, as PyG does."""

from __future__ import annotations

from math import ceil

import pytest
import torch
from experiments.tests.models.toys import (
    HIDDEN,
    batch_of,
    build,
    random_set,
    store_of,
    without_padding,
)
from torch_geometric import nn as pyg
from torch_geometric.utils import subgraph

from sepool_experiments.models.graphs.model import side_by_side, start
from sepool_experiments.models.parts.selection import induced_operator, top_nodes


@pytest.fixture
def case():
    store = store_of(random_set())
    batch, model = batch_of(store), build("TopKPool", store)
    x = start(model.convs[0], batch, relu=True)
    return batch, model, x, model.score(model.scores[0], x, batch.operators[0])


def select(batch, score, previous=None):
    return top_nodes(score, previous, batch.levels.graph_ptr(0), batch.levels.batch(0))


def test_keeps_the_quarter_with_the_highest_scores(case):
    batch, _, _, score = case
    once = select(batch, score)
    twice = select(batch, score, once)
    for begin, end in batch.levels.graph_ptr(0).unfold(0, 2, 1)[: batch.y.size(1)].tolist():
        mine, left, again = (t[begin:end] for t in (score, once.mask, twice.mask))
        assert left.sum() == ceil(0.25 * (end - begin))
        assert again.sum() == ceil(0.25 * int(left.sum()))
        assert not (again & ~left).any()
        if not left.all():
            assert mine[left].min() >= mine[~left].max()  # twins share a score


def test_equals_pyg_for_the_same_direction(case):
    batch, model, x, score = case
    plain, pool = without_padding(batch), pyg.TopKPooling(HIDDEN, ratio=0.25)
    pool.select.weight.data = model.scores[0].weight[0].t()
    nodes = len(plain.batch)
    pooled, _, _, _, perm, _ = pool(x[:nodes], plain.edges, batch=plain.batch)
    mask = select(batch, score).mask[:nodes]
    score = score[:nodes]
    torch.testing.assert_close(score[perm].sort().values, score[mask].sort().values)
    torch.testing.assert_close((x[:nodes] * score[:, None].tanh())[perm], pooled)


def test_next_convolution_sees_the_graph_between_kept_nodes(case):
    batch, model, x, score = case
    plain, conv = without_padding(batch), model.convs[1]
    mask = select(batch, score).mask | (score > 0)
    nodes = len(plain.batch)
    theirs = pyg.GCNConv(HIDDEN, HIDDEN)
    theirs.lin.weight.data, theirs.bias.data = conv.linear.weight[0].t(), conv.linear.bias[0]
    selected = mask[:nodes]
    edges, _ = subgraph(selected, plain.edges, relabel_nodes=True, num_nodes=nodes)
    expected = theirs(x[:nodes][selected], edges)
    out = conv(x * mask[:, None], induced_operator(batch.operators[0].adjacency, mask))
    torch.testing.assert_close(out[:nodes][selected], expected)


@pytest.mark.parametrize("name", ["SAGPool(G)", "SAGPool(H)"])
def test_scores_are_one_graph_convolution(name):
    store = store_of(random_set())
    batch, model = batch_of(store), build(name, store)
    if name == "SAGPool(G)":
        x, layer = side_by_side(model.convolve(batch)), model.score
    else:
        x, layer = start(model.convs[0], batch, relu=True), model.scores[0]
    score = layer(x, batch.operators[0]).squeeze(1)
    plain, pool = without_padding(batch), pyg.SAGPooling(x.size(1), 0.25, pyg.GCNConv)
    pool.gnn.lin.weight.data, pool.gnn.bias.data = layer.linear.weight[0].t(), layer.linear.bias[0]
    pool.select.weight.data.fill_(1.0)
    nodes = len(plain.batch)
    mask = top_nodes(score, None, batch.levels.graph_ptr(0), batch.levels.batch(0)).mask[:nodes]
    score = score[:nodes]
    torch.testing.assert_close(pool.gnn(x[:nodes], plain.edges)[:, 0], score)
    pooled, _, _, place, perm, _ = pool(x[:nodes], plain.edges, batch=plain.batch)
    torch.testing.assert_close(score[perm].sort().values, score[mask].sort().values)
    if name == "SAGPool(G)":
        expected = pyg.global_add_pool(pooled, place, plain.graphs)
        torch.testing.assert_close(model.embed(batch)[: plain.graphs], expected)
