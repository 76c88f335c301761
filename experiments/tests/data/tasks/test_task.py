"""Examples as flat arrays, and their cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sepool_experiments.data.graphs import load_graphs
from sepool_experiments.data.tasks.catalog import TASKS, load_task, load_task_trees
from sepool_experiments.data.tasks.colours import colour_task, grid_edges
from sepool_experiments.data.tasks.distances import distance_task
from sepool_experiments.data.tasks.task import cached_task
from sepool_experiments.protocols.longrange import LONG_RANGE

MADE = {
    "shared": lambda: colour_task("shared", grid_edges(5), (4, 2, 2)),
    "numbers": lambda: distance_task("numbers", "eccentricity", (4, 2, 2)),
}


@pytest.mark.parametrize("name", MADE)
def test_cached_task_is_equal_and_made_once(tmp_path, name):
    task = MADE[name]()
    cached_task(tmp_path, name, lambda: task)
    loaded = cached_task(tmp_path, name, lambda: pytest.fail("made again"))
    for field in ("nodes", "x", "y", "train", "val", "test"):
        np.testing.assert_array_equal(getattr(loaded, field), getattr(task, field))
    np.testing.assert_array_equal(loaded.edges.row, task.edges.row)
    np.testing.assert_array_equal(loaded.edges.col, task.edges.col)
    assert (loaded.metric, loaded.target) == (task.metric, task.target)
    assert loaded.x.dtype == np.float32


def test_targets_of_nodes_are_those_of_their_graphs():
    task = MADE["numbers"]()
    parts = np.split(task.y, np.cumsum(task.nodes)[:-1])
    np.testing.assert_array_equal(task.targets(np.array([3, 1])), np.append(parts[3], parts[1]))


def test_rows_of_a_shared_graph_are_those_of_the_examples():
    task = MADE["shared"]()
    np.testing.assert_array_equal(task.rows(np.array([2, 0])), [*range(50, 75), *range(25)])


def test_load_task_of_a_tu_dataset_validates_on_the_fold_before(data):
    task, graphs = load_task(data, "MUTAG", fold=0, folds=10), load_graphs(data, "MUTAG")
    assert (task.test.tolist(), task.val.tolist()) == ([0, 10], [9, 19])
    assert np.sort(np.concatenate([task.train, task.val, task.test])).tolist() == list(range(20))
    np.testing.assert_array_equal(task.x, graphs.features())


def test_load_task_trees_of_a_shared_graph_is_one(tmp_path):
    task = MADE["shared"]()
    best, random = (load_task_trees(tmp_path, task, tree, 3) for tree in ("best", "random"))
    assert best.counts.shape == random.counts.shape == (1, 4)
    assert sorted(best.parent[:25]) == sorted(random.parent[:25])
    assert (best.parent[:25] != random.parent[:25]).any()
    moved = replace(task, x=1 - task.x)
    np.testing.assert_array_equal(load_task_trees(tmp_path, moved, "best", 3).parent, best.parent)


def test_protocol_datasets_are_tasks():
    assert set(LONG_RANGE[0].datasets) == set(TASKS)
