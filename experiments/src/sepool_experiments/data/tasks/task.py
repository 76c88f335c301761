"""Graphs with features, targets and a fixed split, cached as flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import read_archive, write_archive
from sepool.pyg.format import EdgeBlocks
from sepool.pyg.reading import Graphs
from sepool.segments import pointers, ranges

Ints = NDArray[np.int64]
PARTS = ("train", "val", "test")
FORMAT, VERSION = "sepool-task", 1


@dataclass(frozen=True)
class Task:
    """Examples to learn from: graphs with features and targets.

    Args:
        name: name of the task.
        nodes: number of nodes of every graph; a single graph is shared by all examples.
        edges: edges of every graph in both directions, sorted by row.
        x: node features, a row a node, example after example.
        y: targets, a class or a number for every example or for every node.
        train: examples of the training set.
        val: examples of the validation set.
        test: examples of the test set.
        metric: "accuracy", "auc" (classes), or "mae" (numbers).
        target: "graph" or "node"; nodes of a negative class are not scored.
    """

    name: str
    nodes: Ints
    edges: EdgeBlocks
    x: NDArray[np.float32]
    y: NDArray[Any]
    train: Ints
    val: Ints
    test: Ints
    metric: str = "accuracy"
    target: str = "graph"

    @property
    def shared(self) -> bool:
        """True if all examples have the same graph."""
        return len(self.nodes) == 1

    @property
    def outputs(self) -> int:
        """Number of outputs of a model: the classes, or 1."""
        return 1 if self.metric == "mae" else int(self.y.max()) + 1

    @property
    def graphs(self) -> Graphs:
        """Graphs that trees are built of."""
        return Graphs(self.nodes, self.edges, None)

    @property
    def sizes(self) -> Ints:
        """Number of nodes of every example."""
        return np.full(len(self.x) // self.nodes[0], self.nodes[0]) if self.shared else self.nodes

    def rows(self, examples: Ints) -> Ints:
        """Return the rows of ``x`` of some examples."""
        sizes = self.sizes
        return ranges(pointers(sizes)[:-1][examples], sizes[examples])

    def targets(self, examples: Ints) -> NDArray[Any]:
        """Return the targets of some examples, or of their nodes."""
        targets: NDArray[Any] = self.y[examples if self.target == "graph" else self.rows(examples)]
        return targets


def split_in_order(train: int, val: int, test: int) -> dict[str, Any]:
    """Return the examples of three parts, one after another.

    >>> split_in_order(2, 1, 1)["val"]
    array([2])
    """
    train_val = pointers([train, val, test])
    return {
        name: np.arange(start, stop)
        for name, start, stop in zip(PARTS, train_val, train_val[1:], strict=False)
    }


def edge_blocks(pairs: list[NDArray[Any]]) -> EdgeBlocks:
    """Return the edges of some graphs, each listed once, in both directions and sorted by row."""
    both = []
    for edges in pairs:
        directed = np.concatenate([edges, edges[:, ::-1]]).astype(np.int64)
        both.append(directed[np.lexsort((directed[:, 1], directed[:, 0]))])
    row, col = np.concatenate(both).T
    return EdgeBlocks(np.array([len(edges) for edges in both]), row, col)


def cached_task(root: Path, name: str, make: Callable[[], Task]) -> Task:
    """Load a task from its cache, or make it and write the cache."""
    path = root / "sepool" / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, FORMAT, VERSION, _arrays(make()))
    arrays = read_archive(path, FORMAT, VERSION)
    numbers = {key: arrays[key].astype(np.int64) for key in ("nodes", *PARTS)}
    counts, row, col = (arrays[key].astype(np.int64) for key in ("counts", "row", "col"))
    metric, target = str(arrays["metric"]), str(arrays["target"])
    y = arrays["y"].astype(np.float32 if metric == "mae" else np.int64)
    blocks, x = EdgeBlocks(counts, row, col), arrays["x"].astype(np.float32)
    return Task(name, edges=blocks, x=x, y=y, metric=metric, target=target, **numbers)


def _arrays(task: Task) -> dict[str, NDArray[Any]]:
    names = ("nodes", "x", "y", *PARTS)
    return {
        **{name: getattr(task, name) for name in names},
        **{"counts": task.edges.counts, "row": task.edges.row, "col": task.edges.col},
        **{"metric": np.array(task.metric), "target": np.array(task.target)},
    }
