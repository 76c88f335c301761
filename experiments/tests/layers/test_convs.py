"""The five convolutions against PyG's, with equal weights."""

from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import gradients, random_graph
from torch_geometric import nn as pyg

from sepool.pyg.hierarchy import DIRECTED, SORTED, SYMMETRIC
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import AggregatingConv
from sepool_experiments.layers.convs import CONVS

IN, OUT = 5, 7
WIDTHS = [(5, 7), (7, 5)]


def copy(linear, weight, bias=None):
    """Copy PyG's weights and draw a nonzero bias for both."""
    linear.weight.data.copy_(weight.data.t())
    if bias is not None:
        linear.bias.data.copy_(bias.data.normal_())


def gcn(ours, a, b):
    theirs = pyg.GCNConv(a, b)
    copy(ours.linear, theirs.lin.weight, theirs.bias)
    return theirs, [theirs.lin.weight, theirs.bias]


def gin(ours, a, b):
    layers = torch.nn.Sequential(torch.nn.Linear(a, b), torch.nn.ReLU(), torch.nn.Linear(b, b))
    theirs = pyg.GINConv(layers)  # draws new weights
    copy(ours.first, layers[0].weight, layers[0].bias)
    copy(ours.second, layers[2].weight, layers[2].bias)
    return theirs, list(layers.parameters())


def sage(ours, a, b):
    theirs = pyg.SAGEConv(a, b)
    copy(ours.neighbours, theirs.lin_l.weight, theirs.lin_l.bias)
    copy(ours.root, theirs.lin_r.weight)
    return theirs, [theirs.lin_l.weight, theirs.lin_l.bias, theirs.lin_r.weight]


def cheb(ours, a, b):
    theirs = pyg.ChebConv(a, b, K=2)
    copy(ours.root, theirs.lins[0].weight, theirs.bias)
    copy(ours.laplacian, theirs.lins[1].weight)
    return theirs, [theirs.lins[0].weight, theirs.bias, theirs.lins[1].weight]


def gat(ours, a, b):
    theirs = pyg.GATConv(a, b)
    copy(ours.linear, theirs.lin.weight)
    scores = torch.stack([theirs.att_dst.flatten(), theirs.att_src.flatten()], 1)
    ours.score.weight.data.copy_(scores.data)
    ours.bias.data.copy_(theirs.bias.data.normal_())
    return theirs, [theirs.lin.weight, theirs.bias]


PYG = {"GCN": gcn, "GIN": gin, "GAT": gat, "ChebNet": cheb, "GraphSAGE": sage}
LAYOUTS = [
    ({}, SORTED),
    ({}, DIRECTED),
    ({"shuffled": True}, SYMMETRIC),
    ({"directed": True}, DIRECTED),
    ({"directed": True, "shuffled": True}, DIRECTED),
    ({"loops": True}, SORTED),
    ({"loops": True, "directed": True}, DIRECTED),
    ({"share": 0.0}, SORTED),
]


def parameters_of(name, ours):
    """Our parameters in the order of PyG's above."""
    if name == "GAT":
        return [ours.linear.weight, ours.bias]
    return [p for linear in ours.children() for p in linear.parameters()]


