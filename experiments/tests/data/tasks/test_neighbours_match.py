"""The root of a binary tree asks one of its leaves."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from sepool_experiments.data.tasks.neighbours_match import binary_tree, neighbours_match_task


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_binary_tree_is_that_of_networkx(depth):
    expected = nx.balanced_tree(2, depth)
    assert set(map(tuple, binary_tree(depth).tolist())) == set(expected.edges)


def test_neighbours_match_class_is_the_value_of_the_leaf_with_the_key():
    task = neighbours_match_task("match", 3, (40, 5, 5))
    keys, values = task.x.reshape(50, 15, 2, 9).argmax(axis=3).transpose(2, 0, 1)
    y = task.y.reshape(50, 15)
    assert (y[:, 1:] == -1).all()
    for example in range(50):
        (leaf,) = np.flatnonzero(keys[example, 7:] == keys[example, 0])
        assert values[example, 7 + leaf] == y[example, 0] + 1
        assert sorted(values[example, 7:]) == list(range(1, 9))
        assert not keys[example, 1:7].any()
        assert not values[example, :7].any()
    assert (task.target, task.outputs, len(task.train)) == ("node", 8, 40)
