"""The packed block of a graph's hierarchy; its layout stands in `sepool.pyg.hierarchy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import pointers
from sepool.tree_batch import TreeBatch

# What is known of the edges of a graph; what holds for a batch is the least of its graphs.
DIRECTED = 0
SYMMETRIC = 1  # for every edge one back, of the same weight
SORTED = 2  # symmetric, and sorted by row

Ints = NDArray[np.int64]
AT_ONCE = 1 << 16  # edges; what is worked on then stays in the processor's cache


class Forest(NamedTuple):
    """The trees of many graphs, without volumes and entropies: ``counts`` as in `TreeBatch`.

    ``parent`` too is as there, but without gaps between the trees.
    """

    counts: Ints
    parent: NDArray[np.int32]

    @property
    def height(self) -> int:
        """The height of every tree."""
        return int(self.counts.shape[1]) - 1

    @classmethod
    def of(cls, trees: TreeBatch) -> Forest:
        """The trees of a batch, or of a slice of one."""
        lengths = trees.counts.sum(axis=1) - 1
        starts, parent = trees.starts[:, 0], trees.parent
        whole = len(parent) == lengths.sum() and np.array_equal(starts, pointers(lengths)[:-1])
        return cls(trees.counts, parent if whole else parent[ranges(starts, lengths)])


class EdgeBlocks(NamedTuple):
    """The edges of many graphs: rows and columns local to their graph, weights or None."""

    counts: Ints
    row: NDArray[Any]
    col: NDArray[Any]
    weight: NDArray[np.float64] | None = None


class Blocks(NamedTuple):
    """The blocks of many graphs, one after the other, and where they begin and end."""

    numbers: NDArray[np.int32]
    ends: Ints


def pack_blocks(
    trees: Forest, edges: EdgeBlocks, symmetric: bool | NDArray[np.bool_] = True
) -> Blocks:
    """The blocks of all graphs, from the trees and the edges that are pooled.

    Args:
        trees: one tree a graph.
        edges: the edges whose weights are summed to ``S A S^T``; equal ones add up.
        symmetric: whether every edge is there in both directions, with one weight; for all graphs,
            or one answer a graph.

    Raises:
        ValueError: a weight is negative, for the sign marks where a block begins; or it is NaN or
            infinite, or weights sum to more than a float32 can hold.

    Example:
        >>> import sepool
        >>> path = [(0, 1), (1, 2), (2, 3)]
        >>> trees = Forest.of(sepool.coding_trees([path], height=2))
        >>> row, col = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> numbers = pack_blocks(trees, EdgeBlocks(np.array([6]), row, col)).numbers
        >>> numbers[:8], numbers[8:12]
        (array([-2,  2,  4,  2,  1,  6,  4,  1], dtype=int32), array([0, 1, 2, 3], dtype=int32))
    """
    if edges.weight is not None:
        wrong = edges.weight[~((edges.weight >= 0) & (edges.weight < np.inf))]
        if len(wrong):
            raise ValueError(
                f"weights of edges that are pooled must not be negative or infinite, got {wrong[0]}"
            )
    up = pointers(trees.counts[:, :-1].sum(axis=1))
    symmetric = np.broadcast_to(symmetric, len(trees.counts))
    found, ends = [], [np.zeros(1, np.int64)]
    for graphs, part in runs(edges.counts):
        some = Forest(trees.counts[graphs], trees.parent[up[graphs.start] : up[graphs.stop]])
        weight = None if edges.weight is None else edges.weight[part]
        pooled = EdgeBlocks(edges.counts[graphs], edges.row[part], edges.col[part], weight)
        numbers, stops = _pack(some, pooled, symmetric[graphs])
        found.append(numbers)
        ends.append(ends[-1][-1] + stops[1:])
    return Blocks(np.concatenate(found), np.concatenate(ends))


def runs(counts: Ints, at_once: int = AT_ONCE) -> Iterator[tuple[slice, slice]]:
    """Cuts graphs into runs of about as many edges (or nodes); yields their graphs and edges.

    Example:
        >>> list(runs(np.array([3, 4, 5]), at_once=6))
        [(slice(0, 2, None), slice(0, 7, None)), (slice(2, 3, None), slice(7, 12, None))]
    """
    ends = pointers(counts)
    cuts = np.flatnonzero(np.diff(ends[:-1] // at_once, prepend=-1)).tolist()
    for a, b in pairwise([*cuts, len(counts)]):
        yield slice(a, b), slice(int(ends[a]), int(ends[b]))


def _pack(trees: Forest, edges: EdgeBlocks, symmetric: NDArray[np.bool_]) -> Blocks:
    counts, height = trees.counts, trees.height
    parents = global_parents(trees)
    layout = np.where(symmetric, SYMMETRIC + _row_by_row(edges), DIRECTED)
    if edges.counts.max(initial=0) >= 2**31:
        raise ValueError("a graph has 2^31 edges or more, which a packed tree cannot hold")
    head = np.empty((len(counts), 4 + 2 * height), np.int32)
    head[:, 0], head[:, 1], head[:, 2 : 3 + height] = -height, layout, counts
    head[:, 3 + height] = edges.counts
    order = np.argsort(parents[0], kind="stable")
    order -= np.repeat(pointers(counts[:, 0])[:-1], counts[:, 0])
    sizes = [np.bincount(up, minlength=n) for up, n in zip(parents, counts.sum(0)[1:], strict=True)]
    pieces: list[NDArray[Any]] = [head.ravel(), order, *sizes]
    for level, part in enumerate(_pool_edges(counts, parents, edges), start=4 + height):
        head[:, level] = part.counts
        pieces += [part.row, part.col, _single(part.weight).view(np.int32)]
    lengths = [np.full((len(counts), 1), head.shape[1]), counts]
    lengths.append(np.repeat(head[:, 4 + height :], 3, axis=1))
    return _graph_by_graph(pieces, np.concatenate(lengths, axis=1))


def _single(weight: NDArray[np.float64] | None) -> NDArray[np.float32]:
    """The weights in single precision, which they are stored in."""
    found = np.asarray(weight, np.float64)
    largest = found.max(initial=0)
    if largest > np.finfo(np.float32).max:
        raise ValueError(f"weights of edges sum to {largest:g}, more than a float32 can hold")
    return found.astype(np.float32)


def trees_of(blocks: Blocks) -> tuple[Forest, NDArray[np.bool_]]:
    """The trees in blocks of one height, and which graphs have symmetric edges.

    Example:
        >>> import sepool
        >>> trees = Forest.of(sepool.coding_trees([[(0, 1)], [(0, 1), (1, 2)]], height=2))
        >>> none = EdgeBlocks(np.zeros(2, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
        >>> again, _ = trees_of(pack_blocks(trees, none))
        >>> bool((again.parent == trees.parent).all())
        True
    """
    numbers, starts = blocks.numbers, blocks.ends[:-1]
    height = int(-numbers[0])
    counts = numbers[starts[:, None] + np.arange(2, 3 + height)].astype(np.int64)
    nodes = counts[:, 0]
    body = starts + 4 + 2 * height
    order = numbers[ranges(body, nodes)] + np.repeat(pointers(nodes)[:-1], nodes)
    clusters = counts[:, 1:].sum(axis=1)
    sizes = numbers[ranges(body + nodes, clusters)]
    first = pointers(counts.ravel())[:-1].reshape(counts.shape)
    owner = np.arange(counts.sum()) - np.repeat(first.ravel(), counts.ravel())
    up = owner[ranges(first[:, 1], clusters)]  # the clusters of all levels, by their own number
    parent = np.repeat(up, sizes).astype(np.int32)
    leaves = ranges(pointers(counts[:, :-1].sum(1))[:-1], nodes)
    parent[leaves[order]] = parent[leaves]
    return Forest(counts, parent), numbers[starts + 1] != DIRECTED


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """``starts[0], starts[0] + 1, ...``, as many as its length says, then the next."""
    ends = pointers(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])


def global_parents(trees: Forest) -> list[Ints]:
    """For each level but the last: the parent of every node, numbered through all graphs."""
    counts, found = trees.counts, []
    start = pointers(counts[:, :-1].sum(axis=1))[:-1]
    for level in range(trees.height):
        local = trees.parent[ranges(start, counts[:, level])]
        shift = np.repeat(pointers(counts[:, level + 1])[:-1], counts[:, level])
        found.append(local + shift)
        start = start + counts[:, level]
    return found


def _pool_edges(counts: Ints, parents: list[Ints], edges: EdgeBlocks) -> list[EdgeBlocks]:
    """The edges between clusters on the levels 1 to the height (``S A S^T``), sorted by row."""
    found = []
    for level, up in enumerate(parents):
        edges = _pool_once(counts[:, level], counts[:, level + 1], up, edges)
        found.append(edges)
    return found


def _pool_once(below: Ints, above: Ints, up: Ints, edges: EdgeBlocks) -> EdgeBlocks:
    """One level up. Every pair of clusters of a graph is a cell; sums run in the edges' order."""
    first = pointers(above)
    line = pointers(np.repeat(above, above))  # where the cells of a cluster's row begin
    shift = np.repeat(pointers(below)[:-1], edges.counts)
    local = up - np.repeat(first[:-1], below)
    cell = line[up].take(edges.row + shift)
    cell += local.take(edges.col + shift)
    used, weight = _sums(cell, edges.weight, int(line[-1]))
    ends = np.searchsorted(used, line)
    lengths = np.diff(ends)
    row = np.repeat(np.arange(len(lengths)) - np.repeat(first[:-1], above), lengths)
    col = used - np.repeat(line[:-1], lengths)
    return EdgeBlocks(np.diff(ends[first]), row, col, weight)


def _sums(
    cell: Ints, weight: NDArray[np.float64] | None, cells: int
) -> tuple[Ints, NDArray[np.float64]]:
    """The cells that occur, and the sums of their weights; both ways give the same bits."""
    if cells <= 4 * len(cell):  # a table of all cells is faster than sorting
        size = np.bincount(cell, minlength=cells)
        used = np.flatnonzero(size)
        total = size if weight is None else np.bincount(cell, weight, cells)
        return used, total[used].astype(np.float64)
    used, place = np.unique(cell, return_inverse=True)
    return used, np.bincount(place, weight, len(used)).astype(np.float64)


def _row_by_row(edges: EdgeBlocks) -> NDArray[np.bool_]:
    """Whether the rows of a graph never fall."""
    ends = pointers(edges.counts)
    falls = np.flatnonzero(edges.row[1:] < edges.row[:-1]) + 1
    graph = np.searchsorted(ends, falls, side="right") - 1
    sorted_rows = np.ones(len(edges.counts), np.bool_)
    sorted_rows[graph[falls != ends[graph]]] = False
    return sorted_rows


def _graph_by_graph(pieces: Sequence[NDArray[Any]], lengths: Ints) -> Blocks:
    """Pieces that hold all graphs, laid out graph by graph; one row of lengths a graph."""
    starts = pointers(lengths.T.ravel())[:-1].reshape(lengths.shape[::-1]).T.ravel()
    joined = np.concatenate(pieces, dtype=np.int32, casting="same_kind")
    numbers = joined.take(ranges(starts, lengths.ravel()))
    return Blocks(numbers, pointers(lengths.sum(axis=1)))
