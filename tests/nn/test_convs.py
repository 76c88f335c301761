"""Convolutions of the models against PyG's layers, with weights, attributes and explainers."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import dense_adjacency, dense_assignment, gradients, random_batch
from torch.func import functional_call, grad, vmap
from torch_geometric.data import Data
from torch_geometric.explain import Explainer, GNNExplainer

from sepool.nn import SEPG, SEPN, SEPooling
from sepool.nn.adjacency import Adjacency
from sepool.nn.convs import CONVS, GCN, GIN, SAGE, LevelGraph, make_conv, run_conv
from sepool.pyg.hierarchy import hierarchy

GRAPHS = [
    {},
    {"shuffled": True},
    {"weighted": True},
    {"directed": True},
    {"directed": True, "weighted": True, "shuffled": True},
    {"loops": True, "weighted": True},
]


def with_attributes(width=3, **options):
    batch = random_batch(**options)
    batch.edge_attr = torch.randn(batch.num_edges, width)
    return batch


@pytest.mark.parametrize("widths", [(5, 8), (5, 2)], ids=str)
@pytest.mark.parametrize("options", GRAPHS, ids=str)
def test_gcn_on_an_adjacency_equals_gcn_conv(options, widths):
    torch.manual_seed(0)
    batch = random_batch(**options)
    conv, graph = GCN(*widths).double(), LevelGraph.of_nodes(batch, hierarchy(batch))
    x = batch.x.double().requires_grad_()
    weight = None if graph.edge_weight is None else graph.edge_weight.double()
    out, wanted = run_conv(conv, x, graph), conv(x, batch.edge_index, weight)
    torch.testing.assert_close(out, wanted, rtol=1e-6, atol=1e-6)
    mine, theirs = (gradients(y.square().sum(), x, *conv.parameters()) for y in (out, wanted))
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", GRAPHS, ids=str)
def test_adjacency_propagates_as_the_dense_matrix(options):
    batch = random_batch(**options)
    graph = LevelGraph.of_nodes(batch, hierarchy(batch))
    x = torch.randn(batch.num_nodes, 3, dtype=torch.float64, requires_grad=True)
    wanted = dense_adjacency(batch).t() @ x
    out = graph.adjacency.propagate(x)
    torch.testing.assert_close(out, wanted, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(
        gradients(out.pow(3).sum(), x), gradients(wanted.pow(3).sum(), x), rtol=1e-5, atol=1e-5
    )


def test_adjacency_of_learned_weights_has_their_gradient():
    batch = random_batch(weighted=True)
    weight = batch.edge_weight.double().requires_grad_()
    x = torch.randn(batch.num_nodes, 3, dtype=torch.float64)
    layout = hierarchy(batch).edge_layout

    def smooth(weight):
        a = Adjacency.from_edges(batch.edge_index, weight, batch.num_nodes, layout)
        return a.smooth(x)

    conv = GCN(3, 3, bias=False).double()
    conv.lin.weight.data.copy_(torch.eye(3))
    torch.testing.assert_close(smooth(weight), conv(x, batch.edge_index, weight))
    assert torch.autograd.gradcheck(smooth, weight)


def test_gin_with_weights_scales_messages():
    batch = random_batch(weighted=True)
    conv = GIN(5, 8)
    wanted = conv.nn(batch.x + dense_adjacency(batch).t().float() @ batch.x)
    torch.testing.assert_close(conv(batch.x, batch.edge_index, batch.edge_weight), wanted)
    plain = pyg.GINConv(conv.nn)(batch.x, batch.edge_index)
    torch.testing.assert_close(conv(batch.x, batch.edge_index), plain)


def test_sage_with_weights_takes_the_weighted_mean():
    batch = random_batch(weighted=True)
    conv, a = SAGE(5, 8), dense_adjacency(batch).t().float()
    mean = a @ batch.x / a.sum(1, keepdim=True).clamp(min=1e-12)
    wanted = conv.lin_l(mean) + conv.lin_r(batch.x)
    torch.testing.assert_close(conv(batch.x, batch.edge_index, batch.edge_weight), wanted)
    plain = pyg.SAGEConv(5, 8)
    plain.load_state_dict(conv.state_dict())
    torch.testing.assert_close(conv(batch.x, batch.edge_index), plain(batch.x, batch.edge_index))


@pytest.mark.parametrize("pooled", ["weighted", "binary"])
def test_pooled_edge_attributes_are_sums_over_the_edges_between_clusters(pooled):
    batch = with_attributes(loops=True)
    levels, x = hierarchy(batch), batch.x
    edges, attr = batch.edge_index, batch.edge_attr.double()
    for level in (1, 2, 3):
        s = dense_assignment(levels, level)
        dense = torch.zeros(s.size(1), s.size(1), 3, dtype=torch.float64)
        dense.index_put_(tuple(edges), attr.double(), accumulate=True)
        dense = torch.einsum("ai,ijk,bj->abk", s, dense, s)
        out = SEPooling(pooled=pooled)(x, levels, level, edges, attr)
        torch.testing.assert_close(out.edge_attr, dense[tuple(out.edge_index)])
        x, edges, attr = out.x, *(SEPooling()(x, levels, level, edges, attr)[i] for i in (1, 4))


def test_pooled_edge_attributes_without_edges_are_refused():
    batch = with_attributes()
    levels = hierarchy(batch)
    with pytest.raises(ValueError, match="pass edge_index"):
        SEPooling()(batch.x, levels, 1, edge_attr=batch.edge_attr)
    with pytest.raises(ValueError, match=r"got torch.int64: data.edge_attr.float\(\)"):
        SEPooling()(batch.x, levels, 1, batch.edge_index, batch.edge_attr.long())


def gine(before, after):
    return pyg.GINEConv(torch.nn.Linear(before, after), edge_dim=3)


def nnconv(before, after):
    return pyg.NNConv(before, after, torch.nn.Linear(3, before * after))


def gatv2(before, after):
    return pyg.GATv2Conv(before, after, edge_dim=3)


@pytest.mark.parametrize("model", [SEPG, SEPN])
@pytest.mark.parametrize("conv", [gine, nnconv, gatv2])
def test_edge_attributes_reach_convolutions_that_take_them(conv, model):
    torch.manual_seed(0)
    batch = with_attributes()
    batch.edge_attr.requires_grad_()
    model(5, 8, 2, conv=conv)(batch).square().sum().backward()
    assert batch.edge_attr.grad.abs().sum() > 0


def test_edge_attributes_without_edge_dim_are_ignored():
    batch, model = with_attributes(), SEPG(5, 8, 2, conv=pyg.GATv2Conv)
    plain = batch.clone()
    del plain.edge_attr
    assert torch.equal(model(batch), model(plain))


def test_missing_edge_attributes_are_named():
    def conv(before, after):
        class Needy(pyg.GCNConv):
            def forward(self, x, edge_index, edge_attr):
                return super().forward(x, edge_index)

        return Needy(before, after)

    with pytest.raises(ValueError, match=r"Needy needs edge attributes; set `data.edge_attr`"):
        SEPG(5, 8, 2, conv=conv)(random_batch())


class OnEdges(torch.nn.Module):
    """A model with PyG's signature, as explainers call it."""

    def __init__(self, model, data):
        super().__init__()
        self.model, self.data = model, data

    def forward(self, x, edge_index):
        data = Data(x=x, edge_index=edge_index, tree=self.data.tree)
        return self.model(data)


