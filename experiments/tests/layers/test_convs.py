"""The five convolutions against PyG's, with the same weights."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")

from experiments.tests.layers.graphs import gradients, random_graph  # noqa: E402

from sepool.nn.adjacency import Adjacency  # noqa: E402
from sepool.nn.conv_base import GatheringConv  # noqa: E402
from sepool.nn.convs import CONVS  # noqa: E402
from sepool.pyg.hierarchy import DIRECTED, SORTED, SYMMETRIC  # noqa: E402

IN, OUT = 5, 7
WIDTHS = [(5, 7), (7, 5)]


def copy(linear, weight, bias=None):
    """Copies PyG's weights into ours, and gives both a bias that is not zero."""
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


TWINS = {"GCN": gcn, "GIN": gin, "GAT": gat, "ChebNet": cheb, "GraphSAGE": sage}
KINDS = [
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
    """Our parameters in the order in which the functions above list PyG's."""
    if name == "GAT":
        return [ours.linear.weight, ours.bias]
    return [p for linear in ours.children() for p in linear.parameters()]


def compare(name, graph, kind, widths, **weights):
    ours = CONVS[name](*widths)
    theirs, wanted_parameters = TWINS[name](ours, *widths)
    x = torch.randn(graph.num_nodes, widths[0], requires_grad=True)
    weight = weights.get("edge_weight")
    adjacency = Adjacency.from_edges(graph.edge_index, weight, graph.num_nodes, kind)
    found = ours(x, ours.prepare(adjacency))
    wanted = theirs(x, graph.edge_index, **weights)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=2e-6)
    cotangent = torch.randn_like(wanted)
    found_parameters = parameters_of(name, ours)
    from_ours = gradients((found * cotangent).sum(), x, *found_parameters)
    from_theirs = gradients((wanted * cotangent).sum(), x, *wanted_parameters)
    for ours_, theirs_ in zip(from_ours, from_theirs, strict=True):
        turned = theirs_ if ours_.shape == theirs_.shape and ours_ is from_ours[0] else theirs_.t()
        torch.testing.assert_close(ours_, turned, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize(("options", "kind"), KINDS, ids=str)
@pytest.mark.parametrize("name", CONVS)
def test_equals_pyg(name, options, kind, widths):
    torch.manual_seed(0)
    compare(name, random_graph(20, 1, **options), kind, widths)


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("options", [{}, {"directed": True}, {"loops": True}], ids=str)
@pytest.mark.parametrize("name", ["GCN", "ChebNet"])
def test_weighted_equals_pyg(name, options, widths):
    torch.manual_seed(0)
    graph = random_graph(20, 2, weighted=True, **options)
    kind = DIRECTED if options.get("directed") else SORTED
    compare(name, graph, kind, widths, edge_weight=graph.edge_weight)


def test_gradient_of_edge_weights():
    graph = random_graph(20, 3, weighted=True)
    ours = CONVS["GCN"](IN, OUT)
    theirs, _ = gcn(ours, IN, OUT)
    weight = graph.edge_weight.requires_grad_()
    adjacency = Adjacency.from_edges(graph.edge_index, weight, 20, SORTED)
    found = ours(graph.x, ours.prepare(adjacency)).square().sum()
    wanted = theirs(graph.x, graph.edge_index, weight).square().sum()
    torch.testing.assert_close(
        torch.autograd.grad(found, weight),
        torch.autograd.grad(wanted, weight),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("name", ["GCN", "GIN", "ChebNet", "GraphSAGE"])
def test_what_is_gathered_does_not_depend_on_weights(name):
    """A trainer may gather the first layer once, and learn from what it gathered."""
    graph = random_graph(20, 4)
    conv = CONVS[name](IN, OUT)
    prepared = conv.prepare(Adjacency.from_edges(graph.edge_index, None, 20, SORTED))
    gathered = type(conv).gather(CONVS[name](1, 1), graph.x, prepared)
    assert isinstance(conv, GatheringConv)
    torch.testing.assert_close(conv.combine(gathered), conv(graph.x, prepared))


@pytest.mark.parametrize("name", CONVS)
@pytest.mark.parametrize("shared", [True, False])
def test_replicas_side_by_side_on_one_graph(name, shared):
    """``x`` of the shape (nodes, replicas, features): every replica as it is alone."""
    torch.manual_seed(0)
    graph = random_graph(20, 5, directed=True)
    many = CONVS[name](IN, OUT, replicas=3)
    prepared = many.prepare(Adjacency.from_edges(graph.edge_index, None, 20, DIRECTED))
    x = torch.randn(20, 1 if shared else 3, IN, requires_grad=True)
    out = many(x, prepared)
    assert out.shape == (20, 3, OUT)
    cotangent = torch.randn_like(out)
    grads = gradients((out * cotangent).sum(), x, *many.parameters())
    to_x = []
    for r in range(3):
        one = CONVS[name](IN, OUT)
        for mine, theirs in zip(one.parameters(), many.parameters(), strict=True):
            mine.data.copy_(theirs.data[r])
        alone = x[:, 0 if shared else r].detach().requires_grad_()
        found = one(alone, prepared)
        torch.testing.assert_close(found, out[:, r], rtol=1e-5, atol=1e-6)
        mine = gradients((found * cotangent[:, r]).sum(), alone, *one.parameters())
        to_x.append(mine[0])
        for a, b in zip(mine[1:], grads[1:], strict=True):
            torch.testing.assert_close(a, b[r], rtol=1e-5, atol=1e-5)
    wanted = sum(to_x).unsqueeze(1) if shared else torch.stack(to_x, 1)
    torch.testing.assert_close(grads[0], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CONVS)
def test_edges_and_weights_that_do_not_lie_side_by_side(name):
    """As those of a transposed tensor of pairs, or of one column of several."""
    pairs = torch.tensor([[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 3], [3, 2]])
    weights = torch.rand(8, 2)
    conv, x = CONVS[name](3, 4), torch.randn(4, 3)
    found = [
        conv(x, conv.prepare(Adjacency.from_edges(edges, weight, 4, SORTED)))
        for edges, weight in (
            (pairs.t(), weights[:, 0]),
            (pairs.t().contiguous(), weights[:, 0].contiguous()),
        )
    ]
    assert torch.equal(*found)
