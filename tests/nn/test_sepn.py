"""SEP-N: dense formulas of the paper, options, bad input."""

from __future__ import annotations

import copy

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import (
    add_trees,
    dense_adjacency,
    dense_assignment,
    random_graph,
)
from torch_geometric.data import Data

from sepool.nn import SEPN
from sepool.nn.convs import CONVS
from sepool.pyg.hierarchy import NoTreeError, hierarchy


def tall_graph(seed: int = 0, **options) -> Data:
    """A graph of 40 nodes with a tree of height 6."""
    graph = random_graph(40, seed, share=0.1, **options)
    return add_trees([graph], [(40, 24, 14, 8, 4, 2, 1)], seed)[0]


def dense_gcn(conv, a, x):
    """Eq. 1, without ReLU; a node that has a loop gets no second one."""
    return dense_average(a) @ x @ conv.lin.weight.double().t() + conv.bias


def dense_average(a):
    a = a + torch.diag((a.diagonal() == 0).double())
    scale = a.sum(0).rsqrt()
    return (scale[:, None] * a * scale).t()


def dense_sepn(model: SEPN, data: Data):
    """Section 3.4 of the paper with dense matrices; a light model has weights at its ends alone."""

    def convolve(place, level, x):
        if model.light and place:
            return dense_average(a[level]) @ x
        return dense_gcn(model.convs[place], a[level], x).relu()

    def dense(place, x):
        if model.light:
            return x
        layer = model.denses[place][0]
        return (x @ layer.weight.double().t() + layer.bias).relu()

    levels, a, x = hierarchy(data), [dense_adjacency(data)], data.x.double()
    s = [dense_assignment(levels, i + 1) for i in range(model.blocks)]
    for matrix in s:
        a.append(matrix @ a[-1] @ matrix.t())
    seen = []
    for i, matrix in enumerate(s):
        seen.append(convolve(i, i, x))
        pooled = matrix @ seen[-1]
        x = dense(i, pooled / matrix.sum(1, keepdim=True) if model.reduce == "mean" else pooled)
    for i in reversed(range(model.blocks)):
        place = 2 * model.blocks - 1 - i
        x = dense(place, s[i].t() @ convolve(place, i + 1, x))
        if model.skip != "none":
            x = torch.cat([x, seen[i]], 1) if model.skip == "concat" else x + seen[i]
    if model.input_link:
        x = torch.cat([x, data.x], 1)
    start = x = dense_gcn(model.last, a[0], x)
    for _ in range(model.propagate):
        x = (1 - model.teleport) * dense_average(a[0]) @ x + model.teleport * start
    return x


DENSE_OPTIONS = [
    {},
    {"skip": "add"},
    {"input_link": True},
    {"propagate": 3, "teleport": 0.2},
    *({"light": True, "reduce": "mean", "skip": skip} for skip in ("concat", "add", "none")),
]


@pytest.mark.parametrize("options", DENSE_OPTIONS, ids=str)
@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5])
def test_equals_the_dense_formulas(blocks, options):
    torch.manual_seed(blocks)
    data, model = tall_graph(blocks), SEPN(5, 8, 3, blocks, **options)
    for parameter in model.parameters():  # biases that are not zero
        parameter.data.normal_(0, 0.3)
    found, wanted = model(data), dense_sepn(model, data)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-4)
    parameters = list(model.parameters())
    torch.testing.assert_close(
        torch.autograd.grad(found.square().mean(), parameters),
        torch.autograd.grad(wanted.square().mean(), parameters),
        rtol=1e-3,
        atol=1e-4,
    )


def test_a_light_model_has_no_weights_above_the_nodes():
    names = dict(SEPN(5, 8, 3, 2, light=True).named_parameters())
    assert {name.removesuffix(".bias").removesuffix(".lin.weight") for name in names} == {
        "convs.0",
        "last",
    }


@pytest.mark.parametrize("conv", [*CONVS, pyg.GCNConv], ids=str)
@pytest.mark.parametrize("options", [{}, {"smooth": 1}], ids=str)
def test_predictions_are_spread_after_any_convolution(conv, options):
    data = tall_graph(7, weighted=True)
    plain, spread = (
        SEPN(5, 8, 3, conv=conv, propagate=steps, teleport=0.3, **options) for steps in (0, 4)
    )
    spread.load_state_dict(plain.state_dict())
    start = expected = plain(data).double()
    for _ in range(4):
        expected = 0.7 * dense_average(dense_adjacency(data)) @ expected + 0.3 * start
    torch.testing.assert_close(spread(data).double(), expected, rtol=1e-4, atol=1e-5)


def test_all_is_kept_where_predictions_stay_at_home():
    data, model = tall_graph(8), SEPN(5, 8, 3, propagate=5, teleport=1.0)
    found = model(data)
    model.propagate = 0
    torch.testing.assert_close(found, model(data))


def test_input_dropout():
    torch.manual_seed(0)
    data, model = tall_graph(9), SEPN(5, 8, 3, input_dropout=0.5)
    plain = SEPN(5, 8, 3)
    plain.load_state_dict(model.state_dict())
    assert not torch.equal(model(data), model(data))
    torch.testing.assert_close(model.eval()(data), plain.eval()(data))


def test_five_convolutions_with_two_blocks():
    model = SEPN(5, 8, 3)
    assert len(model.convs) + 1 == 5
    assert model.height == 3
    assert sum(p.numel() for p in model.convs[3].parameters()) == 16 * 8 + 8  # the skip is beside


def test_foreign_convolutions():
    torch.manual_seed(0)
    data, ours = tall_graph(4, weighted=True, directed=True), SEPN(5, 8, 3)
    theirs = SEPN(5, 8, 3, conv=pyg.GCNConv)
    for a, b in zip([*ours.convs, ours.last], [*theirs.convs, theirs.last], strict=True):
        b.lin.weight.data.copy_(a.lin.weight.data)
    theirs.denses.load_state_dict(ours.denses.state_dict())
    torch.testing.assert_close(theirs(data), ours(data), rtol=1e-4, atol=1e-5)
    assert SEPN(5, 8, 3, conv=pyg.GATv2Conv, input_link=True)(data).shape == (40, 3)


def test_bad_input():
    data = tall_graph(6)
    with pytest.raises(NoTreeError, match=r"data = sepool.AddCodingTree\(height\)\(data\)"):
        SEPN(5, 8, 3)(random_graph(5, 0))
    with pytest.raises(ValueError, match=r"pools to level 7, the trees have height 6; .*height=8"):
        SEPN(5, 8, 3, blocks=7)(data)
    with pytest.raises(ValueError, match="the model takes 4 features a node, got 5"):
        SEPN(4, 8, 3)(data)
    flat = copy.copy(data)
    flat.x = torch.ones(data.num_nodes)
    with pytest.raises(ValueError, match=r"data.x must be a matrix, one row a node, got the shape"):
        SEPN(5, 8, 3)(flat)
    other = random_graph(7, 0)
    other.tree = data.tree
    with pytest.raises(ValueError, match="the tree is of another graph"):
        SEPN(5, 8, 3)(other)
