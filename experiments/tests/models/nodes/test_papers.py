"""A property of every system that its paper states."""

from __future__ import annotations

import math

import torch
import torch_geometric.nn as pyg
from tests.communities import CLASSES, WORDS, community_data

from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.models.nodes.appnp import APPNP, spread
from sepool_experiments.models.nodes.dgi import DGI, Shuffle
from sepool_experiments.models.nodes.fastgcn import FastGCN, Sampler, importance
from sepool_experiments.models.nodes.gat import GAT
from sepool_experiments.models.nodes.gcn import GCN
from sepool_experiments.models.nodes.gcnii import GCNII
from sepool_experiments.models.nodes.gin import GIN
from sepool_experiments.models.nodes.gunets import GUNets, induced_adjacency, square, two_steps
from sepool_experiments.models.nodes.mixhop import MixHop
from sepool_experiments.models.nodes.model import NodeGraph, Sparse
from sepool_experiments.models.nodes.s2gc import S2GC
from sepool_experiments.models.nodes.sgc import SGC

DATA = community_data()
GRAPH = NodeGraph.of(DATA)
COUNT = len(DATA.x)


def dense(adjacency):
    """An adjacency as a matrix."""
    return adjacency.propagate(torch.eye(adjacency.num_nodes))


def test_the_graph_is_normalised_with_loops():
    a = torch.zeros(COUNT, COUNT)
    a[DATA.edge_index[0], DATA.edge_index[1]] = 1
    looped = a + torch.eye(COUNT)
    scale = looped.sum(1).rsqrt()
    torch.testing.assert_close(dense(GRAPH.adjacency), scale[:, None] * looped * scale)
    torch.testing.assert_close(dense(GRAPH.plain), a)


def test_sparse_features():
    sparse, weight = Sparse.of(DATA.x), torch.randn(WORDS, 2, 3, requires_grad=True)
    expected = torch.einsum("nf,frh->nrh", DATA.x, weight)
    torch.testing.assert_close(sparse.matmul(weight), expected)
    value = sparse.value.view(-1, 1, 1) * torch.tensor([1.0, 2.0]).view(1, 2, 1)
    doubled = sparse.matmul_with(value, weight)
    torch.testing.assert_close(doubled[:, 1], 2 * expected[:, 1])
    out = torch.randn_like(expected)
    (first,) = torch.autograd.grad((sparse.matmul(weight) * out).sum(), weight)
    (second,) = torch.autograd.grad((expected * out).sum(), weight)
    torch.testing.assert_close(first, second)


def test_gcn_is_pygs():
    ours = GCN(WORDS, 8, CLASSES)
    first, last = pyg.GCNConv(WORDS, 8), pyg.GCNConv(8, CLASSES)
    for layer, mine in ((first, ours.first), (last, ours.others[0])):
        layer.lin.weight.data = mine.weight.data.t()
        layer.bias.data = mine.bias.data.normal_()
    expected = last(first(DATA.x, DATA.edge_index).relu(), DATA.edge_index)
    torch.testing.assert_close(ours(ours.prepare(DATA)), expected)


def test_gat_is_pygs_with_heads():
    ours = GAT(WORDS, 4, CLASSES, heads=3, out_heads=2)
    first = pyg.GATConv(WORDS, 4, heads=3)
    last = pyg.GATConv(12, CLASSES, heads=2, concat=False)
    pairs = ((first, ours.first, ours.attention), (last, ours.last, ours.attention_again))
    for layer, linear, attention in pairs:
        layer.lin.weight.data = linear.weight.data.t()
        layer.att_src.data, layer.att_dst.data = attention.att_src[None], attention.att_dst[None]
        layer.bias.data = attention.bias.data.normal_()
    hidden = torch.nn.functional.elu(first(DATA.x, DATA.edge_index))
    torch.testing.assert_close(ours(ours.prepare(DATA)), last(hidden, DATA.edge_index))


