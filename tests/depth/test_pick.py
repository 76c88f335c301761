"""The depth that is chosen: none for graphs of chance, the planted one for others."""

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.depth.pick import connected_components


def planted(counts, size, shares, seed):
    """A graph of 16 links a node, with shares of them inside the clusters of every level."""
    rng = np.random.default_rng(seed)
    n = counts[0] * size
    widths = [n // count for count in counts] + [n]
    u = rng.integers(n, size=8 * n)
    width = rng.choice(widths, len(u), p=[*shares, 1 - sum(shares)])
    v = u // width * width + rng.integers(width)
    graph = nx.Graph(zip(u[u != v].tolist(), v[u != v].tolist(), strict=True))
    return graph, [np.array(list(graph)) // width for width in widths[:-1]]


@pytest.mark.parametrize(
    "graph",
    [
        nx.gnm_random_graph(300, 1200, seed=1),
        nx.gnm_random_graph(300, 4000, seed=2),
        nx.random_regular_graph(4, 200, seed=3),
        nx.complete_graph(20),
        nx.star_graph(30),
        nx.path_graph(2),
        nx.barabasi_albert_graph(400, 3, seed=4),
    ],
)
def test_tree_of_a_connected_graph_without_structure_has_no_clusters(graph):
    if not nx.is_connected(graph):
        graph = graph.subgraph(max(nx.connected_components(graph), key=len))
    assert sepool.coding_tree(graph).height == 1


@pytest.mark.parametrize(
    ("counts", "size", "shares"),
    [((12,), 40, (0.7,)), ((16, 4), 40, (0.6, 0.25)), ((48, 12, 3), 40, (0.5, 0.25, 0.15))],
)
def test_tree_has_the_planted_levels(counts, size, shares):
    graph, levels = planted(counts, size, shares, seed=len(counts))
    tree = sepool.coding_tree(graph)
    assert tree.counts[1:-1] == counts
    for level, truth in enumerate(levels, 1):
        labels = tree.labels(level)
        table = np.zeros((counts[level - 1], counts[level - 1]))
        np.add.at(table, (labels, np.unique(truth, return_inverse=True)[1]), 1)
        assert table.max(axis=0).sum() > 0.97 * len(graph)


def test_karate_club_has_clusters():
    assert sepool.coding_tree(nx.karate_club_graph()).height > 1


def test_tree_of_components_without_structure_has_one_cluster_each():
    graph = nx.disjoint_union_all([nx.complete_graph(5), nx.path_graph(2), nx.empty_graph(1)])
    tree = sepool.coding_tree(graph)
    assert tree.labels(1).tolist() == [0, 0, 0, 0, 0, 1, 1, 2]
    assert tree.height == 2


def test_chosen_tree_does_not_depend_on_the_order_of_nodes_or_the_unit_of_weights():
    graph, _ = planted((6,), 30, (0.7,), seed=5)
    tree = sepool.coding_tree(graph)
    order = np.random.default_rng(0).permutation(len(graph))
    nodes = [list(graph)[i] for i in order]
    mixed = nx.Graph()
    mixed.add_nodes_from(nodes)
    mixed.add_edges_from(graph.edges, weight=1000)
    clusters = {frozenset(part) for part in tree.communities(1)}
    assert {frozenset(part) for part in sepool.coding_tree(mixed).communities(1)} == clusters


def test_trials_give_a_tree_of_chosen_depth():
    graph, _ = planted((6,), 30, (0.7,), seed=6)
    assert sepool.coding_tree(graph, trials=2).counts[1:-1] == (6,)


@pytest.mark.parametrize("n", [1, 2])
def test_tree_of_a_graph_without_edges_has_a_cluster_a_node(n):
    tree = sepool.coding_tree(nx.empty_graph(n))
    assert tree.counts == ((n, n, 1) if n > 1 else (1, 1))


def test_progress_of_a_chosen_depth_rises_to_the_end():
    graph, _ = planted((60,), 40, (0.7,), seed=7)
    calls = []
    sepool.coding_tree(graph, progress=lambda done, stage: calls.append(done))
    assert calls == sorted(calls)
    assert all(0 <= done <= 1 for done in calls)


def test_connected_components_equal_those_of_networkx():
    graph = nx.gnm_random_graph(200, 120, seed=8)
    labels = connected_components(sepool.as_graph(graph))
    expected = list(nx.connected_components(graph))
    assert len(expected) == labels.max() + 1
    assert all(len(set(labels[list(part)])) == 1 for part in expected)