@pytest.mark.parametrize("conv", [*CONVS, pyg.GATv2Conv])
@pytest.mark.parametrize("model", [SEPG, SEPN])
def test_explainer_masks_the_edges_of_the_nodes(model, conv):
    torch.manual_seed(0)
    data = random_batch(num_graphs=1)[0]
    level = "graph" if model is SEPG else "node"
    explain = Explainer(
        OnEdges(model(5, 8, 2, conv=conv), data),
        GNNExplainer(epochs=5),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": level,
            "return_type": "raw",
        },
    )
    explanation = explain(data.x, data.edge_index)
    assert explanation.edge_mask.shape == (data.num_edges,)
    assert explanation.edge_mask.abs().sum() > 0


@pytest.mark.parametrize("conv", CONVS)
def test_models_have_second_derivatives(conv):
    torch.manual_seed(0)
    batch = random_batch()
    batch.x.requires_grad_()
    for model in (SEPG(5, 8, 2, conv=conv), SEPN(5, 8, 2, conv=conv)):
        (slope,) = torch.autograd.grad(model(batch).square().sum(), batch.x, create_graph=True)
        slope.square().sum().backward()
        assert any(p.grad is not None and p.grad.any() for p in model.parameters())


def test_per_graph_gradients_by_torch_func_agree_with_autograd():
    torch.manual_seed(0)
    data = random_batch(num_graphs=1)[0]
    model, levels = SEPG(5, 8, 2), hierarchy(data)
    parameters = dict(model.named_parameters())
    variants = torch.randn(3, *data.x.shape)

    def loss(parameters, x):
        other = Data(x=x, edge_index=data.edge_index, tree=data.tree)
        return functional_call(model, parameters, (other, levels)).square().sum()

    out = vmap(grad(loss), in_dims=(None, 0))(parameters, variants)
    for i, x in enumerate(variants):
        wanted = torch.autograd.grad(loss(parameters, x), list(parameters.values()))
        for mine, theirs in zip(out.values(), wanted, strict=True):
            torch.testing.assert_close(mine[i], theirs, rtol=1e-4, atol=1e-4)


def test_make_conv_exempts_pooled_levels_from_explanations():
    assert make_conv("GCN", 5, 8, level=1).explain is False
    assert make_conv("GCN", 5, 8).explain is None
