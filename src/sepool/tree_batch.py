"""The coding trees of many graphs in one set of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Names
from sepool.tree import CodingTree


@dataclass(frozen=True, eq=False, repr=False)
class TreeBatch(Sequence[CodingTree]):
    """The coding trees of many graphs in one set of arrays; an index returns a `CodingTree`.

    Attributes:
        counts: number of nodes on each level, one row a tree.
        parent: as in `CodingTree`, tree after tree.
        volume: as in `CodingTree`, tree after tree, in units of the tree's graph.
        boundary: as in `CodingTree`, tree after tree, in units of the tree's graph.
        entropy: the entropy of every tree, in bits.
        unit: the weight of a unit in every graph.
        starts: the start of every tree in ``parent``, and in ``volume`` and ``boundary``.
        names: the names of the nodes of every graph.

    Example:
        >>> import sepool
        >>> trees = sepool.coding_trees([[(0, 1)], [(0, 1), (2, 3)]], height=2)
        >>> trees
        TreeBatch(trees=2, height=2)
        >>> trees[1]
        CodingTree(height=2, nodes=4, clusters=[4, 2, 1], entropy=1.0000)
        >>> trees.entropy
        array([1., 1.])
    """

    counts: NDArray[np.int64]
    parent: NDArray[np.int32]
    volume: NDArray[np.int64]
    boundary: NDArray[np.int64]
    entropy: NDArray[np.float64]
    unit: NDArray[np.float64]
    starts: NDArray[np.int64]
    names: tuple[Names | None, ...] | None = None

    @property
    def height(self) -> int:
        """Height of every tree."""
        return int(self.counts.shape[1]) - 1

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, index: int) -> CodingTree: ...
    @overload
    def __getitem__(self, index: slice) -> TreeBatch: ...
    def __getitem__(self, index: int | slice) -> CodingTree | TreeBatch:
        if isinstance(index, slice):
            return TreeBatch(
                self.counts[index],
                self.parent,
                self.volume,
                self.boundary,
                self.entropy[index],
                self.unit[index],
                self.starts[index],
                None if self.names is None else self.names[index],
            )
        counts = tuple(self.counts[index].tolist())
        first, start = self.starts[index]
        parents, nodes = slice(first, first + sum(counts) - 1), slice(start, start + sum(counts))
        return CodingTree(
            counts,
            self.parent[parents],
            self.volume[nodes] * self.unit[index],
            self.boundary[nodes] * self.unit[index],
            float(self.entropy[index]),
            None if self.names is None else self.names[index],
        )

    def __repr__(self) -> str:
        return f"TreeBatch(trees={len(self)}, height={self.height})"
