from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.scores.modularity import modularity


def weighted(seed):
    graph = nx.gnm_random_graph(30, 80, seed=seed)
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 0.5 + (seed + i) % 7
    return graph


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loops", [False, True])
def test_modularity_random_graph_equals_networkx_and_igraph(seed, loops):
    ig = pytest.importorskip("igraph")
    graph = weighted(seed)
    if loops:
        graph.add_edge(3, 3, weight=2.0)
    labels = np.random.default_rng(seed).integers(0, 4, 30)
    tree = sepool.CodingTree.from_levels(sepool.as_graph(graph, self_loops=loops), labels)
    communities = [set(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)]
    assert modularity(tree, 1) == pytest.approx(nx.community.modularity(graph, communities))
    other = ig.Graph.from_networkx(graph)
    assert modularity(tree, 1) == pytest.approx(other.modularity(labels, weights="weight"))


def test_modularity_one_cluster_is_zero(bridge):
    assert modularity(sepool.CodingTree.from_levels(bridge, [0] * 6), 1) == 0


def test_modularity_two_triangles_is_known_value(bridge):
    # By hand: 6/7 of the edges inside, 1/2 expected.
    tree = sepool.CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])
    assert modularity(tree, 1) == pytest.approx(6 / 7 - 1 / 2)


def test_modularity_graph_without_edges_is_nan():
    graph = sepool.as_graph(np.zeros((0, 2), int), num_nodes=3)
    assert np.isnan(modularity(sepool.CodingTree.from_levels(graph, [0, 0, 1]), 1))
