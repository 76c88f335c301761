from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import igraph
import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree


@pytest.fixture
def tree(bridge) -> CodingTree:
    """Two triangles, each split into a pair and a single."""
    return CodingTree.from_levels(bridge, [[0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]])


def test_coding_tree_counts_and_repr(tree):
    assert (tree.height, tree.num_nodes, tree.counts) == (3, 6, (6, 4, 2, 1))
    assert [tree.num_clusters(level) for level in range(4)] == [6, 4, 2, 1]
    assert (
        repr(tree)
        == f"CodingTree(height=3, nodes=6, clusters=[6, 4, 2, 1], entropy={tree.entropy:.4f})"
    )


def test_labels_follow_the_assignments(tree):
    assert tree.labels(0).tolist() == [0, 1, 2, 3, 4, 5]
    assert tree.labels(1).tolist() == tree.assignment(1).tolist() == [0, 0, 1, 2, 3, 3]
    assert tree.assignment(2).tolist() == [0, 0, 1, 1]
    assert tree.labels(2).tolist() == [0, 0, 0, 1, 1, 1]
    assert tree.labels(3).tolist() == [0] * 6
    assert tree.assignment(3).tolist() == [0, 0]
    assert tree.labels(1).dtype == tree.assignment(2).dtype == np.int32


def test_volumes_and_boundaries_of_every_level(tree):
    assert tree.cluster_sizes(1).tolist() == [2, 1, 1, 2]
    assert tree.cluster_sizes(3).tolist() == [6]
    assert tree.volumes(0).tolist() == [2, 2, 3, 3, 2, 2]
    assert tree.volumes(1).tolist() == [4, 3, 3, 4]
    assert tree.boundaries(1).tolist() == [2, 3, 3, 2]
    assert tree.volumes(2).tolist() == [7, 7]
    assert tree.boundaries(2).tolist() == [1, 1]
    assert (tree.volumes(3).tolist(), tree.boundaries(3).tolist()) == ([14], [0])
    assert tree.members(2, 1).tolist() == [3, 4, 5]


def test_contributions_add_up_to_the_entropy(tree):
    parts = [tree.contributions(level) for level in range(4)]
    assert [len(part) for part in parts] == [6, 4, 2, 1]
    assert parts[3].tolist() == [0]
    assert parts[2].tolist() == pytest.approx([1 / 14, 1 / 14])
    assert sum(part.sum() for part in parts) == pytest.approx(tree.entropy)


@pytest.mark.parametrize("level", [-1, 4])
@pytest.mark.parametrize(
    "method", ["labels", "volumes", "boundaries", "cluster_sizes", "contributions"]
)
def test_methods_level_out_of_range_is_refused(tree, method, level):
    with pytest.raises(ValueError, match=f"level must be 0 to 3, got {level}"):
        getattr(tree, method)(level)


def test_members_cluster_out_of_range_is_refused(tree):
    with pytest.raises(ValueError, match="level must be 1 to 3, got 0"):
        tree.assignment(0)
    with pytest.raises(ValueError, match="cluster must be 0 to 1, got 2"):
        tree.members(2, 2)


def test_to_networkx_is_an_arborescence_with_attributes(tree):
    digraph = tree.to_networkx()
    assert nx.is_arborescence(digraph)
    assert len(digraph) == 13
    assert list(digraph.predecessors((0, 5))) == [(1, 3)]
    assert digraph.nodes[2, 0] == {
        "level": 2,
        "volume": 7,
        "boundary": 1,
        "entropy": pytest.approx(1 / 14),
    }
    assert digraph.nodes[0, 4]["name"] == 4
    assert replace(tree, names=tuple("abcdef")).to_networkx().nodes[0, 4]["name"] == "e"
    assert sum(bits for _, bits in digraph.nodes(data="entropy")) == pytest.approx(tree.entropy)


def test_to_networkx_without_networkx_names_the_package(tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"to_networkx needs networkx: pip install .*\[io\]"):
        tree.to_networkx()


def test_coding_tree_survives_pickle(tree):
    again = pickle.loads(pickle.dumps(tree))
    assert repr(again) == repr(tree)


def test_communities_are_sets_of_nodes(tree):
    assert tree.communities(2) == [{0, 1, 2}, {3, 4, 5}]
    assert tree.communities(1, "abcdef") == [set("ab"), set("c"), set("d"), set("ef")]
    with pytest.raises(ValueError, match="the tree has 6 nodes, got names for 2"):
        tree.communities(1, "ab")
    assert tree.communities(2, [5, 4, 3, 2, 1, 0]) == [{5, 4, 3}, {2, 1, 0}]


def test_communities_names_equal_as_text_are_told_apart():
    graph = nx.Graph([(1, "1"), ("1", 2), (2, 10)])
    tree = CodingTree.from_levels(graph, [{1, "1"}, {2, 10}])
    assert tree.names == (1, "1", 2, 10)
    assert tree.communities(1) == [{1, "1"}, {2, 10}]
    with pytest.raises(ValueError, match="these nodes in another order, 1 first"):
        tree.communities(1, ["1", 1, 2, 10])


