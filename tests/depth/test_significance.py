"""Significance of levels and clusters against rewired graphs."""

import networkx as nx
import numpy as np
import pytest

import sepool


def test_planted_level_is_significant_and_a_level_below_is_not():
    graph = nx.planted_partition_graph(5, 30, 0.5, 0.02, seed=1)
    tree = sepool.coding_tree(graph, height=3)
    assert tree.num_clusters(2) == 5
    result = tree.significance(trials=10)
    bits, error = result.of_level(2)
    assert bits > 20 * error
    root = result.level == 3
    assert result.significant[root].all()
    assert result.significant[~root].mean() < 0.5


def test_split_of_a_random_graph_is_not_significant():
    tree = sepool.coding_tree(nx.gnm_random_graph(200, 800, seed=2), height=2)
    result = tree.significance(trials=10)
    assert not result.significant.any()
    assert abs(result.bits - result.chance).max() < 5 * result.error.max()


def test_bits_of_all_splits_are_the_fall_of_the_entropy():
    graph = nx.gnm_random_graph(60, 200, seed=3)
    tree = sepool.coding_tree(graph, height=3)
    saved = sepool.one_dimensional_entropy(graph) - tree.entropy
    result = tree.significance(trials=2)
    lowest = result.level == 2
    upper = sepool.one_dimensional_entropy(graph) - sepool.structural_entropy(graph, tree.labels(2))
    assert result.bits[lowest].sum() == pytest.approx(saved - upper)


def test_split_without_another_realisation_is_not_significant():
    tree = sepool.coding_tree(nx.complete_graph(12), height=2)
    assert not tree.significance(trials=3).significant.any()


def test_significance_of_a_tree_without_clusters_is_empty():
    assert len(sepool.coding_tree(nx.complete_graph(5)).significance().bits) == 0


def test_significance_needs_the_graph(tmp_path):
    graph = nx.path_graph(6)
    tree = sepool.coding_tree(graph, height=2)
    tree.save(tmp_path / "tree.json")
    loaded = sepool.CodingTree.load(tmp_path / "tree.json")
    with pytest.raises(ValueError, match="pass it as graph="):
        loaded.significance()
    np.testing.assert_array_equal(
        loaded.significance(graph, trials=3).bits, tree.significance(trials=3).bits
    )
    with pytest.raises(ValueError, match="6 leaves"):
        loaded.significance(nx.path_graph(5))


def test_significance_needs_two_trials():
    with pytest.raises(ValueError, match="trials must be at least 2"):
        sepool.coding_tree(nx.path_graph(6), height=2).significance(trials=1)


def test_significance_of_the_tree_of_a_graph_with_other_degrees_is_refused():
    bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    tree = sepool.coding_tree(bridge, 2)
    with pytest.raises(ValueError, match="of another graph, whose nodes have other degrees"):
        tree.significance([(0, 5), (1, 4), (2, 3), (0, 1)])


def test_significance_without_edges_is_of_no_split():
    tree = sepool.coding_tree(sepool.as_graph(np.zeros((0, 2), int), num_nodes=5), 3)
    assert len(tree.significance().bits) == 0


def test_significance_of_a_level_that_is_not_split_is_refused():
    tree = sepool.coding_tree([(0, 1), (1, 2), (2, 0)])
    with pytest.raises(ValueError, match="no cluster is split into clusters of level 5"):
        tree.significance().of_level(5)


def test_split_above_a_level_of_single_children_saves_the_same_bits():
    graph = nx.planted_partition_graph(5, 30, 0.5, 0.02, seed=1)
    labels = np.repeat(np.arange(5), 30)
    flat = sepool.CodingTree.from_levels(graph, labels).significance(trials=5)
    filled = sepool.CodingTree.from_levels(graph, [labels, labels]).significance(trials=5)
    np.testing.assert_allclose(filled.bits, flat.bits)
    assert filled.level.tolist() == [3]
    assert filled.significant.all()


def test_split_into_few_clusters_is_compared_with_as_few():
    result = sepool.coding_tree(nx.les_miserables_graph()).significance()
    assert result.significant.all()
    p_values = []
    for seed in range(12):
        graph = nx.gnm_random_graph(100, 300, seed=seed)
        components = nx.number_connected_components(graph)
        tree = sepool.coding_tree(graph, height=2, num_clusters=components + 3)
        p_values += tree.significance(trials=10).p_value.tolist()
    assert 0.2 < np.mean(p_values) < 0.9
