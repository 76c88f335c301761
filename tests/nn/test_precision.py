"""Models and layers in the precision of their features, whatever that of weights and factors."""

from __future__ import annotations

import copy

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import dense_assignment, random_batch

from sepool.nn import SEPG, SEPN, SEPAutoencoder, SEPGraphNet, SEPooling
from sepool.nn.convs import CONVS
from sepool.pyg.hierarchy import hierarchy

MODELS = {
    "SEPG": lambda conv: SEPG(5, 8, 3, conv=conv),
    "SEPG with norm": lambda conv: SEPG(5, 8, 3, conv=conv, norm=True, reduce="max"),
    "SEPN": lambda conv: SEPN(5, 8, 3, conv=conv),
    "SEPN with sym": lambda conv: SEPN(5, 8, 3, conv=conv, reduce="sym", smooth=1, propagate=1),
    "SEPGraphNet": lambda conv: SEPGraphNet(5, 8, 3, conv=conv, level_readout="gated"),
    "SEPAutoencoder": lambda conv: SEPAutoencoder(5, 8, conv=conv),
}
foreign = pytest.param(pyg.GraphConv, id="GraphConv")


def in_type(batch, dtype):
    found = copy.copy(batch)
    found.x = batch.x.to(dtype)
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("conv", [*CONVS, foreign])
@pytest.mark.parametrize("name", MODELS)
def test_half_precision(name, conv, weighted):
    torch.manual_seed(0)
    batch, dtype = random_batch(weighted=weighted), torch.bfloat16
    model = MODELS[name](conv).eval()
    short = copy.deepcopy(model).to(dtype)
    found, wanted = short(in_type(batch, dtype)), model(batch)
    assert found.dtype == dtype
    assert (found - wanted).abs().max() < 0.1 * wanted.abs().max()
    short.train()(in_type(batch, dtype)).sum().backward()


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("conv", [*CONVS, foreign])
def test_edge_weights_of_another_type(conv, dtype):
    torch.manual_seed(0)
    batch = random_batch(weighted=True)
    batch.edge_weight = torch.full((batch.num_edges,), 2.0)
    other = copy.copy(batch)
    other.edge_weight = batch.edge_weight.to(dtype)
    for name in ("SEPG", "SEPN", "SEPAutoencoder"):
        model = MODELS[name](conv)
        torch.testing.assert_close(model(other), model(batch))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_symmetric_pooling_is_in_the_type_of_the_features(dtype):
    batch = random_batch()
    levels = hierarchy(batch)
    s = dense_assignment(levels, 1)
    wanted = (s / s.sum(1, keepdim=True).sqrt()) @ batch.x.to(dtype).double()
    found = SEPooling("sym")(batch.x.to(dtype), levels, 1).x
    assert found.dtype == dtype
    near = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(found, wanted.to(dtype), rtol=near, atol=near)


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("name", MODELS)
def test_training_under_autocast(name, conv):
    torch.manual_seed(0)
    batch, model = random_batch(weighted=True), MODELS[name](conv)
    with torch.autocast("cpu", torch.bfloat16):
        found = model(batch)
    assert found.dtype == torch.bfloat16
    found.float().square().mean().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