def test_gin_is_pygs():
    ours = GIN(WORDS, 8, CLASSES)
    layers = (ours.first, ours.second, ours.last.first, ours.last.second)
    plain = [torch.nn.Linear(layer.in_channels, layer.out_channels) for layer in layers]
    for layer, mine in zip(plain, layers, strict=True):
        layer.weight.data, layer.bias.data = mine.weight.data.t(), mine.bias.data.normal_()
    relu = torch.nn.ReLU()
    first = pyg.GINConv(torch.nn.Sequential(plain[0], relu, plain[1]))
    last = pyg.GINConv(torch.nn.Sequential(plain[2], relu, plain[3]))
    expected = last(first(DATA.x, DATA.edge_index).relu(), DATA.edge_index)
    torch.testing.assert_close(ours(ours.prepare(DATA)), expected)


def test_sgc_is_a_linear_model_of_smoothed_features():
    model, s = SGC(WORDS, CLASSES, power=3), dense(GRAPH.adjacency)
    model.first.bias.data.normal_()
    expected = s @ s @ s @ DATA.x @ model.first.weight + model.first.bias
    torch.testing.assert_close(model(model.prepare(DATA)), expected)


def test_s2gc_is_the_mean_of_powers():
    model, s = S2GC(WORDS, CLASSES, power=3, alpha=0.2), dense(GRAPH.adjacency)
    powers = [s, s @ s, s @ s @ s]
    mean = sum(0.8 * power @ DATA.x + 0.2 * DATA.x for power in powers) / 3
    torch.testing.assert_close(model(model.prepare(DATA)), mean @ model.first.weight)


def test_appnp_reaches_its_fixed_point():
    model, s = APPNP(WORDS, 8, CLASSES, steps=200, alpha=0.2), dense(GRAPH.adjacency)
    start = (DATA.x @ model.first.weight).relu() @ model.last.weight
    limit = 0.2 * torch.linalg.solve(torch.eye(COUNT) - 0.8 * s, start)
    torch.testing.assert_close(model(model.prepare(DATA)), limit, atol=1e-5, rtol=1e-4)


def test_dropping_edges_is_unbiased():
    drop, x = Dropout(0.5, option="edge_dropout"), torch.randn(COUNT, 1, 3).expand(-1, 1000, -1)
    drop.keys = torch.arange(1000)
    mean = spread(GRAPH, x.contiguous(), drop).mean(1)
    torch.testing.assert_close(mean, GRAPH.smooth(x[:, 0].contiguous()), atol=0.1, rtol=0)


