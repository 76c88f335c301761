from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.scores.conductance import conductance, conductances


@pytest.mark.parametrize("seed", range(5))
def test_conductances_random_graph_equal_networkx(seed):
    graph = nx.gnm_random_graph(30, 80, seed=seed)
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + (seed + i) % 7
    labels = np.random.default_rng(seed).integers(0, 4, 30)
    tree = sepool.CodingTree.from_levels(graph, labels)
    expected = [
        nx.conductance(graph, np.flatnonzero(tree.labels(1) == c).tolist(), weight="weight")
        for c in range(tree.num_clusters(1))
    ]
    assert conductances(tree, 1) == pytest.approx(expected)
    assert conductance(tree, 1) == pytest.approx(np.mean(expected))


def test_conductance_two_triangles_is_known_value(bridge):
    tree = sepool.CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])
    assert conductance(tree, 1) == pytest.approx(1 / 7)


def test_conductance_cluster_without_edges_is_left_out(bridge):
    graph = sepool.as_graph(bridge, num_nodes=7)
    tree = sepool.CodingTree.from_levels(graph, [0, 0, 0, 1, 1, 1, 2])
    assert np.isnan(conductances(tree, 1)[2])
    assert conductance(tree, 1) == pytest.approx(1 / 7)


def test_conductance_one_cluster_is_nan(bridge):
    assert np.isnan(conductance(sepool.CodingTree.from_levels(bridge, [0] * 6), 1))
