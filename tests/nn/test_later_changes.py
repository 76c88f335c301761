"""Data that changed after its tree was added: what is still right, and what is refused."""

from __future__ import annotations

import copy

import pytest
import torch
from tests.nn.graphs import add_trees, random_batch, random_graph
from torch_geometric.utils import degree

from sepool.nn import SEPG, SEPN, SEPAutoencoder
from sepool.nn.convs import CONVS
from sepool.pyg.hierarchy import DIRECTED, SORTED, SYMMETRIC, hierarchy

MODELS = {
    "SEPG": lambda conv: SEPG(5, 8, 3, conv=conv),
    "SEPN": lambda conv: SEPN(5, 8, 3, conv=conv),
    "SEPAutoencoder": lambda conv: SEPAutoencoder(5, 8, conv=conv),
}


def walk(data) -> torch.Tensor:
    """The weights of ``D^-1 A``, which differ by direction."""
    row = data.edge_index[0]
    return 1 / degree(row, data.num_nodes)[row]


def tall_graph(**options):
    return add_trees([random_graph(20, 0, **options)], [(20, 8, 3, 1)])[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("name", MODELS)
def test_edges_in_another_order(name, conv, weighted):
    torch.manual_seed(0)
    data, model = tall_graph(weighted=weighted), MODELS[name](conv).double()
    data.x = data.x.double()
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(1))
    other = copy.copy(data)
    other.edge_index = data.edge_index[:, order]
    if weighted:
        other.edge_weight = data.edge_weight[order]
    torch.testing.assert_close(model(other), model(data), rtol=1e-5, atol=1e-5)


def test_a_batch_is_sorted_anew_where_one_graph_is_not():
    batch = random_batch()
    assert hierarchy(batch).edge_layout == SORTED
    batch.edge_index = batch.edge_index.roll(1, 1)  # the last edge comes first
    assert hierarchy(batch).edge_layout == SYMMETRIC


@pytest.mark.parametrize("name", MODELS)
def test_weights_that_go(name):
    model = MODELS[name]("GCN")
    data = tall_graph(weighted=True)
    del data.edge_weight
    with pytest.raises(ValueError, match="now there are none; add the trees after the last change"):
        model(data)


def test_weights_that_become_ones():
    data = tall_graph(weighted=True)
    data.edge_weight = torch.ones(data.num_edges)
    assert hierarchy(data).edge_layout == SORTED


def test_weights_that_change_places():
    data = tall_graph(weighted=True)
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))
    data.edge_weight = data.edge_weight[order]
    assert hierarchy(data).edge_layout == DIRECTED


def test_weights_of_one_are_as_none():
    data, model = tall_graph(), SEPN(5, 8, 3)
    wanted = model(data)
    data.edge_weight = torch.ones(data.num_edges)
    torch.testing.assert_close(model(data), wanted)


@pytest.mark.parametrize(("weighted", "same_sum"), [(True, False), (False, False), (False, True)])
@pytest.mark.parametrize("conv", ["GCN", "GraphSAGE", "ChebNet"])
def test_later_weights_are_seen_in_their_own_direction(conv, weighted, same_sum):
    torch.manual_seed(0)
    data, model = tall_graph(weighted=weighted), SEPN(5, 8, 3, conv=conv)
    data.edge_weight = walk(data) / (walk(data).mean() if same_sum else 1)
    told = copy.copy(data)
    told.tree = data.tree.clone()
    told.tree[1] = DIRECTED
    torch.testing.assert_close(model(data), model(told))


def test_weights_can_be_learned():
    torch.manual_seed(0)
    data, model = tall_graph(), SEPN(5, 8, 3).eval()
    data.edge_weight = weight = walk(data).requires_grad_()
    found = model(data)
    found.square().sum().backward()
    assert weight.grad.abs().sum() > 0
    with torch.no_grad():
        data.edge_weight = weight.detach()
        torch.testing.assert_close(model(data), found)


def test_rounded_weights_are_no_change():
    data = tall_graph(weighted=True)
    data.edge_weight = data.edge_weight.half()
    assert hierarchy(data).edge_layout == SORTED


def test_data_without_edges_as_such():
    data = tall_graph()
    del data.edge_index
    for make in MODELS.values():
        with pytest.raises(ValueError, match="the data has no edge_index"):
            make("GCN")(data)


@pytest.mark.parametrize("conv", CONVS)
def test_hierarchy_read_in_inference_mode_can_be_trained_with(conv):
    torch.manual_seed(0)
    data, model = tall_graph(directed=True), SEPN(5, 8, 3, conv=conv)
    wanted = model(data)
    with torch.inference_mode():
        levels = hierarchy(data)
        model(data, levels)
    out = model(data, levels)
    torch.testing.assert_close(out, wanted)
    out.square().sum().backward()
    assert any(parameter.grad.any() for parameter in model.parameters())
