"""Linkage matrices of SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sepool.tree import CodingTree


def linkage(tree: CodingTree) -> NDArray[np.float64]:
    """Return the merges of a tree, those into a cluster at the height of its level.

    The children of a cluster merge in pairs, then the pairs, and so on: as low a binary tree as
    there is.
    """
    rows: list[NDArray[Any]] = []
    total = tree.num_nodes
    ids: NDArray[Any] = np.arange(total)
    sizes: NDArray[Any] = np.ones(total, np.int64)
    for level in range(1, tree.height + 1):
        parent: NDArray[Any] = tree.assignment(level)
        order = np.argsort(parent, kind="stable")
        parent, ids, sizes = parent[order], ids[order], sizes[order]
        while len(parent) > tree.num_clusters(level):
            first = np.searchsorted(parent, parent)  # where the siblings begin
            left = (np.arange(len(parent)) - first) % 2 == 0
            left[:-1] &= parent[:-1] == parent[1:]
            left[-1] = False
            one = np.flatnonzero(left)
            two = one + 1
            size = sizes[one] + sizes[two]
            low, high = np.minimum(ids[one], ids[two]), np.maximum(ids[one], ids[two])
            rows.append(np.column_stack([low, high, np.full(len(one), level), size]))
            ids[one] = total + np.arange(len(one))
            sizes[one] = size
            total += len(one)
            ids, sizes, parent = (np.delete(x, two) for x in (ids, sizes, parent))
    return np.concatenate([np.zeros((0, 4), np.int64), *rows]).astype(np.float64)
