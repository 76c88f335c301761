"""Coding trees of labels in all their forms."""

from __future__ import annotations

from typing import ClassVar

import igraph
import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree


class TestFromLevels:
    def test_from_levels_forms_of_one_level_agree(self, bridge):
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

    def test_from_levels_without_levels_is_the_flat_tree(self, bridge):
        assert CodingTree.from_levels(bridge, []).counts == (6, 1)

    def test_from_levels_siblings_are_adjacent_in_order_of_their_first_node(self):
        edges = [(i, i + 1) for i in range(7)]
        fine, coarse = [5, 4, 3, 2, 5, 4, 3, 2], [1, 0, 1, 0, 1, 0, 1, 0]
        tree = CodingTree.from_levels(edges, [fine, coarse])
        assert tree.labels(2).tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
        assert tree.labels(1).tolist() == [0, 2, 1, 3, 0, 2, 1, 3]
        assert tree.assignment(2).tolist() == [0, 0, 1, 1]

    def test_from_levels_keeps_the_unit_of_the_weights(self):
        tree = CodingTree.from_levels([(0, 1, 0.5), (1, 2, 1e-3)], [0, 0, 1])
        assert tree.volumes(1) == pytest.approx([1.001, 0.001])
        assert tree.boundaries(1) == pytest.approx([0.001, 0.001])

    def test_from_levels_takes_one_cluster_and_singletons(self, bridge):
        flat = sepool.one_dimensional_entropy(bridge)
        tree = CodingTree.from_levels(bridge, [range(6), [0] * 6])
        assert tree.counts == (6, 6, 1, 1)
        assert tree.entropy == pytest.approx(flat)

    def test_from_levels_labels_that_are_not_nested_are_refused(self, bridge):
        message = "cluster x of level 1 holds the nodes 1 and 3, which level 2 puts apart"
        with pytest.raises(ValueError, match=message):
            CodingTree.from_levels(bridge, [list("axxxbb"), [0, 0, 0, 1, 1, 1]])

    @pytest.mark.parametrize(
        "labels", [[0, 1], [[0, 0, 0, 1, 1, 1], [0] * 7], np.zeros((1, 2, 6), int)]
    )
    def test_from_levels_labels_of_wrong_length_are_refused(self, bridge, labels):
        with pytest.raises(ValueError, match=r"expected 6 labels, one a node, got shape"):
            CodingTree.from_levels(bridge, labels)

    @pytest.mark.parametrize("labels", [[0.5] * 6, [None] * 6, [{0, 1, 2}, 3], 3.0])
    def test_from_levels_labels_of_wrong_type_are_refused(self, bridge, labels):
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
    def test_from_levels_labels_by_node_equal_an_array(self, bridge, labels):
        tree = CodingTree.from_levels(bridge, labels)
        assert tree == CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])

    def test_from_levels_takes_levels_of_several_forms(self, bridge):
        fine = [{0, 1}, {2}, {3, 4, 5}]
        tree = CodingTree.from_levels(bridge, [fine, {i: i // 3 for i in range(6)}])
        assert tree == CodingTree.from_levels(bridge, [[0, 0, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1]])

    def test_from_levels_takes_iterators_of_networkx(self, bridge):
        graph = nx.Graph([tuple(map(int, pair)) for pair in bridge])
        communities = nx.community
        for labels in (
            communities.label_propagation_communities(graph),  # values of a dictionary
            iter(self.COMMUNITIES),
            communities.louvain_partitions(graph, seed=1),  # an iterator of levels
        ):
            assert CodingTree.from_levels(graph, labels).num_nodes == 6

    def test_from_levels_takes_several_clusterings_of_igraph(self, bridge):
        graph = igraph.Graph([tuple(map(int, pair)) for pair in bridge])
        levels = graph.community_multilevel(return_levels=True)
        tree = CodingTree.from_levels(graph, levels)
        assert tree == CodingTree.from_levels(graph, [level.membership for level in levels])
        assert tree.height == len(levels) + 1

    def test_from_levels_names_identify_nodes(self):
        graph = nx.Graph([(("c", 1), ("c", 2)), (("c", 2), "x"), ("x", 7)])
        tree = CodingTree.from_levels(graph, [{("c", 1), ("c", 2)}, {"x", 7}])
        assert tree.labels(1).tolist() == [0, 0, 1, 1]
        assert tree.communities(1, graph) == [{("c", 1), ("c", 2)}, {"x", 7}]
        assert tree.communities(1) == [{("c", 1), ("c", 2)}, {"x", 7}]

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
    def test_from_levels_missing_or_unknown_nodes_are_refused(self, bridge, labels, message):
        with pytest.raises(ValueError, match=message):
            CodingTree.from_levels(bridge, labels)

    def test_from_levels_repeated_names_are_refused(self):
        graph = igraph.Graph([(0, 1), (1, 2)])
        graph.vs["name"] = ["a", "b", "a"]
        with pytest.raises(ValueError, match="two nodes have the same name"):
            CodingTree.from_levels(graph, [{"a"}, {"b"}])

    def test_from_levels_masked_labels_are_refused(self):
        labels = np.ma.array([0, 1, 1], mask=[0, 0, 1])
        for form in (labels, [labels], [[0, 1, 2], labels]):
            with pytest.raises(ValueError, match="labels have masked entries"):
                CodingTree.from_levels([(0, 1), (1, 2)], form)
