"""SEP-G: invariance, options, derivatives, bad input."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import add_trees, random_batch, random_graph
from torch_geometric.data import Batch, Data

import sepool
from sepool.nn import SEPG
from sepool.nn.convs import CONVS
from sepool.pyg.hierarchy import NoTreeError

BACKBONES = list(CONVS)


def test_node_order_does_not_matter_to_the_trees():
    """The same with trees that are built anew: isomorphic graphs get isomorphic trees.

    Features are degrees, so that nodes that could change places look the same to the model too.
    """
    torch.manual_seed(0)
    model, add = SEPG(14, 8, 2).eval(), sepool.AddCodingTree(3)
    for seed in range(10):
        edges = random_graph(14, seed).edge_index
        x = torch.eye(14)[torch.bincount(edges[0], minlength=14)]
        order = torch.randperm(14)
        graph = Data(x=x, edge_index=edges)
        other = Data(x=x[order], edge_index=order.argsort()[edges])
        torch.testing.assert_close(model(add(other)), model(add(graph)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"directed": True}, {"weighted": True}], ids=str)
def test_foreign_convolutions_see_the_same_graphs(options):
    """PyG's GCN inside equals ours inside, on every level."""
    torch.manual_seed(0)
    batch = random_batch(2, **options)
    ours, theirs = SEPG(5, 8, 2), SEPG(5, 8, 2, conv=pyg.GCNConv)
    for a, b in zip(ours.convs, theirs.convs, strict=True):
        b.lin.weight.data.copy_(a.lin.weight.data)
    theirs.classifier.load_state_dict(ours.classifier.state_dict())
    torch.testing.assert_close(theirs(batch), ours(batch), rtol=1e-5, atol=1e-5)


def test_norm_is_that_of_the_released_gin():
    """There, ReLU and batch normalisation end the perceptron of a GIN, and ReLU follows."""
    torch.manual_seed(0)
    batch = random_batch(2)

    def perceptron(before, after):
        layers = [torch.nn.Linear(before, after), torch.nn.Linear(after, after)]
        relu = torch.nn.ReLU()
        return torch.nn.Sequential(layers[0], relu, layers[1], relu, torch.nn.BatchNorm1d(after))

    ours = SEPG(5, 8, 2, conv="GIN", norm=True, pooled="binary")
    theirs = SEPG(5, 8, 2, conv=lambda a, b: pyg.GINConv(perceptron(a, b)), pooled="binary")
    for mine, other in zip(ours.convs, theirs.convs, strict=True):
        other.nn.load_state_dict(mine.nn.state_dict(), strict=False)
    theirs.classifier.load_state_dict(ours.classifier.state_dict())
    for _ in range(3):
        torch.testing.assert_close(theirs(batch), ours(batch), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(theirs.eval()(batch), ours.eval()(batch), rtol=1e-4, atol=1e-4)


def test_what_the_classifier_sees():
    batch = random_batch(4)
    shapes = {
        3 * 8: SEPG(5, 8, 2),
        3 * 8 + 5: SEPG(5, 8, 2, input_link=True),
        4 * 8: SEPG(5, 8, 2, layers=4, blocks=2),
    }
    for width, model in shapes.items():
        assert model.classifier[0].in_features == width
        assert model(batch).shape == (4, 2)
    assert SEPG(5, 8, 2, height=2)(batch).shape == (4, 2)


def test_readouts_are_sums_of_pooled_features():
    """Sums of sums: the readout of a block is the sum over its convolution's nodes."""
    batch = random_batch(5)
    model = SEPG(5, 8, 2, blocks=0, layers=1)
    pooled = SEPG(5, 8, 2, layers=1)
    pooled.load_state_dict(model.state_dict())
    torch.testing.assert_close(pooled(batch), model(batch), rtol=1e-5, atol=1e-5)


def test_gates_scale_the_readouts():
    torch.manual_seed(0)
    batch = random_batch(5)
    gated, plain = SEPG(5, 8, 2, gates=True), SEPG(5, 8, 2)
    plain.load_state_dict(gated.state_dict(), strict=False)
    assert not torch.allclose(gated(batch), plain(batch))
    for gate in gated.gates:
        torch.nn.init.zeros_(gate.weight)
        torch.nn.init.constant_(gate.bias, 50)
    torch.testing.assert_close(gated(batch), plain(batch))
    gated(batch).square().sum().backward()
    assert all(gate.weight.grad is not None for gate in gated.gates)


def test_new_weights():
    model = SEPG(5, 8, 2)
    before = [p.clone() for p in model.parameters()]
    model.reset_parameters()
    changed = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert all(c or b.abs().sum() == 0 for c, b in zip(changed, before, strict=True))


class Halving(torch.nn.Module):
    """A convolution that changes what it gets."""

    def __init__(self, before, after):
        super().__init__()
        self.linear = torch.nn.Linear(before, after)

    def forward(self, x, edge_index):
        return self.linear(x if x.is_leaf else x.mul_(0.5))


def test_a_convolution_may_change_what_it_gets():
    model = SEPG(5, 8, 2, conv=Halving)
    model(random_batch(7)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_bad_input():
    batch, model = random_batch(7), SEPG(5, 8, 2)
    with pytest.raises(ValueError, match="the model takes 5 features a node, got 4"):
        model(random_batch(7, features=4))
    counted = batch.clone()
    counted.x = torch.ones(batch.num_nodes, 5, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"floating-point numbers, got torch.int64: data.x.float"):
        model(counted)
    with pytest.raises(ValueError, match="the model takes 5 features a node, got None"):
        model(Data(edge_index=batch.edge_index, tree=batch.tree, num_nodes=batch.num_nodes))
    with pytest.raises(NoTreeError, match=r"data = sepool.AddCodingTree\(height\)\(data\)"):
        model(random_graph(5, 0))
    other = random_graph(9, 0)
    other.tree = batch[0].tree if batch[0].num_nodes != 9 else batch[1].tree
    with pytest.raises(ValueError, match="the tree is of another graph"):
        model(other)
    low = add_trees([random_graph(6, 0)], [(6, 3, 1)])[0]
    with pytest.raises(ValueError, match=r"pools to level 3, the trees have height 2; .*height=3"):
        model(low)
    with pytest.raises(ValueError, match="mixes trees of height"):
        model(Batch.from_data_list([low, *batch.to_data_list()]))


@pytest.mark.parametrize("conv", ["GCN", "GIN"])
def test_linear_layers_can_start_as_pytorch_draws_them(conv):
    """In the released code the perceptrons do, GCN does not."""
    model = SEPG(5, 8, 2, conv=conv, init="torch")
    assert model.classifier[0].bias.any()
    assert model.classifier[-1].weight.abs().max() <= 4**-0.5
    bias = model.convs[0].nn[0].bias if conv == "GIN" else model.convs[0].bias
    assert bias.any() == (conv == "GIN")
    model.reset_parameters()
    assert model.classifier[0].bias.any()


def test_higher_trees_are_pooled_as_often():
    model = SEPG(5, 8, 3, height=5)
    assert (len(model.convs), model.blocks) == (5, 5)
    low = SEPG(5, 8, 3, height=2)
    assert (len(low.convs), low.blocks) == (3, 2)


def test_what_is_no_number_and_no_convolution():
    for conv in (pyg.GCNConv(5, 8), 5):
        with pytest.raises(TypeError, match=r"conv must be a name .* or a function of two widths"):
            SEPG(5, 8, 3, conv=conv)
    with pytest.raises(TypeError, match="expected a PyG Data or a batch of them, got NoneType"):
        SEPG(5, 8, 3)(None)
