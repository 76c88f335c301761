"""Batches of a task as PyG data, sliced out of tensors of all examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Batch, Data

from sepool.pyg.format import Forest, pack_blocks
from sepool.pyg.hierarchy import Hierarchy, hierarchy
from sepool.segments import pointers, ranges
from sepool_experiments.data.tasks.task import Ints, Task


@dataclass(frozen=True)
class TaskBatch:
    """Some examples as one graph, their hierarchy (None without a tree) and their targets."""

    data: Data
    levels: Hierarchy | None
    y: Tensor


class TaskBatches:
    """The examples of a task on a device.

    Args:
        task: the task.
        forest: trees of its graphs, or None for models that read none.
        device: device of the tensors.
    """

    def __init__(self, task: Task, forest: Forest | None, device: str = "cpu") -> None:
        self.task, self.device = task, device
        self.x = torch.from_numpy(task.x).to(device)
        self.y = torch.from_numpy(task.y).to(device)
        self.edges = torch.from_numpy(np.stack([task.edges.row, task.edges.col])).to(device)
        self.nodes, self.node_ptr = task.sizes, pointers(task.sizes)
        self.edge_ptr = pointers(task.edges.counts)
        if forest is not None:
            blocks = pack_blocks(forest, task.edges)
            self.trees, self.tree_ptr = torch.from_numpy(blocks.numbers).to(device), blocks.ptr
        self.has_trees = forest is not None
        self.graphs: dict[int, tuple[Data, Hierarchy | None]] = {}  # of a shared graph, by count

    def shuffled(self, size: int, rng: np.random.Generator) -> Iterator[TaskBatch]:
        """Yield the training set in random batches; the last one may be smaller."""
        return self.batches(rng.permutation(self.task.train), size)

    def batches(self, examples: Ints, size: int) -> Iterator[TaskBatch]:
        """Yield examples in batches, in their order."""
        for start in range(0, len(examples), size):
            yield self.batch(examples[start : start + size])

    def batch(self, examples: Ints) -> TaskBatch:
        """Return some examples as a batch."""
        rows = self._index(ranges(self.node_ptr[examples], self.nodes[examples]))
        if self.task.shared:
            if len(examples) not in self.graphs:
                self.graphs[len(examples)] = self._graph(np.zeros(len(examples), np.int64))
            shared, levels = self.graphs[len(examples)]
            data = Batch(**shared.to_dict())
        else:
            data, levels = self._graph(examples)
        data.x = self.x.index_select(0, rows)
        y = self.y.index_select(0, rows if self.task.target == "node" else self._index(examples))
        return TaskBatch(data, levels, y)

    def _graph(self, graphs: Ints) -> tuple[Data, Hierarchy | None]:
        """Join graphs to one, without features."""
        nodes, counts = self.task.nodes[graphs], self.task.edges.counts[graphs]
        ptr = pointers(nodes)
        columns = self._index(ranges(self.edge_ptr[graphs], counts))
        shift = self._index(np.repeat(ptr[:-1], counts))
        edges = self.edges.index_select(1, columns) + shift
        graph = self._index(np.repeat(np.arange(len(graphs)), nodes))
        data = Batch(edge_index=edges, batch=graph, ptr=self._index(ptr), num_nodes=int(ptr[-1]))
        if not self.has_trees:
            return data, None
        starts = self.tree_ptr[graphs]
        tree = self._index(ranges(starts, self.tree_ptr[graphs + 1] - starts))
        data.tree = self.trees.index_select(0, tree)
        return data, hierarchy(data)

    def _index(self, numbers: NDArray[Any]) -> Tensor:
        return torch.from_numpy(numbers).to(self.device)
