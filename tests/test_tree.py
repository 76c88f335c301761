from __future__ import annotations

import pickle
import sys
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

import sepool
from sepool import CodingTree


@pytest.fixture
def tree(bridge) -> CodingTree:
    """Two triangles, each split into a pair and a single."""
    return CodingTree.from_levels(bridge, [[0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]])


def test_shape(tree):
    assert (tree.height, tree.num_nodes, tree.counts) == (3, 6, (6, 4, 2, 1))
    assert [tree.num_clusters(level) for level in range(4)] == [6, 4, 2, 1]
    assert (
        repr(tree)
        == f"CodingTree(height=3, nodes=6, clusters=[6, 4, 2, 1], entropy={tree.entropy:.4f})"
    )


def test_labels_and_assignments(tree):
    assert tree.labels(0).tolist() == [0, 1, 2, 3, 4, 5]
    assert tree.labels(1).tolist() == tree.assignment(1).tolist() == [0, 0, 1, 2, 3, 3]
    assert tree.assignment(2).tolist() == [0, 0, 1, 1]
    assert tree.labels(2).tolist() == [0, 0, 0, 1, 1, 1]
    assert tree.labels(3).tolist() == [0] * 6
    assert tree.assignment(3).tolist() == [0, 0]
    assert tree.labels(1).dtype == tree.assignment(2).dtype == np.int32


def test_sizes_volumes_and_cuts(tree):
    assert tree.cluster_sizes(1).tolist() == [2, 1, 1, 2]
    assert tree.cluster_sizes(3).tolist() == [6]
    assert tree.volumes(0).tolist() == [2, 2, 3, 3, 2, 2]
    assert tree.volumes(1).tolist() == [4, 3, 3, 4]
    assert tree.cuts(1).tolist() == [2, 3, 3, 2]
    assert tree.volumes(2).tolist() == [7, 7]
    assert tree.cuts(2).tolist() == [1, 1]
    assert (tree.volumes(3).tolist(), tree.cuts(3).tolist()) == ([14], [0])
    assert tree.members(2, 1).tolist() == [3, 4, 5]


def test_contributions_add_up(tree):
    parts = [tree.contributions(level) for level in range(4)]
    assert [len(part) for part in parts] == [6, 4, 2, 1]
    assert parts[3].tolist() == [0]
    assert parts[2].tolist() == pytest.approx([1 / 14, 1 / 14])
    assert sum(part.sum() for part in parts) == pytest.approx(tree.entropy)


@pytest.mark.parametrize("level", [-1, 4])
@pytest.mark.parametrize("method", ["labels", "volumes", "cuts", "cluster_sizes", "contributions"])
def test_levels_that_do_not_exist(tree, method, level):
    with pytest.raises(ValueError, match=f"level must be 0 to 3, got {level}"):
        getattr(tree, method)(level)


def test_more_that_does_not_exist(tree):
    with pytest.raises(ValueError, match="level must be 1 to 3, got 0"):
        tree.assignment(0)
    with pytest.raises(ValueError, match="cluster must be 0 to 1, got 2"):
        tree.members(2, 2)


def test_to_networkx(tree):
    nx = pytest.importorskip("networkx")
    digraph = tree.to_networkx()
    assert nx.is_arborescence(digraph)
    assert len(digraph) == 13
    assert list(digraph.predecessors((0, 5))) == [(1, 3)]
    assert digraph.nodes[2, 0] == {
        "level": 2,
        "volume": 7,
        "cut": 1,
        "entropy": pytest.approx(1 / 14),
    }
    assert digraph.nodes[0, 4]["name"] == "4"
    assert sum(bits for _, bits in digraph.nodes(data="entropy")) == pytest.approx(tree.entropy)


def test_to_networkx_says_what_to_install(tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="to_networkx needs networkx: pip install networkx"):
        tree.to_networkx()


def test_to_networkx_keeps_names(tmp_path):
    pytest.importorskip("networkx")
    (tmp_path / "graph.txt").write_text("ann bob\n")
    tree = CodingTree.from_levels(tmp_path / "graph.txt", [])
    assert tree.names == ("ann", "bob")
    assert tree.to_networkx().nodes[0, 1]["name"] == "bob"


def test_pickle(tree):
    again = pickle.loads(pickle.dumps(tree))
    assert repr(again) == repr(tree)