@pytest.mark.parametrize("text", ["10 20\n20 30\n", "30 20 0.5\n10 20 1\n"])
def test_communities_integers_of_a_file_stay_integers(write, text):
    communities = sepool.coding_tree(write(text), height=2).communities(1)
    assert set().union(*communities) == {10, 20, 30}


def test_communities_repeated_names_are_refused(bridge):
    graph = igraph.Graph(bridge)
    graph.vs["name"] = list("abcdea")
    tree = sepool.coding_tree(graph, height=2)
    with pytest.raises(ValueError, match="several nodes have the name 'a'; pass others as nodes"):
        tree.communities(1)
    assert tree.communities(1, "abcdef") == [set("abc"), set("def")]


def test_communities_nodes_in_another_order_are_refused():
    graph = nx.Graph([(0, 2), (2, 1), (1, 0), (1, 3), (3, 4), (4, 5), (5, 3)])
    of_rows = sepool.coding_tree(
        nx.to_scipy_sparse_array(graph), height=2
    )  # in the order of the graph
    assert of_rows.communities(1, graph) == [{0, 1, 2}, {3, 4, 5}]
    of_ids = sepool.coding_tree(np.array(graph.edges), height=2)  # in the order of numbers
    with pytest.raises(ValueError, match="the tree is of another graph: where it has the node 1,"):
        of_ids.communities(1, graph)
    named = sepool.coding_tree(nx.relabel_nodes(graph, dict(enumerate("abcdef"))), height=2)
    with pytest.raises(ValueError, match="these nodes in another order, 'a' first; leave them out"):
        named.communities(1, "abcdef")


def test_methods_return_copies(tree):
    for level in (1, 2):
        for ask in (tree.volumes, tree.boundaries, tree.assignment, tree.labels):
            before = ask(level).tolist()
            ask(level)[:] = 0
            assert ask(level).tolist() == before


@pytest.mark.parametrize("level", ["a", 1.0, None, True])
def test_labels_level_that_is_no_integer_is_refused(tree, level):
    with pytest.raises(TypeError, match="level must be a whole number, got "):
        tree.labels(level)


def test_eq_compares_all_arrays_and_names(bridge, tree):
    again = CodingTree.from_levels(bridge, [[0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]])
    assert tree == again
    assert hash(tree) == hash(again)
    assert tree != sepool.coding_tree(bridge, height=2)
    assert tree != CodingTree.from_levels(bridge, [0, 0, 1, 1, 1, 1])
    assert tree != "tree"
    for name in ("volume", "boundary"):
        assert tree != replace(tree, **{name: getattr(tree, name) + 1})
    assert tree != replace(tree, names=tuple("abcdef"))
    wide = replace(tree, parent=tree.parent.astype(np.int64))
    assert tree == wide
    assert hash(tree) == hash(wide)


def test_at_keeps_the_chosen_levels():
    graph = nx.planted_partition_graph(8, 10, 0.6, 0.05, seed=1)
    tree = sepool.coding_tree(graph, height=4)
    for levels in ((1,), (3,), (1, 3), (3, 2, 3), (1, 2, 3)):
        part = tree.at(*levels)
        chosen = sorted(set(levels))
        assert part.height == len(chosen) + 1
        for low, high in enumerate(chosen, 1):
            np.testing.assert_array_equal(part.labels(low), tree.labels(high))
            np.testing.assert_array_equal(part.boundaries(low), tree.boundaries(high))
        assert part.entropy == pytest.approx(sepool.structural_entropy(graph, part))
    assert tree.at().counts == (80, 1)


@pytest.mark.parametrize("level", [0, 2, -1])
def test_at_refuses_levels_without_clusters(tree, level):
    with pytest.raises(ValueError, match="level must be"):
        tree.at(level + (level == 2) * tree.height)


def test_cluster_names_are_members_of_largest_degree():
    graph = nx.Graph(["ab", "ac", "ad", "bc", "xy", "xz", "xw", "yz"])
    tree = CodingTree.from_levels(graph, [set("abcd"), set("xyzw")])
    assert tree.cluster_names(1) == ["a, b, c", "x, y, z"]
    assert tree.cluster_names(1, count=1) == ["a", "x"]
    assert tree.cluster_names(1, count=9) == ["a, b, c, d", "x, y, z, w"]
    assert tree.cluster_names(0, count=2) == list(graph)


def test_level_with_is_the_level_nearest_to_a_number_of_clusters():
    levels = [[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1]]
    tree = CodingTree.from_levels([(0, 1), (2, 3), (4, 5), (6, 7)], levels)
    assert [tree.level_with(n) for n in (1, 2, 4, 5, 8, 100)] == [3, 2, 1, 1, 0, 0]
    assert tree.top == 2
