from __future__ import annotations

import numpy as np
import pytest

import sepool


class TestBatch:
    @pytest.fixture
    def graphs(self, bridge) -> list[np.ndarray]:
        edges = np.array(bridge)
        return [edges, np.array([[0, 1]]), edges[:3]]

    def test_getitem_equals_the_tree_of_a_single_call(self, graphs):
        trees = sepool.coding_trees(graphs, height=3)
        assert (len(trees), trees.height) == (3, 3)
        for tree, graph in zip(trees, graphs, strict=True):
            alone = sepool.coding_tree(graph, height=3)
            assert (tree, tree.entropy) == (alone, alone.entropy)
        assert trees.entropy.tolist() == [tree.entropy for tree in trees]

    def test_getitem_of_a_slice_is_a_batch(self, graphs):
        trees = sepool.coding_trees(graphs, height=2)
        back = trees[::-1]
        assert repr(back) == "TreeBatch(trees=3, height=2)"
        assert [tree.num_nodes for tree in back] == [3, 2, 6]
        assert repr(back[1:][0]) == repr(trees[1])
        assert len(trees[5:]) == 0

    def test_getitem_out_of_range_raises_index_error(self, graphs):
        trees = sepool.coding_trees(graphs)
        assert repr(trees[-1]) == repr(trees[2])
        for index in (3, -4):
            with pytest.raises(IndexError):
                trees[index]

    def test_getitem_scales_volumes_to_the_weights_of_the_graph(self):
        graphs = [np.array([[0, 1, 0.1], [1, 2, 0.25]]), np.array([[0, 1, 3000.0]])]
        trees = sepool.coding_trees(graphs)
        assert trees[0].volume[-1] == pytest.approx(0.7)
        assert trees[1].volume[-1] == pytest.approx(6000)

    def test_getitem_keeps_the_names(self, tmp_path):
        (tmp_path / "graph.txt").write_text("ann bob\n")
        trees = sepool.coding_trees([[(0, 1)], tmp_path / "graph.txt"])
        assert [tree.names for tree in trees] == [None, ("ann", "bob")]
        assert trees[1:][0].names == ("ann", "bob")