class TestFromLevels:
    def test_one_level_in_several_forms(self, bridge):
        labels = np.array([7, 7, 7, -2, -2, -2])
        for form in (
            labels,
            labels.tolist(),
            tuple(labels),
            [labels],
            labels[None],
            list("aaabbb"),
        ):
            tree = CodingTree.from_levels(bridge, form)
            assert tree.labels(1).tolist() == [0, 0, 0, 1, 1, 1]
            assert tree.entropy == pytest.approx(1.6995, abs=1e-4)

    def test_a_clustering_of_igraph(self, bridge):
        graph = pytest.importorskip("igraph").Graph(bridge)
        tree = CodingTree.from_levels(graph, graph.community_multilevel())
        assert tree.labels(1).tolist() == [0, 0, 0, 1, 1, 1]

    def test_no_level(self, bridge):
        assert CodingTree.from_levels(bridge, []).counts == (6, 1)

    def test_siblings_become_neighbours_in_order_of_their_first_node(self):
        edges = [(i, i + 1) for i in range(7)]
        fine, coarse = [5, 4, 3, 2, 5, 4, 3, 2], [1, 0, 1, 0, 1, 0, 1, 0]
        tree = CodingTree.from_levels(edges, [fine, coarse])
        assert tree.labels(2).tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
        assert tree.labels(1).tolist() == [0, 2, 1, 3, 0, 2, 1, 3]
        assert tree.assignment(2).tolist() == [0, 0, 1, 1]

    def test_weights_are_the_callers(self):
        tree = CodingTree.from_levels([(0, 1, 0.5), (1, 2, 1e-3)], [0, 0, 1])
        assert tree.volumes(1) == pytest.approx([1.001, 0.001])
        assert tree.cuts(1) == pytest.approx([0.001, 0.001])

    def test_a_level_may_be_one_cluster_or_all_single(self, bridge):
        flat = sepool.one_dimensional_entropy(bridge)
        tree = CodingTree.from_levels(bridge, [range(6), [0] * 6])
        assert tree.counts == (6, 6, 1, 1)
        assert tree.entropy == pytest.approx(flat)

    def test_not_nested(self, bridge):
        message = "cluster x of level 1 holds the nodes 1 and 3, which level 2 puts apart"
        with pytest.raises(ValueError, match=message):
            CodingTree.from_levels(bridge, [list("axxxbb"), [0, 0, 0, 1, 1, 1]])

    def test_coarsest_first(self, bridge):
        with pytest.raises(ValueError, match="finest first"):
            CodingTree.from_levels(bridge, [[0, 0, 0, 1, 1, 1], range(6)])

    @pytest.mark.parametrize(
        "labels", [[0, 1], [[0, 0, 0, 1, 1, 1], [0] * 7], np.zeros((1, 2, 6), int)]
    )
    def test_wrong_length(self, bridge, labels):
        with pytest.raises(ValueError, match=r"expected 6 labels, one a node, got shape"):
            CodingTree.from_levels(bridge, labels)

    @pytest.mark.parametrize("labels", [[0.5] * 6, [None] * 6, [{0, 1, 2}, 3], 3.0])
    def test_wrong_kind(self, bridge, labels):
        with pytest.raises(TypeError, match="labels must be integers or strings"):
            CodingTree.from_levels(bridge, labels)


