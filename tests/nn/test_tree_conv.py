"""TreeConv: dense formula, gradients, reach, batches, stacks, bad input."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import add_trees, dense_adjacency, dense_assignment, random_batch, random_graph

import sepool
from sepool.nn import TreeConv, level_graphs
from sepool.nn.convs import CONVS


def dense_gcn(conv, a, x):
    """GCN with a loop added to the nodes that have none."""
    a = a.t() + torch.diag((a.diagonal() == 0).double())
    scale = a.sum(1).clamp(min=1e-12).rsqrt()
    return (scale[:, None] * a * scale) @ x @ conv.lin.weight.t() + conv.bias


def dense_tree_conv(conv, batch, levels, x, reduce):
    """The formula of the docstring, on dense matrices."""
    a, states = dense_adjacency(batch), [x]
    nodes = dense_gcn(conv.convs[0], a, x)
    for level in range(1, conv.height + 1):
        s = dense_assignment(levels, level)
        a = s @ a @ s.t()
        sizes = s.sum(1, keepdim=True)
        up = {"sum": s, "mean": s / sizes, "sym": s / sizes.sqrt()}[reduce]
        pooled = up @ (states[-1].relu() if level > 1 else x)
        states.append(conv.norms[level - 1](dense_gcn(conv.convs[level], a, pooled)))
    states[0] = nodes
    for level in range(conv.height, 0, -1):
        lifted = dense_assignment(levels, level).t() @ states[level]
        states[level - 1] = states[level - 1] + lifted * conv.scales[level - 1]
    return states[0]


@pytest.mark.parametrize("options", [{}, {"weighted": True, "directed": True}], ids=str)
@pytest.mark.parametrize("reduce", ["sum", "mean", "sym"])
@pytest.mark.parametrize("height", [0, 1, 3])
def test_tree_conv_forward_is_the_dense_formula(height, reduce, options):
    torch.manual_seed(0)
    batch = random_batch(**options)
    levels, conv = sepool.hierarchy(batch), TreeConv(5, 4, height, reduce=reduce).double()
    for parameter in conv.parameters():
        torch.nn.init.normal_(parameter)
    weight = batch.edge_weight.double() if "edge_weight" in batch else None
    x = batch.x.double()
    out = conv(x, levels, batch.edge_index, weight)
    # pooled weights of a hierarchy are stored in single precision
    torch.testing.assert_close(
        out, dense_tree_conv(conv, batch, levels, x, reduce), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("conv", [*CONVS, pytest.param(pyg.GATv2Conv, id="GATv2Conv")])
def test_tree_conv_height_zero_is_the_bare_conv(conv):
    torch.manual_seed(0)
    batch = random_batch()
    layer = TreeConv(5, 4, 0, conv=conv)
    out = layer(batch.x, None, batch.edge_index)
    torch.testing.assert_close(out, layer.convs[0](batch.x, batch.edge_index))


@pytest.mark.parametrize("conv", ["GCN", "GraphSAGE"])
def test_tree_conv_gradients_pass_gradcheck(conv):
    torch.manual_seed(0)
    batch = random_batch(num_graphs=2)
    levels, layer = sepool.hierarchy(batch), TreeConv(5, 3, conv=conv).double()
    graphs = level_graphs(batch, levels)
    x = batch.x.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: layer(x, levels, graphs), x)


def test_tree_conv_one_layer_reaches_all_nodes_of_a_graph_and_no_other():
    torch.manual_seed(0)
    batch = random_batch(num_graphs=3)
    levels, layer = sepool.hierarchy(batch), TreeConv(5, 16)
    x = batch.x.clone().requires_grad_()
    layer(x, levels, batch.edge_index)[0].square().sum().backward()
    assert torch.equal(x.grad.abs().sum(1) > 0, batch.batch == 0)


@pytest.mark.parametrize("conv", CONVS)
def test_tree_conv_batch_is_its_graphs(conv):
    torch.manual_seed(0)
    batch, layer = random_batch(weighted=True), TreeConv(5, 4, conv=conv)
    alone = [
        layer(data.x, sepool.hierarchy(data), data.edge_index, data.edge_weight)
        for data in batch.to_data_list()
    ]
    together = layer(batch.x, sepool.hierarchy(batch), batch.edge_index, batch.edge_weight)
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("conv", CONVS)
def test_tree_conv_graphs_of_a_stack_give_the_result_of_edges(conv):
    torch.manual_seed(0)
    batch = random_batch(weighted=True)
    levels, layer = sepool.hierarchy(batch), TreeConv(5, 4, conv=conv, pooled="binary")
    graphs = level_graphs(batch, levels, pooled="binary")
    out = layer(batch.x, levels, batch.edge_index, batch.edge_weight)
    torch.testing.assert_close(layer(batch.x, levels, graphs), out, rtol=1e-5, atol=1e-5)


def test_tree_conv_returns_the_clusters_of_every_level():
    batch = random_batch()
    levels, layer = sepool.hierarchy(batch), TreeConv(5, 4)
    x, clusters = layer(batch.x, levels, batch.edge_index, return_clusters=True)
    assert torch.equal(x, layer(batch.x, levels, batch.edge_index))
    assert [len(state) for state in clusters] == [levels.num_clusters(i) for i in (1, 2, 3)]


def test_tree_conv_edge_attributes_are_pooled():
    torch.manual_seed(0)
    batch = random_batch()
    levels, attr = sepool.hierarchy(batch), torch.rand(batch.num_edges, 2)
    layer = TreeConv(5, 4, conv=lambda a, b: pyg.GATv2Conv(a, b, edge_dim=2))
    out = layer(batch.x, levels, batch.edge_index, edge_attr=attr)
    assert not torch.allclose(layer(batch.x, levels, batch.edge_index, edge_attr=2 * attr), out)


def test_tree_conv_bad_input_is_refused_in_one_line():
    batch = random_batch()
    levels, layer = sepool.hierarchy(batch), TreeConv(5, 4)
    other = sepool.hierarchy(random_batch(9, num_graphs=2))
    [low] = add_trees([random_graph(8, 0)], [(8, 3, 1)])
    edges, rows = batch.edge_index, batch.num_nodes
    for error, message, args in (
        (TypeError, r"levels must be what sepool.hierarchy\(data\) gives", (batch.x, None, edges)),
        (ValueError, r"add trees with AddCodingTree\(height=3\)",
         (low.x, sepool.hierarchy(low), low.edge_index)),
        (ValueError, rf"x has {rows} rows, but the trees have", (batch.x, other, edges)),
        (ValueError, r"x must have the shape \(nodes, 5\)", (batch.x[:, :3], levels, edges)),
        (ValueError, r"x must hold floating-point numbers", (batch.x.long(), levels, edges)),
        (ValueError, r"graphs of the levels 0 to 3, got 1",
         (batch.x, levels, level_graphs(batch, levels, 0))),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            layer(*args)
    for options, message in (
        ({"height": -1}, "height must be at least 0, got -1"),
        ({"reduce": "median"}, "reduce must be one of sum, mean, max, sym, got 'median'"),
        ({"pooled": "dense"}, "pooled must be one of weighted, binary, got 'dense'"),
        ({"conv": "MLP"}, "conv must be one of GCN, GIN, GAT, ChebNet, GraphSAGE"),
    ):
        with pytest.raises(ValueError, match=message):
            TreeConv(5, 4, **options)
