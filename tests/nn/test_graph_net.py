"""SEPGraphNet: tasks, readouts, the stack without a tree, bad input."""

from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import add_trees, random_batch, random_graph
from torch_geometric.data import Data

import sepool
from sepool.nn import SEPGraphNet


@pytest.mark.parametrize("level_readout", ["none", "concat", "gated"])
@pytest.mark.parametrize("readout", ["sum", "mean"])
@pytest.mark.parametrize("task", ["graph", "node"])
def test_graph_net_batch_is_its_graphs(task, readout, level_readout):
    torch.manual_seed(0)
    batch = random_batch(1)
    options = {"readout": readout, "level_readout": level_readout, "jump": True}
    net = SEPGraphNet(5, 8, 3, task=task, **options).eval()
    alone = torch.cat([net(data) for data in batch.to_data_list()])
    assert len(alone) == (4 if task == "graph" else batch.num_nodes)
    torch.testing.assert_close(net(batch), alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("readout", ["sum", "mean"])
@pytest.mark.parametrize("task", ["graph", "node"])
def test_graph_net_height_zero_reads_no_tree(task, readout):
    torch.manual_seed(0)
    batch = random_batch(1, weighted=True)
    net = SEPGraphNet(5, 8, 3, 0, task=task, readout=readout).eval()
    expected = net(batch)
    del batch.tree
    torch.testing.assert_close(net(batch), expected)
    graphs = random_batch(1, weighted=True).to_data_list()
    for graph in graphs:
        del graph.tree
    torch.testing.assert_close(torch.cat([net(g) for g in graphs]), expected, rtol=1e-4, atol=1e-5)


def test_graph_net_height_zero_is_the_stack_without_the_hierarchy():
    torch.manual_seed(0)
    batch = random_batch(1)
    flat, tree = SEPGraphNet(5, 8, 3, 0).eval(), SEPGraphNet(5, 8, 3).eval()
    tree.load_state_dict(flat.state_dict(), strict=False)
    for conv in tree.convs:
        for scale in conv.scales:
            torch.nn.init.zeros_(scale)
    torch.testing.assert_close(tree(batch), flat(batch), rtol=1e-5, atol=1e-5)


def test_graph_net_gates_scale_the_levels():
    torch.manual_seed(0)
    batch = random_batch()
    gated = SEPGraphNet(5, 8, 3, level_readout="gated").eval()
    plain = SEPGraphNet(5, 8, 3, level_readout="concat").eval()
    plain.load_state_dict(gated.state_dict(), strict=False)
    assert not torch.allclose(gated(batch), plain(batch))
    for gate in gated.gates:
        torch.nn.init.zeros_(gate.weight)
        torch.nn.init.constant_(gate.bias, 50)
    torch.testing.assert_close(gated(batch), plain(batch))


@pytest.mark.parametrize("options", [{}, {"norm": False, "residual": False}, {"task": "node"}])
def test_graph_net_weights_have_gradients(options):
    torch.manual_seed(0)
    net, batch = SEPGraphNet(5, 8, 2, **options), random_batch()
    torch.nn.functional.cross_entropy(net(batch), torch.arange(len(net(batch))) % 2).backward()
    unused = {name for name, p in net.named_parameters() if p.grad is None or not p.grad.any()}
    assert unused == set()


def test_graph_net_one_graph_trains():
    [graph] = add_trees([random_graph(12, 0)], [(12, 5, 2, 1)])
    net = SEPGraphNet(5, 8, 2, task="node")
    net(graph).sum().backward()
    assert net(graph, sepool.hierarchy(graph)).shape == (12, 2)


def test_graph_net_data_without_a_tree_is_refused():
    data = random_graph(6, 0)
    with pytest.raises(AttributeError, match="the data has no coding tree; add one with"):
        SEPGraphNet(5, 8, 2)(data)
    with pytest.raises(ValueError, match="the model takes 5 features a node, got 3"):
        SEPGraphNet(5, 8, 2, 0)(Data(x=data.x[:, :3], edge_index=data.edge_index))
