"""Searches that start from given levels."""

import networkx as nx
import numpy as np
import pytest

import sepool

GRAPH = nx.planted_partition_graph(6, 20, 0.5, 0.02, seed=1)
PLANTED = [i // 20 for i in range(120)]


def test_search_from_the_planted_clusters_stays_there():
    tree = sepool.coding_tree(GRAPH, init=PLANTED)
    assert tree.labels(1).tolist() == PLANTED


def test_search_from_disturbed_clusters_finds_the_planted_ones():
    labels = np.array(PLANTED)
    labels[::7] = (labels[::7] + 1) % 6
    assert sepool.coding_tree(GRAPH, init=labels).labels(1).tolist() == PLANTED


@pytest.mark.parametrize("height", [2, 3, 5])
def test_search_from_a_tree_is_no_worse(height):
    tree = sepool.coding_tree(GRAPH, height, method="paper")
    better = sepool.coding_tree(GRAPH, height, init=tree)
    assert better.height == height
    assert better.entropy <= tree.entropy
    assert better.entropy == pytest.approx(sepool.structural_entropy(GRAPH, better))


def test_search_from_single_nodes_unites_them():
    tree = sepool.coding_tree(GRAPH, init=np.arange(120))
    assert tree.labels(1).tolist() == PLANTED


def test_height_other_than_that_of_the_start_is_refused():
    with pytest.raises(ValueError, match="init is a tree of height 2"):
        sepool.coding_tree(GRAPH, 3, init=PLANTED)


def test_start_of_another_graph_is_refused():
    tree = sepool.coding_tree(nx.path_graph(5), height=2)
    with pytest.raises(ValueError, match="the tree has 5 leaves"):
        sepool.coding_tree(GRAPH, init=tree)


def test_tree_of_another_graph_starts_from_its_labels_alone():
    two = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    graph = [(0, 1), (2, 3), (0, 2), (1, 3), (4, 5), (0, 4)]
    start = sepool.CodingTree.from_levels(two, [0, 0, 0, 1, 1, 1])
    tree = sepool.coding_tree(graph, init=start)
    assert tree.entropy == pytest.approx(sepool.structural_entropy(graph, tree))
    assert tree.graph.num_edges == 6
