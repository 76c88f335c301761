"""Batches of a task against PyG's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from sepool.pyg.format import pack_blocks
from sepool.pyg.hierarchy import hierarchy
from sepool.segments import pointers
from sepool_experiments.batches.tasks import TaskBatches
from sepool_experiments.data.tasks.catalog import load_task_trees
from sepool_experiments.data.tasks.colours import colour_task, grid_edges
from sepool_experiments.data.tasks.distances import distance_task
from sepool_experiments.data.tasks.task import edge_blocks

TASKS = {
    "shared": colour_task("shared", grid_edges(4), (6, 2, 2)),
    "own": distance_task("own", "shortest-path", (6, 2, 2)),
}
EXAMPLES = np.array([3, 0, 7])


def pyg_batch(task, forest, examples):
    """The same examples as PyG collates them."""
    sizes, blocks = task.sizes, pack_blocks(forest, task.edges).tensors()
    rows, columns = pointers(sizes), pointers(task.edges.counts)
    pairs = torch.from_numpy(np.stack([task.edges.row, task.edges.col]))
    graphs = []
    for i in examples:
        g = 0 if task.shared else i
        graphs.append(
            Data(
                x=torch.from_numpy(task.x[rows[i] : rows[i + 1]]),
                edge_index=pairs[:, columns[g] : columns[g + 1]],
                tree=blocks[g],
            )
        )
    return Batch.from_data_list(graphs)


@pytest.mark.parametrize("name", TASKS)
def test_batch_is_that_of_pyg(name, tmp_path):
    task = TASKS[name]
    forest = load_task_trees(tmp_path, task, "best", 3)
    batch, expected = TaskBatches(task, forest).batch(EXAMPLES), pyg_batch(task, forest, EXAMPLES)
    for key in ("x", "edge_index", "batch", "ptr", "tree"):
        assert torch.equal(batch.data[key], expected[key]), key
    assert batch.data.num_graphs == 3
    levels = hierarchy(expected)
    for level in (1, 2, 3):
        assert torch.equal(batch.levels.assignment(level), levels.assignment(level))
        assert torch.equal(batch.levels.edges[level - 1], levels.edges[level - 1])
    assert batch.y.tolist() == task.targets(EXAMPLES).tolist()


def test_batch_of_a_shared_graph_reads_the_hierarchy_once(tmp_path):
    task = TASKS["shared"]
    batches = TaskBatches(task, load_task_trees(tmp_path, task, "best", 3))
    first, second = (batches.batch(part) for part in (EXAMPLES, EXAMPLES[::-1].copy()))
    assert first.levels is second.levels
    assert not torch.equal(first.data.x, second.data.x)


def test_batch_without_trees_has_no_hierarchy():
    batch = TaskBatches(TASKS["own"], None).batch(EXAMPLES)
    assert batch.levels is None
    assert "tree" not in batch.data


def test_shuffled_covers_the_training_set_once():
    task = replace(TASKS["shared"], train=np.array([5, 1, 3, 0, 2]))
    batches = TaskBatches(task, None)
    batches.y = torch.arange(10)
    parts = [batch.y.tolist() for batch in batches.shuffled(2, np.random.default_rng(0))]
    assert [len(part) for part in parts] == [2, 2, 1]
    assert sorted(example for part in parts for example in part) == [0, 1, 2, 3, 5]


def test_edge_blocks_are_sorted_and_in_both_directions():
    blocks = edge_blocks([np.array([(2, 0), (0, 1)]), np.empty((0, 2), int)])
    assert blocks.counts.tolist() == [4, 0]
    assert list(zip(blocks.row, blocks.col, strict=True)) == [(0, 1), (0, 2), (1, 0), (2, 0)]