def test_mixhop_is_pygs_with_normalisation_between():
    ours = MixHop(WORDS, 4, CLASSES)
    ours.share.data = torch.tensor([0.5, -1.0, 2.0])
    x = DATA.x
    for i, layer in enumerate((ours.first, ours.last)):
        theirs = pyg.MixHopConv(x.size(1), layer.out_channels // 3, bias=False)
        for one, weight in zip(theirs.lins, layer.weight.chunk(3, 1), strict=True):
            one.weight.data = weight.t()
        x = theirs(x, DATA.edge_index)
        if i == 0:
            x = torch.nn.functional.batch_norm(x, None, None, training=True).relu()
    shares = torch.tensor([0.5, -1.0, 2.0]).softmax(0)
    expected = sum(share * part for share, part in zip(shares, x.chunk(3, 1), strict=True))
    torch.testing.assert_close(ours.train()(ours.prepare(DATA)), expected, atol=1e-5, rtol=1e-4)


def test_gcnii_is_pygs():
    ours = GCNII(WORDS, 8, CLASSES, layers=2, alpha=0.1, strength=0.5)
    x = start = (DATA.x @ ours.first.weight).relu()
    for i, layer in enumerate(ours.convs, start=1):
        theirs = pyg.GCN2Conv(8, alpha=0.1, theta=0.5, layer=i)
        theirs.weight1.data = layer.weight.data
        x = theirs(x, start, DATA.edge_index).relu()
    torch.testing.assert_close(ours(ours.prepare(DATA)), x @ ours.last.weight, atol=1e-5, rtol=1e-4)


def test_fastgcn_estimates_without_bias():
    probability, x = importance(GRAPH), torch.rand(COUNT, 2)
    s = dense(GRAPH.adjacency)
    torch.testing.assert_close(probability, s.square().sum(0) / s.square().sum())
    sampler = Sampler(40)
    sampler.keys = torch.arange(20_000)
    count = sampler(probability)
    assert count.shape == (COUNT, 20_000)
    torch.testing.assert_close(
        (count * probability[:, None] * 40).sum(0), torch.full((20_000,), 40.0)
    )
    estimate = s @ (count.mean(1, keepdim=True) * x)
    torch.testing.assert_close(estimate, s @ x, atol=0.05, rtol=0)


def test_fastgcn_predicts_with_all_nodes():
    model = FastGCN(WORDS, 8, CLASSES).eval()
    s = dense(GRAPH.adjacency)
    expected = s @ (s @ DATA.x @ model.first.weight).relu() @ model.last.weight
    torch.testing.assert_close(model(model.prepare(DATA)), expected, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(model.train()(model.prepare(DATA)), expected, atol=1e-3)


def test_dgi_learns_to_tell_a_graph_from_a_shuffled_one():
    torch.manual_seed(0)
    model = DGI(WORDS, 16)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)

    def auc():
        here, shuffled = model.scores(GRAPH)
        return (here[:, None] > shuffled).float().mean().item()

    before = auc()
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.loss(GRAPH)
        loss.backward()
        optimizer.step()
    assert auc() > max(before, 0.8)
    assert loss < math.log(2)


def test_shuffled_rows_are_the_same_rows():
    shuffle, x = Shuffle(3), torch.randn(10, 2, 3)
    shuffle.keys = torch.tensor([1, 2])
    out = shuffle(x)
    for r in range(2):
        assert sorted(out[:, r].tolist()) == sorted(x[:, r].tolist())
    assert not torch.equal(out, x)


def test_g_u_nets_keeps_so_many_nodes():
    model = GUNets(WORDS, 8, CLASSES, sizes="0.5,0.25,7", replicas=2)
    assert model.counts(COUNT) == [60, 15, 7]
    assert model.counts(10) == [5, 2, 2]
    model(model.prepare(DATA))
    assert model.density == [], "training has no use for it"
    model.eval()(model.prepare(DATA))
    assert len(model.density) == 3
    assert (model.density[1] >= model.density[0]).all(), "squares are denser"


def test_g_u_nets_joins_what_is_two_steps_apart():
    a = dense(GRAPH.plain) + torch.eye(COUNT)
    reached = (a @ a > 0).float() - torch.eye(COUNT)
    pairs = two_steps(GRAPH.adjacency)
    squared = torch.zeros(COUNT, COUNT)
    squared[pairs[0], pairs[1]] = 1
    assert torch.equal(squared, reached)
    index = torch.stack([torch.randperm(COUNT)[:20] for _ in range(2)])
    level = induced_adjacency(pairs, index, COUNT)
    for r in range(2):
        assert torch.equal(level[r], reached[index[r]][:, index[r]])
    again = torch.stack([torch.randperm(20)[:5] for _ in range(2)])
    looped = level + torch.eye(20)
    expected = (looped @ looped > 0).float() * (1 - torch.eye(20))
    for r in range(2):
        assert torch.equal(square(level, again)[r], expected[r][again[r]][:, again[r]])


def test_g_u_nets_counts_a_node_twice_among_its_neighbours():
    a = (dense(GRAPH.plain) > 0).float() * (1 - torch.eye(COUNT)) + 2 * torch.eye(COUNT)
    scale = a.sum(1).rsqrt()
    adjacency = dense(GUNets(WORDS, 8, CLASSES, sizes="0.5").prepare(DATA).graph.adjacency)
    torch.testing.assert_close(adjacency, scale[:, None] * a * scale)