class TestLabelsByNode:
    COMMUNITIES: ClassVar = [{0, 1, 2}, {3, 4, 5}]

    @pytest.mark.parametrize(
        "labels",
        [
            COMMUNITIES,
            tuple(map(frozenset, COMMUNITIES)),
            {node: i // 3 for i, node in enumerate(range(6))},
            {5: "b", 4: "b", 3: "b", 2: "a", 1: "a", 0: "a"},
            [COMMUNITIES],
        ],
    )
    def test_the_same_as_an_array(self, bridge, labels):
        found = CodingTree.from_levels(bridge, labels)
        assert found == CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])

    def test_two_levels(self, bridge):
        fine = [{0, 1}, {2}, {3, 4, 5}]
        found = CodingTree.from_levels(bridge, [fine, {i: i // 3 for i in range(6)}])
        assert found == CodingTree.from_levels(bridge, [[0, 0, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1]])

    def test_what_networkx_yields(self, bridge):
        nx = pytest.importorskip("networkx")
        graph = nx.Graph([tuple(map(int, pair)) for pair in bridge])
        communities = nx.community
        for labels in (
            communities.label_propagation_communities(graph),  # values of a dictionary
            iter(self.COMMUNITIES),
            communities.louvain_partitions(graph, seed=1),  # levels, one after the other
        ):
            assert CodingTree.from_levels(graph, labels).num_nodes == 6

    def test_clusterings_of_igraph(self, bridge):
        igraph = pytest.importorskip("igraph")
        graph = igraph.Graph([tuple(map(int, pair)) for pair in bridge])
        levels = graph.community_multilevel(return_levels=True)
        found = CodingTree.from_levels(graph, levels)
        assert found == CodingTree.from_levels(graph, [level.membership for level in levels])
        assert found.height == len(levels) + 1

    def test_nodes_by_their_names(self):
        nx = pytest.importorskip("networkx")
        graph = nx.Graph([(("c", 1), ("c", 2)), (("c", 2), "x"), ("x", 7)])
        found = CodingTree.from_levels(graph, [{("c", 1), ("c", 2)}, {"x", 7}])
        assert found.labels(1).tolist() == [0, 0, 1, 1]
        assert found.communities(1, graph) == [{("c", 1), ("c", 2)}, {"x", 7}]
        assert found.communities(1) == [{"('c', 1)", "('c', 2)"}, {"x", "7"}]

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([{0, 1, 2}, {3, 4}], "node 5 has no label"),
            ([{0, 1, 2}, {2, 3, 4, 5}], "node 2 has two labels, 0 and 1"),
            ([{0, 1, 2}, {3, 4, 5, 6}], "the labels have a node 6, which is not in the graph"),
            ({0: 1}, "node 1 has no label"),
            ({"0": 1}, "the labels have a node '0', which is not in the graph"),
        ],
    )
    def test_what_is_missing_or_too_much(self, bridge, labels, message):
        with pytest.raises(ValueError, match=message):
            CodingTree.from_levels(bridge, labels)

    def test_names_that_two_nodes_have(self):
        nx = pytest.importorskip("networkx")
        graph = nx.Graph([(1, "1"), ("1", 2)])
        with pytest.raises(ValueError, match="two nodes have the same name"):
            CodingTree.from_levels(graph, [{1, "1"}, {2}])


def test_communities(tree):
    assert tree.communities(2) == [{0, 1, 2}, {3, 4, 5}]
    assert tree.communities(1, "abcdef") == [set("ab"), set("c"), set("d"), set("ef")]
    with pytest.raises(ValueError, match="the tree has 6 nodes, got names for 2"):
        tree.communities(1, "ab")


@pytest.mark.parametrize("level", ["a", 1.0, None, True])
def test_levels_are_whole_numbers(tree, level):
    with pytest.raises(TypeError, match="level must be a whole number, got "):
        tree.labels(level)


def test_equal_trees_are_equal(bridge, tree):
    again = CodingTree.from_levels(bridge, [[0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]])
    assert tree == again
    assert hash(tree) == hash(again)
    assert tree != sepool.coding_tree(bridge, height=2)
    assert tree != CodingTree.from_levels(bridge, [0, 0, 1, 1, 1, 1])
    assert tree != "tree"
    for name in ("volume", "cut"):
        assert tree != replace(tree, **{name: getattr(tree, name) + 1})
    assert tree != replace(tree, names=tuple("abcdef"))
    wide = replace(tree, parent=tree.parent.astype(np.int64))
    assert tree == wide
    assert hash(tree) == hash(wide)


class TestBatch:
    @pytest.fixture
    def graphs(self, bridge) -> list[np.ndarray]:
        edges = np.array(bridge)
        return [edges, np.array([[0, 1]]), edges[:3]]

    def test_it_is_a_sequence_of_what_single_calls_give(self, graphs):
        trees = sepool.coding_trees(graphs, height=3)
        assert (len(trees), trees.height) == (3, 3)
        for tree, graph in zip(trees, graphs, strict=True):
            alone = sepool.coding_tree(graph, height=3)
            assert tree.counts == alone.counts
            assert tree.parent.tolist() == alone.parent.tolist()
            assert tree.volume.tolist() == alone.volume.tolist()
            assert tree.cut.tolist() == alone.cut.tolist()
            assert tree.entropy == alone.entropy
        assert trees.entropy.tolist() == [tree.entropy for tree in trees]

    def test_slices_are_batches(self, graphs):
        trees = sepool.coding_trees(graphs, height=2)
        back = trees[::-1]
        assert repr(back) == "TreeBatch(trees=3, height=2)"
        assert [tree.num_nodes for tree in back] == [3, 2, 6]
        assert repr(back[1:][0]) == repr(trees[1])
        assert len(trees[5:]) == 0

    def test_index_errors(self, graphs):
        trees = sepool.coding_trees(graphs)
        assert repr(trees[-1]) == repr(trees[2])
        for index in (3, -4):
            with pytest.raises(IndexError):
                trees[index]

    def test_weights_are_the_callers_in_every_graph(self):
        graphs = [np.array([[0, 1, 0.1], [1, 2, 0.25]]), np.array([[0, 1, 3000.0]])]
        trees = sepool.coding_trees(graphs)
        assert trees[0].volume[-1] == pytest.approx(0.7)
        assert trees[1].volume[-1] == pytest.approx(6000)

    def test_names_ride_along(self, tmp_path):
        (tmp_path / "graph.txt").write_text("ann bob\n")
        trees = sepool.coding_trees([[(0, 1)], tmp_path / "graph.txt"])
        assert [tree.names for tree in trees] == [None, ("ann", "bob")]
        assert trees[1:][0].names == ("ann", "bob")
