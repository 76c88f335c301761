"""All models: training, batches, options, text."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import add_trees, random_batch, random_graph
from torch_geometric.data import Data

from sepool.nn import SEPG, SEPN, SEPAutoencoder, SEPGraphNet
from sepool.nn.convs import CONVS


@pytest.mark.parametrize(
    ("model", "share"), [(SEPG, 0.1), (SEPGraphNet, 0.1), (SEPN, 0.75), (SEPAutoencoder, 0.6)]
)
def test_training_lowers_the_loss(model, share):
    torch.manual_seed(0)
    batch = random_batch(6)
    if model is SEPAutoencoder:
        net, loss_of, target = model(5), torch.nn.functional.mse_loss, batch.x
    else:
        net, loss_of = model(5, 32, 2), torch.nn.functional.cross_entropy
        target = (
            batch.y if model in (SEPG, SEPGraphNet) else torch.randint(0, 2, (batch.num_nodes,))
        )
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    losses = []
    for _ in range(100):
        loss = loss_of(net(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < share * losses[0]


@pytest.mark.parametrize("model", [SEPG, SEPN])
def test_a_batch_is_its_graphs(model):
    batch, net = random_batch(1), model(5, 8, 3).eval()
    alone = torch.cat([net(data) for data in batch.to_data_list()])
    torch.testing.assert_close(net(batch), alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        *((SEPG, {"conv": c, "reduce": r}) for c in CONVS for r in ("sum", "mean", "max")),
        (SEPN, {}),
        *((SEPGraphNet, {"conv": c, "level_readout": "gated"}) for c in CONVS),
        (SEPGraphNet, {"task": "node"}),
    ],
    ids=str,
)
def test_node_order_does_not_matter(model, options):
    """Proposition 2: nodes and tree renumbered together; logits of nodes move along."""
    torch.manual_seed(0)
    net = model(5, 8, 2, **options).eval()
    for seed in range(3):
        [graph] = add_trees([random_graph(14, seed)], [(14, 6, 3, 1)], seed=seed)
        order = torch.randperm(14)
        place = order.argsort()
        tree = graph.tree.clone()
        head = 4 + 2 * 3
        tree[head : head + 14] = place[tree[head : head + 14].long()].int()
        tree[1] = 1  # symmetric, but no longer row by row
        other = Data(x=graph.x[order], edge_index=place[graph.edge_index], tree=tree)
        wanted = net(graph)
        wanted = wanted if len(wanted) == 1 else wanted[order]
        torch.testing.assert_close(net(other), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (SEPG(5, 8, 3), "SEPG(5, 8, 3, height=3, conv=GCN, blocks=3)"),
        (SEPG(5, 8, 3, conv="GAT", blocks=2), "SEPG(5, 8, 3, height=3, conv=GATConv, blocks=2)"),
        (SEPN(5, 8, 3), "SEPN(5, 8, 3, blocks=2, conv=GCN, skip='concat')"),
        (SEPN(5, 8, 3, 1, skip="add"), "SEPN(5, 8, 3, blocks=1, conv=GCN, skip='add')"),
        (SEPGraphNet(5, 8, 3), "SEPGraphNet(5, 8, 3, height=3, conv=GCN, layers=3, task='graph')"),
        (SEPAutoencoder(5), "SEPAutoencoder(5, 32, layers=2, conv=GCN)"),
        (SEPAutoencoder(5, conv=pyg.GATv2Conv), "SEPAutoencoder(5, 32, layers=2, conv=GATv2Conv)"),
    ],
    ids=str,
)
def test_repr_has_the_options(model, text):
    assert repr(model) == text
    assert len(model(random_batch())) > 0


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (SEPG, {"hidden": 1}, "hidden must be at least 2, got 1"),
        (SEPG, {"height": 0}, "height must be at least 1, got 0"),
        (SEPG, {"layers": 0}, "layers must be at least 1, got 0"),
        (SEPG, {"out_channels": 0}, "out_channels must be at least 1, got 0"),
        (SEPG, {"conv": "MLP"}, "conv must be one of GCN, GIN, GAT, ChebNet, GraphSAGE"),
        (SEPG, {"blocks": 4}, r"blocks must be at most 3 \(layers\) and 3 \(height\), got 4"),
        (SEPG, {"height": 1, "blocks": 2}, r"blocks must be at most 3 \(layers\) and 1 \(height\)"),
        (SEPG, {"reduce": "median"}, "reduce must be one of sum, mean, max, got 'median'"),
        (SEPG, {"readout": "max"}, "readout must be one of sum, mean, got 'max'"),
        (SEPG, {"pooled": "dense"}, "pooled must be one of weighted, binary, got 'dense'"),
        (SEPG, {"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        (SEPG, {"init": "he"}, "init must be one of glorot, torch, got 'he'"),
        (SEPN, {"blocks": 0}, "blocks must be at least 1, got 0"),
        (SEPN, {"blocks": 3, "height": 2}, r"blocks must be 1 to 2 \(height\), got 3"),
        (SEPN, {"skip": "gate"}, "skip must be one of concat, add, none, got 'gate'"),
        (SEPN, {"reduce": "median"}, "reduce must be one of sum, mean, max, sym, got 'median'"),
        (SEPN, {"pooled": "dense"}, "pooled must be one of weighted, binary, got 'dense'"),
        (SEPN, {"conv": "MLP"}, "conv must be one of GCN, GIN, GAT, ChebNet, GraphSAGE"),
        (SEPN, {"pool_dropout": 1.5}, "dropout must be at least 0 and below 1, got 1.5"),
        (SEPN, {"input_dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        (SEPN, {"teleport": 1.5}, "teleport must be 0 to 1, got 1.5"),
        (SEPN, {"propagate": -1}, "propagate must be at least 0, got -1"),
        (SEPN, {"smooth": -1}, "smooth must be at least 0, got -1"),
        (SEPN, {"hidden": 0}, "hidden must be at least 1, got 0"),
        (SEPGraphNet, {"height": -1}, "height must be at least 0, got -1"),
        (SEPGraphNet, {"layers": 0}, "layers must be at least 1, got 0"),
        (SEPGraphNet, {"task": "edge"}, "task must be one of graph, node, got 'edge'"),
        (SEPGraphNet, {"readout": "max"}, "readout must be one of sum, mean, got 'max'"),
        (SEPGraphNet, {"level_readout": "sum"}, "level_readout must be one of none, concat, gated"),
        (SEPGraphNet, {"reduce": "median"}, "reduce must be one of sum, mean, max, sym"),
        (SEPGraphNet, {"pooled": "dense"}, "pooled must be one of weighted, binary, got 'dense'"),
        (SEPGraphNet, {"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_options(model, options, message):
    with pytest.raises(ValueError, match=message):
        model(**{"in_channels": 5, "hidden": 8, "out_channels": 2, **options})


@pytest.mark.parametrize(
    ("model", "options"),
    [
        *((SEPG, options) for options in ({"blocks": 1.5}, {"blocks": True}, {"height": 2.5})),
        *((SEPN, options) for options in ({"blocks": 1.5}, {"height": 2.5}, {"smooth": 1.5})),
    ],
)
def test_whole_numbers(model, options):
    with pytest.raises(TypeError, match=r"(blocks|height|smooth) must be a whole number, got "):
        model(5, 8, 3, **options)
