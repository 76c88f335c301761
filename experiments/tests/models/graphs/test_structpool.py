"""StructPool: assignments are normalised and depend on the neighbours."""

from __future__ import annotations

import pytest
import torch
from experiments.tests.models.toys import NODES, batch_of, random_set, store_of

from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.graphs.structpool import edge_similarity, infer
from sepool_experiments.models.parts.clusters import Nodes


@pytest.fixture
def case():
    batch = batch_of(store_of(random_set()))
    nodes, x = Nodes(batch, NODES), torch.rand(batch.levels.num_nodes, 6)
    return nodes, edge_similarity(x, nodes.adjacency, nodes.not_loop), torch.randn(len(x), 4)


def pairs(energy: float) -> Linear:
    layer = Linear(4, 4, bias=False)
    layer.weight.data = energy * torch.eye(4)
    return layer


@torch.no_grad()
def disagreement(nodes, s) -> float:
    a = nodes.adjacency
    distance = (s[a.row] - s[a.index]).square().sum(1) * nodes.not_loop
    return float((distance.sum() / nodes.not_loop.sum()).detach())


def test_rows_sum_to_one(case):
    nodes, similarity, unary = case
    s = infer(unary, similarity, nodes.adjacency, pairs(-1.0))
    torch.testing.assert_close(s.sum(1), torch.ones(len(s)))
    assert (s >= 0).all()


def test_similarity_is_normalised_over_the_neighbours(case):
    nodes, similarity, _ = case
    totals = torch.zeros(len(nodes.graph)).index_add_(0, nodes.adjacency.row, similarity)
    has_edges = nodes.degree[:, 0] > 0
    torch.testing.assert_close(totals, has_edges.float())


def test_without_energy_of_pairs_every_node_decides_alone(case):
    nodes, similarity, unary = case
    s = infer(unary, similarity, nodes.adjacency, pairs(0.0))
    torch.testing.assert_close(s, (-unary).softmax(1))


def test_energy_of_pairs_brings_neighbours_together_or_apart(case):
    nodes, similarity, unary = case
    together, alone, apart = (
        disagreement(nodes, infer(unary, similarity, nodes.adjacency, pairs(energy)))
        for energy in (-3.0, 0.0, 3.0)
    )
    assert together < alone < apart
