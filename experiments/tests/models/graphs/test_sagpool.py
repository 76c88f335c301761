"""Both SAGPools score nodes with one graph convolution, as PyG does."""

from __future__ import annotations

import pytest
import torch
from experiments.tests.models.toys import batch_of, build, random_set, store_of, without_padding
from torch_geometric import nn as pyg

from sepool_experiments.models.graphs.model import side_by_side, start
from sepool_experiments.models.parts.selection import top_nodes


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
    score_there = score[:nodes]
    torch.testing.assert_close(pool.gnn(x[:nodes], plain.edges)[:, 0], score_there)
    pooled, _, _, place, perm, _ = pool(x[:nodes], plain.edges, batch=plain.batch)
    kept = top_nodes(score, None, batch.levels.graph_ptr(0), batch.levels.batch(0)).nodes[:nodes]
    torch.testing.assert_close(score_there[perm].sort().values, score_there[kept].sort().values)
    if name == "SAGPool(G)":
        expected = pyg.global_add_pool(pooled, place, plain.graphs)
        torch.testing.assert_close(model.embed(batch)[: plain.graphs], expected)
