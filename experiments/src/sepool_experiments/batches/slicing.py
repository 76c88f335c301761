"""Slicing of batches from the levels of a `GraphStore`, by PyTorch or by kernels.

A batch is small, so that on a GPU the number of launches decides: `kernels.batches` has one for
every level and adjacency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from sepool.pyg.hierarchy import SORTED, Hierarchy, repeat_each
from sepool_experiments.batches.tables import Tables
from sepool_experiments.kernels.registry import load, use_kernel
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import Operator


class Capacity(NamedTuple):
    """Size of a padded batch: nodes a replica by level, entries of all replicas by operator."""

    nodes: tuple[int, ...]
    entries: tuple[int, ...]


@dataclass
class Rows:
    """The operator of a level over all graphs, with relative indices that hold in every batch.

    The last entry, behind those of all graphs, has weight 0.
    """

    starts: Tensor  # first entry of every node
    counts: Tensor  # entries of every node
    offset: Tensor  # from a node to its neighbour
    weight: Tensor
    node_term: Tensor | None
    by_graph: Tensor  # entries of every graph
    adjacency: Adjacency  # of all graphs, on the host

    @cached_property
    def transpose_offset(self) -> Tensor:
        """Offset from every entry to its entry in the transpose."""
        _, _, order = self.adjacency.transpose()
        offset = order - torch.arange(len(order))
        return torch.nn.functional.pad(offset, (0, 1)).to(self.starts.device)


@dataclass
class Level:
    """The nodes of one level over all graphs, followed by an empty graph."""

    counts: Tensor  # nodes of every graph
    starts: Tensor  # first node of every graph
    sizes: Tensor  # children of every node
    rows: Rows | None


class Slice(NamedTuple):
    """A batch without features.

    Attributes:
        levels: hierarchy of the batch.
        row_indices: index into the rows of the store of the nodes of every level.
        operators: convolution operator of every level that has a convolution.
        y: class of every graph, one row a replica.
        graph_mask: False for the padding among them.
        num_valid: number of nodes of every replica on every level, without padding.
    """

    levels: Hierarchy
    row_indices: list[Tensor]
    operators: dict[int, Operator]
    y: Tensor
    graph_mask: Tensor
    num_valid: list[Tensor]


def slice_batch(
    levels: Sequence[Level], y: Tensor, ids: Tensor, capacity: Capacity, tables: Tables | None
) -> Slice:
    """Slice a batch; ``ids`` and ``capacity`` as in `GraphStore.batch`."""
    if tables is not None and use_kernel("batches", y):
        return _kernel_slice(levels, tables, ids, capacity)
    row_indices = [_row_index(*pair, ids) for pair in zip(levels, capacity.nodes, strict=True)]
    num_valid = [level.counts[ids].sum(1) for level in levels]
    sizes = [
        _adopt_padding(
            level.sizes.index_select(0, index).view(len(ids), -1), valid.unsqueeze(1), below
        )
        for level, index, valid, below in zip(
            levels[1:], row_indices[1:], num_valid[1:], capacity.nodes[:-1], strict=True
        )
    ]
    operators = {
        number: _slice_operator(rows, row_indices[number], entries)
        for number, rows, entries in _operator_levels(levels, capacity)
    }
    graph_mask = ids < len(y) - 1
    hierarchy = _hierarchy(sizes, capacity, len(ids))
    return Slice(hierarchy, row_indices, operators, y[ids], graph_mask, num_valid)


def _kernel_slice(
    levels: Sequence[Level], tables: Tables, ids: Tensor, capacity: Capacity
) -> Slice:
    """`slice_batch` by kernels, which compute the cached tensors of the hierarchy as well."""
    launch = load("batches")
    starts = launch.starts(tables, ids)
    nodes = launch.nodes(tables, starts, levels, capacity.nodes)
    hierarchy = _hierarchy([level.sizes for level in nodes[1:]], capacity, len(ids))
    for number, level in enumerate(nodes):
        hierarchy._cache["batch", number] = level.batch
        hierarchy._cache["graph_ptr", number] = level.graph_ptr
        if number > 0:
            hierarchy._cache["ptr", number] = level.ptr
            hierarchy._cache["assignment", number] = nodes[number - 1].assignment
    operators = {}
    for number, rows, entries in _operator_levels(levels, capacity):
        part = launch.adjacency(tables, starts, nodes[number], rows, number, entries)
        a = _symmetric(part.ptr, part.index, part.weight, part.row, part.entry, rows)
        operators[number] = Operator(a, part.node_term)
    row_indices = [level.row_index for level in nodes]
    num_valid = list(starts.totals[: len(levels)])
    return Slice(hierarchy, row_indices, operators, starts.y, starts.graph_mask, num_valid)


def _hierarchy(sizes: list[Tensor], capacity: Capacity, replicas: int) -> Hierarchy:
    graphs, nodes = (replicas * capacity.nodes[end] for end in (-1, 0))
    return Hierarchy(len(sizes), graphs, None, sizes, [], [], SORTED, nodes)


def _operator_levels(levels: Sequence[Level], capacity: Capacity) -> list[tuple[int, Rows, int]]:
    """The levels with an operator, and the capacity for its entries."""
    rows = [(number, level.rows) for number, level in enumerate(levels) if level.rows]
    return [(*pair, entries) for pair, entries in zip(rows, capacity.entries, strict=True)]


def _row_index(level: Level, capacity: int, ids: Tensor) -> Tensor:
    """Index of the nodes of a batch in the store; padding is the empty graph, the last."""
    counts = level.counts[ids]
    padding = capacity - counts.sum(1, keepdim=True)
    lengths = torch.cat([counts, padding], 1).flatten()
    padded = torch.nn.functional.pad(ids, (0, 1), value=len(level.starts) - 1).flatten()
    starts = level.starts[padded] - (lengths.cumsum(0) - lengths)
    index = starts.repeat_interleave(lengths, output_size=len(ids) * capacity)
    index += torch.arange(len(index), device=index.device)
    return index.clamp_(max=len(level.sizes) - 1)


def _adopt_padding(sizes: Tensor, num_valid: Tensor, below: int) -> Tensor:
    """Distribute the padding of the level below evenly over the padding of this level.

    A single node with all the padding would be the longest sum of the batch.
    """
    extra = below - sizes.sum(1, keepdim=True)
    ends = torch.arange(sizes.size(1) + 1, device=sizes.device) - num_valid
    share = (ends * extra // (sizes.size(1) - num_valid)).diff(dim=1)
    return torch.where(ends[:, :-1] < 0, sizes, share).flatten()


def _slice_operator(rows: Rows, row_index: Tensor, capacity: int) -> Operator:
    """Slice the operator of a level.

    Unused entries have weight 0 and lie behind the end of the last row, so that no sum reads them.
    """
    counts = rows.counts.index_select(0, row_index)
    ptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    counts[-1] += capacity - ptr[-1]
    starts = rows.starts.index_select(0, row_index) - ptr[:-1]
    row = repeat_each(counts, capacity)
    position = torch.arange(capacity, device=row_index.device)
    entry = (starts.index_select(0, row) + position).clamp_(max=len(rows.offset) - 1)
    index = row + rows.offset.index_select(0, entry)
    weight = rows.weight.index_select(0, entry)
    node_term = None if rows.node_term is None else rows.node_term.index_select(0, row_index)
    return Operator(_symmetric(ptr, index, weight, row, entry, rows), node_term)


def _symmetric(
    ptr: Tensor, index: Tensor, weight: Tensor, row: Tensor, entry: Tensor, rows: Rows
) -> Adjacency:
    """A symmetric adjacency with given rows and a transpose that needs no sort."""

    def transpose() -> tuple[Tensor, Tensor, Tensor]:
        order = torch.arange(len(entry), device=entry.device)
        order += rows.transpose_offset.index_select(0, entry)
        return ptr, row.index_select(0, order), order

    a = Adjacency(ptr, index, weight, True)
    a._row, a._make_transpose = row, transpose
    return a
