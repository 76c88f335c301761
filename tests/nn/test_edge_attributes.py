"""Convolutions with edge attributes on every level, against dense formulas."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as pyg
from tests.nn.graphs import dense_assignment, random_batch

import sepool
from sepool.nn import SEPG, SEPN, SEPooling

WIDTH = 3


def gine(a, b):
    return pyg.GINEConv(torch.nn.Linear(a, b), edge_dim=WIDTH)


def dense_gine(conv, x, edges):
    messages = (x[None] + conv.lin(edges.attr)).relu() * edges.mask
    return conv.nn(x + messages.sum(1))


def nnconv(a, b):
    return pyg.NNConv(a, b, torch.nn.Linear(WIDTH, a * b))


def dense_nnconv(conv, x, edges):
    n, width = x.shape
    matrices = conv.nn(edges.attr).view(n, n, width, -1) * edges.mask[..., None]
    return conv.lin(x) + torch.einsum("ja,ijab->ib", x, matrices) + conv.bias


def gatv2(a, b):
    return pyg.GATv2Conv(a, b, edge_dim=WIDTH, add_self_loops=False)


def dense_gatv2(conv, x, edges):
    sent, received = conv.lin_l(x), conv.lin_r(x)
    score = received[:, None] + sent[None] + conv.lin_edge(edges.attr)
    score = (torch.nn.functional.leaky_relu(score, 0.2) * conv.att.view(-1)).sum(-1)
    return edges.softmax(score) @ sent + conv.bias


def transformer(a, b):
    return pyg.TransformerConv(a, b, edge_dim=WIDTH)


def dense_transformer(conv, x, edges):
    attr = conv.lin_edge(edges.attr)
    keys, values = conv.lin_key(x)[None] + attr, conv.lin_value(x)[None] + attr
    score = (conv.lin_query(x)[:, None] * keys).sum(-1) / keys.size(-1) ** 0.5
    return (edges.softmax(score)[..., None] * values).sum(1) + conv.lin_skip(x)


CONVS = {
    gine: dense_gine,
    nnconv: dense_nnconv,
    gatv2: dense_gatv2,
    transformer: dense_transformer,
}


class DenseEdges:
    """Attributes ``attr[i, j]`` of the edges from ``j`` to ``i``, and their mask."""

    def __init__(self, edge_index, attr, size):
        (j, i), shape = edge_index, (size, size)
        self.attr = torch.zeros(*shape, attr.size(1), dtype=attr.dtype).index_put((i, j), attr)
        self.mask = torch.zeros(*shape, 1, dtype=attr.dtype)
        self.mask[i, j] = 1

    def softmax(self, score):
        score = score.masked_fill(self.mask[..., 0] == 0, -torch.inf).softmax(1)
        return score.nan_to_num(0)

    def pooled(self, s, reduce):
        total, count = (
            torch.einsum("ai,ijk,bj->abk", s, part, s) for part in (self.attr, self.mask)
        )
        out = object.__new__(DenseEdges)
        out.attr = total / count.clamp(min=1) if reduce == "mean" else total
        out.mask = (count > 0).to(total.dtype)
        return out


def attributed_batch():
    batch = random_batch(1, directed=True)
    batch.x = batch.x.double()
    batch.edge_attr = torch.randn(batch.num_edges, WIDTH, dtype=torch.float64)
    return batch


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("model", [SEPG, SEPN])
def test_convolution_of_every_level_equals_its_dense_formula(model, conv, reduce):
    torch.manual_seed(0)
    batch = attributed_batch()
    levels, net = sepool.hierarchy(batch), model(5, 8, 2, conv=conv, edge_reduce=reduce).double()
    edges = [DenseEdges(batch.edge_index, batch.edge_attr, batch.num_nodes)]
    for level in (1, 2):
        edges.append(edges[-1].pooled(dense_assignment(levels, level), reduce))
    sizes = {levels.num_clusters(level): level for level in range(3)}
    calls = []
    convs = [*net.convs, *([net.last] if model is SEPN else [])]
    for module in convs:
        module.register_forward_hook(lambda module, x, out: calls.append((module, x[0], out)))
    net(batch)
    assert len(calls) == len(convs)
    assert {sizes[len(x)] for _, x, _ in calls} == {0, 1, 2}
    for module, x, out in calls:
        expected = CONVS[conv](module, x, edges[sizes[len(x)]])
        torch.testing.assert_close(out, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pooled", ["weighted", "binary"])
def test_pooled_means_are_named_in_the_result(pooled):
    batch = attributed_batch()
    levels = sepool.hierarchy(batch)
    dense = DenseEdges(batch.edge_index, batch.edge_attr, batch.num_nodes)
    dense = dense.pooled(dense_assignment(levels, 1), "mean")
    pool = SEPooling(pooled=pooled, edge_reduce="mean")
    out = pool(batch.x, levels, 1, batch.edge_index, batch.edge_attr)
    row, col = out.edge_index
    torch.testing.assert_close(out.edge_attr, dense.attr[col, row])
