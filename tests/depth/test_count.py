"""Trees with a given number of clusters, or clusters of a least size."""

import networkx as nx
import numpy as np
import pytest

import sepool

GRAPH = nx.planted_partition_graph(6, 20, 0.6, 0.02, seed=1)


@pytest.mark.parametrize("height", [None, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 40, 119, 120])
def test_coarsest_level_has_the_number_of_clusters(count, height):
    tree = sepool.coding_tree(GRAPH, height, num_clusters=count)
    assert tree.num_clusters(tree.top) == count
    assert height in (None, tree.height)


def test_planted_number_of_clusters_gives_the_planted_clusters():
    tree = sepool.coding_tree(GRAPH, num_clusters=6)
    assert tree.labels(tree.top).tolist() == [i // 20 for i in range(120)]


def test_two_clusters_are_no_worse_than_those_of_spectral_bisection():
    graph = nx.planted_partition_graph(2, 40, 0.3, 0.05, seed=2)
    tree = sepool.coding_tree(graph, height=2, num_clusters=2)
    fiedler = np.array(nx.fiedler_vector(graph, seed=1)) > 0
    assert tree.entropy <= sepool.structural_entropy(graph, fiedler.astype(int)) + 1e-9


@pytest.mark.parametrize("count", [2, 10])
def test_impossible_number_of_clusters_is_refused(count):
    graph = nx.disjoint_union_all([nx.path_graph(3)] * 3)
    with pytest.raises(ValueError, match=r"num_clusters must be 3 .* to 9"):
        sepool.coding_tree(graph, num_clusters=count)


def test_number_of_clusters_without_a_level_is_refused():
    with pytest.raises(ValueError, match="height=1 has none"):
        sepool.coding_tree(GRAPH, height=1, num_clusters=2)


@pytest.mark.parametrize("height", [None, 2, 4])
def test_no_cluster_has_fewer_nodes_than_the_least_size(height):
    tree = sepool.coding_tree(GRAPH, height, min_size=15)
    assert all(tree.cluster_sizes(level).min() >= 15 for level in range(1, tree.height))
    assert height in (None, tree.height)


def test_small_component_stays_below_the_least_size():
    graph = nx.disjoint_union(GRAPH, nx.path_graph(2))
    sizes = sepool.coding_tree(graph, height=2, min_size=10).cluster_sizes(1)
    assert sorted(sizes)[:2] == [2, *sorted(sizes)[1:2]]
    assert sorted(sizes)[1] >= 10


@pytest.mark.parametrize("size", [0, -1])
def test_impossible_least_size_is_refused(size):
    with pytest.raises(ValueError, match="min_size must be at least 1"):
        sepool.coding_tree(GRAPH, min_size=size)
