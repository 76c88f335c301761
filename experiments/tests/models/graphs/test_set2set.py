"""Set2Set against PyG's."""

from __future__ import annotations

import torch
from torch_geometric import nn as pyg

from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.graphs.set2set import look


def test_equals_pyg_for_the_same_weights():
    theirs, gates = pyg.aggr.Set2Set(4, processing_steps=3), Linear(12, 16)
    lstm = theirs.lstm
    gates.weight.data = torch.cat([lstm.weight_ih_l0, lstm.weight_hh_l0], 1).t().detach()
    gates.bias.data = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach()
    x, ptr = torch.randn(9, 4), torch.tensor([0, 2, 2, 9])
    graph = torch.tensor([0] * 2 + [2] * 7)
    found = look(x, ptr, graph, gates, steps=3)
    torch.testing.assert_close(found, theirs(x, graph, dim_size=3))
    order = torch.tensor([1, 0, *reversed(range(2, 9))])
    torch.testing.assert_close(look(x[order], ptr, graph, gates, steps=3), found)
