"""The coding trees of many graphs in one set of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from sepool.graph.batch import GraphBatch
from sepool.graph.edges import Names
from sepool.graph.graph import Graph
from sepool.levels import assignments_of
from sepool.segments import pointers
from sepool.tree import CodingTree

if TYPE_CHECKING:  # a module that few programs need
    from sepool.graph.colours import Colours


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


def build_batch(
    batch: GraphBatch, options: dict[str, Any], colours: Colours | None = None
) -> TreeBatch:
    """Return the trees of a batch of graphs from the search of the core."""
    from sepool import _core

    out = _core.trees(
        batch.node_ptr,
        batch.indptr,
        batch.indices,
        batch.weights,
        batch.loops,
        colours=None if colours is None else colours.nodes,
        arc_colours=None if colours is None else colours.arcs,
        **options,
    )
    return _tree_batch(out, batch.unit, batch.names)


def build_one(graph: Graph, options: dict[str, Any]) -> CodingTree:
    """Return the tree of one graph from the search of the core."""
    batch = GraphBatch(
        pointers([graph.num_nodes]),
        graph.indptr,
        graph.indices,
        graph.weights,
        graph.loops,
        np.array([graph.unit]),
        (graph.names,),
    )
    return replace(build_batch(batch, options)[0], graph=graph)


def refine(
    graph: Graph,
    levels: Sequence[NDArray[np.integer[Any]]],
    *,
    unions: bool,
    seed: int = 0,
    num_threads: int = 0,
    active: NDArray[np.int8] | None = None,
    held: NDArray[np.int8] | None = None,
    progress: Any = None,
) -> CodingTree:
    """Return the tree that moves lead to from nested labels, finest first.

    Args:
        graph: the graph.
        levels: cluster of every node on each level below the root.
        unions: let clusters unite; otherwise nodes and clusters only move.
        seed: of the order of moves.
        num_threads: number of threads, 0 for all cores.
        active: 1 for nodes that may move at first, None for all.
        held: 1 for nodes that stay in their clusters, without ``unions``.
        progress: callback for the fraction done and the stage of the work.
    """
    from sepool import _core

    parents = assignments_of(list(levels), graph.num_nodes)
    out = _core.refine(
        graph.indptr,
        graph.indices,
        graph.weights,
        graph.loops,
        np.array([*map(len, parents), 1], np.int64),
        np.concatenate(parents).astype(np.int32),
        active=active,
        held=held,
        unions=unions,
        seed=seed,
        num_threads=num_threads,
        progress=progress,
    )
    tree = _tree_batch(out, np.array([graph.unit]), (graph.names,))[0]
    return replace(tree, graph=graph)


def _tree_batch(
    arrays: tuple[Any, ...], unit: NDArray[np.float64], names: tuple[Names | None, ...] | None
) -> TreeBatch:
    counts, parent, volume, boundary, entropy = arrays
    nodes = pointers(counts.sum(axis=1))[:-1]
    starts = np.column_stack([nodes - np.arange(len(nodes)), nodes])  # roots have no parent
    return TreeBatch(counts, parent, volume, boundary, entropy, unit, starts, names)