def compare(name, graph, layout, widths, **weights):
    ours = CONVS[name](*widths)
    theirs, expected_parameters = PYG[name](ours, *widths)
    x = torch.randn(graph.num_nodes, widths[0], requires_grad=True)
    weight = weights.get("edge_weight")
    adjacency = Adjacency.from_edges(graph.edge_index, weight, graph.num_nodes, layout)
    actual = ours(x, ours.prepare(adjacency))
    expected = theirs(x, graph.edge_index, **weights)
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=2e-6)
    cotangent = torch.randn_like(expected)
    actual_parameters = parameters_of(name, ours)
    from_ours = gradients((actual * cotangent).sum(), x, *actual_parameters)
    from_theirs = gradients((expected * cotangent).sum(), x, *expected_parameters)
    for ours_, theirs_ in zip(from_ours, from_theirs, strict=True):
        turned = theirs_ if ours_.shape == theirs_.shape and ours_ is from_ours[0] else theirs_.t()
        torch.testing.assert_close(ours_, turned, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize(("options", "layout"), LAYOUTS, ids=str)
@pytest.mark.parametrize("name", CONVS)
def test_conv_equals_pyg(name, options, layout, widths):
    torch.manual_seed(0)
    compare(name, random_graph(20, 1, **options), layout, widths)


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("options", [{}, {"directed": True}, {"loops": True}], ids=str)
@pytest.mark.parametrize("name", ["GCN", "ChebNet"])
def test_weighted_conv_equals_pyg(name, options, widths):
    torch.manual_seed(0)
    graph = random_graph(20, 2, weighted=True, **options)
    layout = DIRECTED if options.get("directed") else SORTED
    compare(name, graph, layout, widths, edge_weight=graph.edge_weight)


def test_gcn_gradient_of_edge_weights_equals_pyg():
    graph = random_graph(20, 3, weighted=True)
    ours = CONVS["GCN"](IN, OUT)
    theirs, _ = gcn(ours, IN, OUT)
    weight = graph.edge_weight.requires_grad_()
    adjacency = Adjacency.from_edges(graph.edge_index, weight, 20, SORTED)
    actual = ours(graph.x, ours.prepare(adjacency)).square().sum()
    expected = theirs(graph.x, graph.edge_index, weight).square().sum()
    torch.testing.assert_close(
        torch.autograd.grad(actual, weight),
        torch.autograd.grad(expected, weight),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("name", ["GCN", "GIN", "ChebNet", "GraphSAGE"])
def test_aggregate_depends_on_no_weights(name):
    graph = random_graph(20, 4)
    conv = CONVS[name](IN, OUT)
    operator = conv.prepare(Adjacency.from_edges(graph.edge_index, None, 20, SORTED))
    aggregated = CONVS[name](1, 1).aggregate(graph.x, operator)
    assert isinstance(conv, AggregatingConv)
    torch.testing.assert_close(conv.update(aggregated), conv(graph.x, operator))


@pytest.mark.parametrize("name", CONVS)
@pytest.mark.parametrize("shared", [True, False])
def test_replicas_side_by_side_equal_single_layers(name, shared):
    torch.manual_seed(0)
    graph = random_graph(20, 5, directed=True)
    many = CONVS[name](IN, OUT, replicas=3)
    operator = many.prepare(Adjacency.from_edges(graph.edge_index, None, 20, DIRECTED))
    x = torch.randn(20, 1 if shared else 3, IN, requires_grad=True)
    out = many(x, operator)
    assert out.shape == (20, 3, OUT)
    cotangent = torch.randn_like(out)
    grads = gradients((out * cotangent).sum(), x, *many.parameters())
    x_grads = []
    for r in range(3):
        one = CONVS[name](IN, OUT)
        for mine, theirs in zip(one.parameters(), many.parameters(), strict=True):
            mine.data.copy_(theirs.data[r])
        alone = x[:, 0 if shared else r].detach().requires_grad_()
        actual = one(alone, operator)
        torch.testing.assert_close(actual, out[:, r], rtol=1e-5, atol=1e-6)
        mine = gradients((actual * cotangent[:, r]).sum(), alone, *one.parameters())
        x_grads.append(mine[0])
        for a, b in zip(mine[1:], grads[1:], strict=True):
            torch.testing.assert_close(a, b[r], rtol=1e-5, atol=1e-5)
    expected = sum(x_grads).unsqueeze(1) if shared else torch.stack(x_grads, 1)
    torch.testing.assert_close(grads[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CONVS)
def test_conv_of_strided_edges_equals_contiguous(name):
    pairs = torch.tensor([[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 3], [3, 2]])
    weights = torch.rand(8, 2)
    conv, x = CONVS[name](3, 4), torch.randn(4, 3)
    actual = [
        conv(x, conv.prepare(Adjacency.from_edges(edges, weight, 4, SORTED)))
        for edges, weight in (
            (pairs.t(), weights[:, 0]),
            (pairs.t().contiguous(), weights[:, 0].contiguous()),
        )
    ]
    assert torch.equal(*actual)
