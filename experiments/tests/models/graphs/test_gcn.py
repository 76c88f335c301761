"""GCN against PyG's convolutions and mean."""

from __future__ import annotations

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


def test_three_convolutions_side_by_side_and_their_mean():
    graphs = random_set()
    store = store_of(graphs)
    batch, model = batch_of(store), build("GCN", store)
    plain, x, found = without_padding(batch), torch.from_numpy(graphs.values), []
    for conv in model.convs:
        theirs = pyg.GCNConv(x.size(1), HIDDEN)
        theirs.lin.weight.data, theirs.bias.data = conv.linear.weight[0].t(), conv.linear.bias[0]
        x = theirs(x, plain.edges).relu()
        found.append(x)
    expected = pyg.global_mean_pool(torch.cat(found, 1), plain.batch, plain.graphs)
    torch.testing.assert_close(model.embed(batch)[: plain.graphs], expected)


def test_readout_can_be_changed():
    store = store_of(random_set())
    assert build("GCN", store).readout == "mean"
    assert build("GCN", store, extra=(("readout", "sum"),)).readout == "sum"
    with pytest.raises(ValueError, match="readout must be sum or mean, got 'max'"):
        build("GCN", store, readout="max")
