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


@pytest.mark.parametrize("seed", range(40))
def test_merges_reach_the_number_and_the_least_size_on_random_graphs(seed):
    graph = nx.gnm_random_graph(30, 45, seed=seed)
    parts = nx.number_connected_components(graph)
    for number in (parts, parts + 1):
        tree = sepool.coding_tree(graph, 2, num_clusters=number)
        assert tree.num_clusters(1) == number
    component = {node: len(part) for part in nx.connected_components(graph) for node in part}
    tree = sepool.coding_tree(graph, 3, min_size=4)
    assert tree.height == 3
    for level in (1, 2):
        for cluster in tree.communities(level):
            assert len(cluster) >= min(4, min(component[node] for node in cluster))


def test_min_size_is_reached_where_a_cluster_has_no_neighbour_inside_its_parent():
    pairs = [(0, 11), (0, 5), (0, 4), (1, 2), (1, 12), (2, 9), (2, 8), (2, 6), (3, 5), (3, 4)]
    pairs += [(4, 8), (5, 8), (5, 9), (5, 12), (5, 10), (6, 9), (7, 9), (10, 11)]
    tree = sepool.coding_tree(pairs, 3, min_size=4)
    assert tree.cluster_sizes(1).min() >= 4


def test_min_size_without_a_height_leaves_no_trivial_level():
    cliques = [(i, j) for i in range(24) for j in range(i) if i // 8 == j // 8]
    graph = [*cliques, (7, 8), (15, 16)]
    assert sepool.coding_tree(graph, min_size=8).counts == (24, 3, 1)
    assert sepool.coding_tree(graph, min_size=9).counts == (24, 1)


def test_num_clusters_with_min_size_is_refused():
    with pytest.raises(ValueError, match="num_clusters cannot be combined with min_size"):
        sepool.coding_tree([(0, 1), (1, 2)], num_clusters=2, min_size=2)
