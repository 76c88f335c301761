"""Searches in which some nodes have given labels."""

import networkx as nx
import numpy as np
import pytest

import sepool

GRAPH = nx.planted_partition_graph(6, 20, 0.5, 0.02, seed=1)
PLANTED = [i // 20 for i in range(120)]


@pytest.mark.parametrize("height", [None, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_of_one_label_share_a_cluster_and_others_do_not(height, seed):
    rng = np.random.default_rng(seed)
    fixed = {int(node): str(rng.integers(4)) for node in rng.choice(120, 25, replace=False)}
    tree = sepool.coding_tree(GRAPH, height, fixed=fixed)
    top = tree.labels(tree.top)
    nodes = list(fixed)
    for i in nodes:
        for j in nodes:
            assert (top[i] == top[j]) == (fixed[i] == fixed[j])
    assert height in (None, tree.height)
    assert tree.entropy == pytest.approx(sepool.structural_entropy(GRAPH, tree))


def test_labels_that_agree_with_the_clusters_change_nothing():
    fixed = {0: "a", 5: "a", 25: "b", 110: "c"}
    assert sepool.coding_tree(GRAPH, fixed=fixed).labels(1).tolist() == PLANTED


def test_must_link_unites_two_clusters():
    labels = sepool.coding_tree(GRAPH, height=2, fixed={0: 0, 119: 0}).labels(1)
    assert labels[0] == labels[119]
    assert labels[40:60].tolist() == [labels[40]] * 20


def test_cannot_link_divides_a_cluster_around_its_nodes():
    graph = nx.path_graph(8)
    labels = sepool.coding_tree(graph, fixed={0: "left", 7: "right"}).labels(1)
    assert labels.tolist() == [0] * 4 + [1] * 4


def test_cannot_link_at_height_two_is_optimal_on_a_small_graph():
    graph = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
    graph.add_edge(3, 4)
    tree = sepool.coding_tree(graph, height=2, fixed={0: 0, 1: 1})
    options = [
        [a, b, *rest]
        for a, b in [(0, 1)]
        for rest in np.array(np.meshgrid(*[range(3)] * 6)).reshape(6, -1).T.tolist()
    ]
    best = min(sepool.structural_entropy(graph, labels) for labels in options)
    assert tree.entropy == pytest.approx(best, rel=0.02)


def test_weights_and_loops_of_nodes_count():
    graph = nx.Graph(GRAPH)
    graph.add_edge(3, 3, weight=2.5)
    nx.set_edge_attributes(graph, dict.fromkeys(GRAPH.edges, 0.5), "weight")
    tree = sepool.coding_tree(graph, height=2, fixed={0: 0, 1: 0}, self_loops=True)
    assert tree.labels(1).tolist() == PLANTED


def test_nodes_are_fixed_by_name():
    graph = nx.relabel_nodes(nx.path_graph(6), dict(enumerate("abcdef")))
    communities = sepool.coding_tree(graph, fixed={"a": 1, "f": 2}).communities(1)
    assert communities == [set("abc"), set("def")]


def test_no_labels_change_nothing():
    assert sepool.coding_tree(GRAPH, fixed={}) == sepool.coding_tree(GRAPH)


def test_unknown_node_is_refused():
    with pytest.raises(ValueError, match="node 'x', which is not in the graph"):
        sepool.coding_tree(GRAPH, fixed={"x": 0})


def test_fixed_that_is_no_dictionary_is_refused():
    with pytest.raises(TypeError, match="fixed must be a dictionary"):
        sepool.coding_tree(GRAPH, fixed=[0, 1])


def test_labels_without_a_level_are_refused():
    with pytest.raises(ValueError, match="height 1 has no clusters"):
        sepool.coding_tree(GRAPH, height=1, fixed={0: 0, 1: 1})


@pytest.mark.parametrize("more", [{"init": PLANTED}, {"num_clusters": 3}, {"min_size": 2}])
def test_contradictory_demands_are_refused(more):
    with pytest.raises(ValueError, match="fixed cannot be combined"):
        sepool.coding_tree(GRAPH, fixed={0: 0}, **more)


def test_fixed_labels_that_are_all_equal_keep_the_height():
    bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    tree = sepool.coding_tree(bridge, 3, fixed=dict.fromkeys(range(6), "a"))
    assert (tree.height, tree.num_clusters(2)) == (3, 1)


@pytest.mark.parametrize(
    ("fixed", "error", "message"),
    [
        ([1, 2], TypeError, "fixed must be a dictionary"),
        ({0: [1]}, TypeError, "labels of fixed must be hashable"),
        ({99: "a"}, ValueError, "fixed has a node 99, which is not in the graph"),
    ],
)
def test_fixed_of_the_wrong_kind_is_refused(fixed, error, message):
    for height in (1, None):
        with pytest.raises(error, match=message):
            sepool.coding_tree([(0, 1), (1, 2)], height, fixed=fixed)
