from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sepool
from sepool import CodingTree

hierarchy = pytest.importorskip("scipy.cluster.hierarchy")


def is_same_partition(one, two) -> bool:
    return len(set(zip(one, two, strict=True))) == len(set(one)) == len(set(two))


@given(data=st.data())
def test_linkage_gives_the_levels_back(data):
    n = data.draw(st.integers(2, 30))
    finest = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    middle = [label // 3 for label in finest]
    tree = CodingTree.from_levels(
        sepool.as_graph([(0, 1)], num_nodes=n), [finest, middle, [label // 2 for label in middle]]
    )
    matrix = tree.to_linkage()
    assert matrix.shape == (n - 1, 4)
    assert matrix.dtype == np.float64
    assert hierarchy.is_valid_linkage(matrix, throw=True)
    assert hierarchy.is_monotonic(matrix)
    assert sorted(hierarchy.leaves_list(matrix)) == list(range(n))
    for level in range(1, tree.height + 1):
        labels = tree.labels(level).tolist()
        flat = hierarchy.fcluster(matrix, level, "distance").tolist()
        assert is_same_partition(flat, labels)
        cut = hierarchy.cut_tree(matrix, n_clusters=tree.num_clusters(level)).ravel().tolist()
        assert is_same_partition(cut, labels)


def test_linkage_heights_are_the_levels_where_nodes_meet():
    tree = sepool.coding_tree(nx.les_miserables_graph(), height=4)
    heights = hierarchy.cophenet(tree.to_linkage())
    labels = np.stack([tree.labels(level) for level in range(tree.height + 1)])
    i, j = np.triu_indices(tree.num_nodes, 1)
    assert (heights == (labels[:, i] == labels[:, j]).argmax(axis=0)).all()


def test_linkage_of_a_star_is_low_enough_for_a_dendrogram():
    tree = sepool.coding_tree([(0, i) for i in range(1, 3000)], height=1)
    drawn = hierarchy.dendrogram(tree.to_linkage(), no_plot=True)
    assert len(drawn["leaves"]) == 3000


def test_linkage_of_one_node_is_empty():
    assert sepool.coding_tree([(0, 0)], height=2).to_linkage().shape == (0, 4)
