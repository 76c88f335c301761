"""The packed hierarchy of a graph: one int32 tensor, which any loader can concatenate.

The block of a graph holds

1. a header of ``4 + 2 k`` numbers: minus the height ``k``; the edge layout (`DIRECTED`,
   `SYMMETRIC` or `SORTED`) and a hash of the edges (`sepool.pyg.edge_hash`); the numbers of nodes
   and of clusters on the levels 1 to ``k``; the numbers of edges and of pooled edges on the levels
   1 to ``k``;
2. the nodes, sorted by their cluster on level 1;
3. level by level, the number of children of every cluster;
4. level by level, the pooled edges: rows, columns, and weights as the bits of a float32.

Only the first number of a block is negative, which marks its start in a batch. All numbers are
local to their graph, so that blocks are concatenated as they are. Siblings have consecutive
numbers: the numbers of children are all that is stored of an assignment.

`pack_blocks` writes the blocks of many graphs with NumPy; `read_headers` and `unpack_blocks` read
those of a batch on its device; `unpack_trees` restores the trees alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.pyg.edge_hash import LAYOUT_MASK, EdgeHash, hash_edges, join_layout, split_layout
from sepool.segments import Ints, pointers, ranges, runs

with needs("torch", "sepool.pyg.format"):
    import torch
    from torch import Tensor

if TYPE_CHECKING:
    from sepool.tree_batch import TreeBatch

# The edge layout of a graph; that of a batch is the least of its graphs.
DIRECTED = 0
SYMMETRIC = 1  # every edge in both directions, with equal weights
SORTED = 2  # symmetric, and sorted by row


class Forest(NamedTuple):
    """The trees of many graphs without volumes and entropies.

    Attributes:
        counts: the number of nodes on every level, one row a tree.
        parent: as in `sepool.CodingTree`, tree after tree.
    """

    counts: Ints
    parent: NDArray[np.int32]

    @property
    def height(self) -> int:
        """The height of every tree."""
        return int(self.counts.shape[1]) - 1

    @classmethod
    def of(cls, trees: TreeBatch) -> Forest:
        """Return the trees of a batch, or of a slice of one."""
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
    """The blocks of many graphs, concatenated, and their pointers."""

    numbers: NDArray[np.int32]
    ptr: Ints

    def tensors(self) -> list[Tensor]:
        """Return one tensor a graph; they share their memory."""
        return list(torch.split(torch.from_numpy(self.numbers), np.diff(self.ptr).tolist()))


class Headers(NamedTuple):
    """The headers of the blocks of a batch, on the host; one row a graph.

    Attributes:
        height: the height of every tree; the other fields are valid if all are equal.
        layout: the edge layout.
        hash: of the edges of the batch; None if trees have none.
        nodes: the number of nodes on the levels 0, 1, ...
        edges: the number of edges on the levels 0, 1, ...
        weight: the sum of all weights in the batch when the trees were added.
    """

    height: Ints
    layout: Ints
    hash: EdgeHash | None
    nodes: Ints
    edges: Ints
    weight: float

    @property
    def size(self) -> int:
        """The number of numbers in all headers."""
        return 2 * len(self.height) + self.nodes.size + self.edges.size

    @property
    def total(self) -> int:
        """The number of numbers in all blocks."""
        return self.size + int(self.nodes.sum() + 3 * self.edges[:, 1:].sum())


# Packing


def pack_blocks(
    trees: Forest, edges: EdgeBlocks, symmetric: bool | NDArray[np.bool_] = True
) -> Blocks:
    """Pack trees and the edges that are pooled along them.

    Args:
        trees: one tree a graph.
        edges: the edges whose weights are summed to ``S A S^T``; weights of equal edges add up.
        symmetric: every edge is listed in both directions with equal weights; one answer for all
            graphs, or one a graph.

    Raises:
        ValueError: a weight is negative, NaN or infinite, or a sum exceeds single precision.

    Example:
        >>> import sepool
        >>> path = [(0, 1), (1, 2), (2, 3)]
        >>> trees = Forest.of(sepool.coding_trees([path], height=2))
        >>> row, col = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> numbers = pack_blocks(trees, EdgeBlocks(np.array([6]), row, col)).numbers
        >>> numbers[2:8], numbers[8:12]
        (array([4, 2, 1, 6, 4, 1], dtype=int32), array([0, 1, 2, 3], dtype=int32))
    """
    if edges.weight is not None:
        invalid = edges.weight[~((edges.weight >= 0) & (edges.weight < np.inf))]
        if len(invalid):
            raise ValueError(
                "weights of edges that are pooled must not be negative or infinite, "
                f"got {invalid[0]}"
            )
    tree_ptr = pointers(trees.counts[:, :-1].sum(axis=1))
    symmetric = np.broadcast_to(symmetric, len(trees.counts))
    numbers, ptr = [], [np.zeros(1, np.int64)]
    for graphs, part in runs(edges.counts):
        parent = trees.parent[tree_ptr[graphs.start] : tree_ptr[graphs.stop]]
        weight = None if edges.weight is None else edges.weight[part]
        blocks = _pack_run(
            Forest(trees.counts[graphs], parent),
            EdgeBlocks(edges.counts[graphs], edges.row[part], edges.col[part], weight),
            symmetric[graphs],
        )
        numbers.append(blocks.numbers)
        ptr.append(ptr[-1][-1] + blocks.ptr[1:])
    return Blocks(np.concatenate(numbers), np.concatenate(ptr))


def _pack_run(trees: Forest, edges: EdgeBlocks, symmetric: NDArray[np.bool_]) -> Blocks:
    counts, height = trees.counts, trees.height
    if edges.counts.max(initial=0) >= 2**31:
        raise ValueError("a graph has 2^31 edges or more, which a packed tree cannot hold")
    parents = global_parents(trees)
    header = np.empty((len(counts), 4 + 2 * height), np.int32)
    header[:, 0] = -height
    header[:, 1] = np.where(symmetric, SYMMETRIC + _rows_sorted(edges), DIRECTED)
    hashes = hash_edges(edges.counts, edges.row, edges.col)
    header[:, 1] = join_layout(header[:, 1], hashes)
    header[:, 2 : 3 + height] = counts
    header[:, 3 + height] = edges.counts
    order = np.argsort(parents[0], kind="stable")
    order -= np.repeat(pointers(counts[:, 0])[:-1], counts[:, 0])
    sizes = [np.bincount(up, minlength=n) for up, n in zip(parents, counts.sum(0)[1:], strict=True)]
    pieces: list[NDArray[Any]] = [header.ravel(), order, *sizes]
    for level, up in enumerate(parents):
        edges = _pool_edges(counts[:, level], counts[:, level + 1], up, edges)
        header[:, 4 + height + level] = edges.counts
        pieces += [edges.row, edges.col, _float32(edges.weight).view(np.int32)]
    lengths = [np.full((len(counts), 1), header.shape[1]), counts]
    lengths.append(np.repeat(header[:, 4 + height :], 3, axis=1))
    return _by_graph(pieces, np.concatenate(lengths, axis=1))


def _by_graph(pieces: list[NDArray[Any]], lengths: Ints) -> Blocks:
    """Reorder pieces that hold all graphs; ``lengths`` has a row a graph, a column a piece."""
    starts = pointers(lengths.T.ravel())[:-1].reshape(lengths.shape[::-1]).T.ravel()
    joined = np.concatenate(pieces, dtype=np.int32, casting="same_kind")
    return Blocks(joined.take(ranges(starts, lengths.ravel())), pointers(lengths.sum(axis=1)))


def global_parents(trees: Forest) -> list[Ints]:
    """Return the parent of every node, level by level, numbered over all graphs."""
    counts, parents = trees.counts, []
    start = pointers(counts[:, :-1].sum(axis=1))[:-1]
    for level in range(trees.height):
        local = trees.parent[ranges(start, counts[:, level])]
        shift = np.repeat(pointers(counts[:, level + 1])[:-1], counts[:, level])
        parents.append(local + shift)
        start = start + counts[:, level]
    return parents


def _pool_edges(below: Ints, above: Ints, up: Ints, edges: EdgeBlocks) -> EdgeBlocks:
    """Pool edges by one level, sorted by row; sums run in the order of the edges.

    Every pair of clusters of a graph is a cell of its ``S A S^T``; cells are numbered by row.
    """
    first = pointers(above)
    row_ptr = pointers(np.repeat(above, above))
    shift = np.repeat(pointers(below)[:-1], edges.counts)
    local = up - np.repeat(first[:-1], below)
    cell = row_ptr[up].take(edges.row + shift)
    cell += local.take(edges.col + shift)
    used, weight = _sum_cells(cell, edges.weight, int(row_ptr[-1]))
    ends = np.searchsorted(used, row_ptr)
    lengths = np.diff(ends)
    row = np.repeat(np.arange(len(lengths)) - np.repeat(first[:-1], above), lengths)
    col = used - np.repeat(row_ptr[:-1], lengths)
    return EdgeBlocks(np.diff(ends[first]), row, col, weight)


def _sum_cells(
    cell: Ints, weight: NDArray[np.float64] | None, num_cells: int
) -> tuple[Ints, NDArray[np.float64]]:
    """Return the cells that occur and the sums of their weights; both ways round alike."""
    if num_cells <= 4 * len(cell):  # a table of all cells is faster than sorting
        size = np.bincount(cell, minlength=num_cells)
        used = np.flatnonzero(size)
        total = size if weight is None else np.bincount(cell, weight, num_cells)
        return used, total[used].astype(np.float64)
    used, place = np.unique(cell, return_inverse=True)
    return used, np.bincount(place, weight, len(used)).astype(np.float64)


def _rows_sorted(edges: EdgeBlocks) -> NDArray[np.bool_]:
    """Test for every graph that the rows of its edges ascend."""
    ptr = pointers(edges.counts)
    descents = np.flatnonzero(edges.row[1:] < edges.row[:-1]) + 1
    graph = np.searchsorted(ptr, descents, side="right") - 1
    ascending = np.ones(len(edges.counts), np.bool_)
    ascending[graph[descents != ptr[graph]]] = False
    return ascending


def _float32(weight: NDArray[np.float64] | None) -> NDArray[np.float32]:
    assert weight is not None
    largest = weight.max(initial=0)
    if largest > np.finfo(np.float32).max:
        raise ValueError(f"weights of edges sum to {largest:g}, more than a float32 can hold")
    return weight.astype(np.float32)


# Unpacking


def read_headers(tree: Tensor, starts: Tensor | None, height: int) -> Headers:
    """Copy the headers of all blocks to the host.

    Args:
        tree: the blocks of a batch, concatenated.
        starts: the start of every block as the loader recorded it, or None. A record that does not
            fit is ignored: the signs of the numbers mark the starts as well.
        height: of the first tree.
    """
    if starts is not None:
        headers = _headers_at(tree, starts, height)
        if (headers.height > 0).all() and headers.total == tree.numel():
            return headers
    return _headers_at(tree, (tree < 0).nonzero().squeeze(1), height)


def _headers_at(tree: Tensor, starts: Tensor, height: int) -> Headers:
    index = starts.unsqueeze(1) + torch.arange(4 + 2 * height, device=starts.device)
    last = torch.nn.functional.pad(starts[1:], (0, 1), value=len(tree)) - 1
    # Blocks of another height, which are refused later, may end within a header of this height.
    index = torch.cat([index, last.unsqueeze(1)], 1).clamp_(max=len(tree) - 1)
    numbers = tree[index.to(tree.device)].cpu().numpy()
    # The last number of a block is the weight of the only edge of the root, if the root has one.
    root_weight = numbers[:, -1].copy().view(np.float32)[numbers[:, -2] > 0]
    header = numbers[:, :-1].astype(np.int64)
    weight = float(root_weight.sum(dtype=np.float64))
    nodes, edges = header[:, 2 : 3 + height], header[:, 3 + height :]
    layout, hashes = split_layout(header[:, 1], nodes[:, 0], edges[:, 0])
    return Headers(-header[:, 0], layout, hashes, nodes, edges, weight)


def unpack_blocks(
    tree: Tensor, headers: Headers
) -> tuple[Tensor, list[Tensor], list[Tensor], list[Tensor]]:
    """Unpack the blocks of a batch; clusters and edges are numbered over all graphs.

    The blocks are a table of segments with a row a graph and a column a piece. One gather
    transposes it; the pointers for it are computed on the host.

    Returns:
        The nodes sorted by cluster; the number of children of every cluster, rows and columns of
        the pooled edges, and their weights, all three level by level.
    """
    nodes, edges = headers.nodes, headers.edges[:, 1:]
    height = edges.shape[1]
    header = np.full((len(nodes), 1), headers.size // len(nodes))
    lengths = np.concatenate([header, nodes, np.repeat(edges, 3, axis=1)], axis=1)
    ends = lengths.ravel().cumsum().reshape(lengths.shape)
    before = nodes.cumsum(axis=0) - nodes
    offset = np.zeros_like(lengths)  # added to the numbers of a segment
    offset[:, 1] = before[:, 0]
    offset[:, 2 + height :: 3] = before[:, 1:]
    offset[:, 3 + height :: 3] = before[:, 1:]
    columns = lengths.T.ravel()
    moved = (ends - lengths).T.ravel() - (columns.cumsum() - columns)
    table = torch.from_numpy(np.stack([columns, moved, offset.T.ravel()])).to(tree.device)

    segment = repeat_each(table[0], tree.numel())
    index = torch.arange(tree.numel(), device=tree.device)
    packed = tree.index_select(0, table[1].index_select(0, segment).add_(index))
    numbers = table[2].index_select(0, segment).add_(packed)

    lengths_of_nodes = [headers.size, *nodes.sum(axis=0).tolist()]
    _, order, *sizes = torch.split(numbers[: sum(lengths_of_nodes)], lengths_of_nodes)
    pairs, weights, start = [], [], sum(lengths_of_nodes)
    for count in edges.sum(axis=0).tolist():
        pairs.append(numbers[start : start + 2 * count].view(2, count))
        weights.append(packed[start + 2 * count : start + 3 * count].view(torch.float32))
        start += 3 * count
    return order, sizes, pairs, weights


def repeat_each(counts: Tensor, total: int) -> Tensor:
    """Return 0, 1, 2, ..., each ``counts`` times; ``total`` is the sum of the counts."""
    return torch.repeat_interleave(counts, output_size=total)


def unpack_trees(blocks: Blocks) -> tuple[Forest, NDArray[np.bool_]]:
    """Return the trees in blocks of one height, and which graphs have symmetric edges."""
    numbers, starts = blocks.numbers, blocks.ptr[:-1]
    height = int(-numbers[0])
    counts = numbers[starts[:, None] + np.arange(2, 3 + height)].astype(np.int64)
    nodes, clusters = counts[:, 0], counts[:, 1:].sum(axis=1)
    body = starts + 4 + 2 * height
    order = numbers[ranges(body, nodes)] + np.repeat(pointers(nodes)[:-1], nodes)
    sizes = numbers[ranges(body + nodes, clusters)]
    first = pointers(counts.ravel())[:-1].reshape(counts.shape)
    local = np.arange(counts.sum()) - np.repeat(first.ravel(), counts.ravel())
    parent = np.repeat(local[ranges(first[:, 1], clusters)], sizes).astype(np.int32)
    leaves = ranges(pointers(counts[:, :-1].sum(1))[:-1], nodes)
    parent[leaves[order]] = parent[leaves]
    return Forest(counts, parent), numbers[starts + 1] & LAYOUT_MASK != DIRECTED
