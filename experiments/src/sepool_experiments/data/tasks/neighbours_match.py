"""Tree-neighbours-match (Alon and Yahav 2021): the root of a binary tree asks one of its leaves."""

from __future__ import annotations

import numpy as np

from sepool_experiments.data.tasks.task import Ints, Task, edge_blocks, split_in_order


def binary_tree(depth: int) -> Ints:
    """Return the edges of a complete binary tree, whose root is node 0.

    >>> binary_tree(1).tolist()
    [[0, 1], [0, 2]]
    """
    child = np.arange(1, 2 ** (depth + 1) - 1)
    return np.column_stack([(child - 1) // 2, child])


def neighbours_match_task(
    name: str, depth: int, sizes: tuple[int, int, int], seed: int = 0
) -> Task:
    """Return examples on one complete binary tree of a depth.

    Leaves have the keys 1, 2, ... and a permutation of the values 1, 2, ...; the root has a key.
    The class of the root is the value of the leaf with that key. Other nodes are not scored.
    """
    rng = np.random.default_rng(seed)
    count, leaves, nodes = sum(sizes), 2**depth, 2 ** (depth + 1) - 1
    value = np.argsort(rng.random((count, leaves)), axis=1)
    asked = rng.integers(leaves, size=count)
    keys, values = (np.zeros((count, nodes), np.int64) for _ in range(2))
    keys[:, 0] = asked + 1
    keys[:, -leaves:] = np.arange(leaves) + 1
    values[:, -leaves:] = value + 1
    eye = np.eye(leaves + 1, dtype=np.float32)
    x = np.concatenate([eye[keys.ravel()], eye[values.ravel()]], axis=1)
    y = np.full((count, nodes), -1)
    y[:, 0] = value[np.arange(count), asked]
    blocks = edge_blocks([binary_tree(depth)])
    split = split_in_order(*sizes)
    return Task(name, np.array([nodes]), blocks, x, y.ravel(), **split, target="node")
