"""Triton kernels that slice batches, one launch a level and one an adjacency.

All indices of a store are relative to a graph: the graph of a node and the graph's start in the
batch determine everything about the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.registry import COUNTS

if TYPE_CHECKING:
    from sepool_experiments.batches.slicing import Level, Rows
    from sepool_experiments.batches.tables import Tables

BLOCK, LEAST = 256, 128  # elements of a program; smallest number, that of its threads
PARTS = 64  # largest number of programs for the entries of a replica
NUMBERS = (
    *(*COUNTS, "stride", "step", "size", "padded", "capacity_below", "capacity_above"),
    *("empty", "entry_capacity", "empty_entry"),
)


@triton.jit(do_not_specialize=NUMBERS)
def _begin(ids, counts, classes, graph_starts, totals, y, graph_mask, stride, step, size, graphs,
           WIDTH: tl.constexpr):  # fmt: skip
    """Starts of the graphs, one program a replica and line of the table of counts."""
    replica = tl.program_id(0).to(tl.int64)
    line = tl.program_id(1) * tl.num_programs(0) + replica
    position = tl.arange(0, WIDTH)
    inside = position < size
    graph = tl.load(ids + replica * stride + position * step, mask=inside, other=0)
    count = tl.load(counts + tl.program_id(1) * (graphs + 1) + graph, mask=inside, other=0)
    tl.store(graph_starts + line * size + position, tl.cumsum(count) - count, mask=inside)
    tl.store(totals + line, tl.sum(count))
    if tl.program_id(1) == 0:
        tl.store(graph_mask + replica * size + position, graph < graphs, mask=inside)
        label = tl.load(classes + graph, mask=inside, other=0)
        tl.store(y + replica * size + position, label, mask=inside)


@triton.jit
def _search(graph_starts, position, size, STEPS: tl.constexpr):
    """Binary search for the last of ``size`` starts that is not above the position."""
    number = tl.zeros_like(position)
    for i in tl.static_range(STEPS):
        candidate = number + (1 << (STEPS - 1 - i))
        begin = tl.load(graph_starts + candidate, mask=candidate < size, other=0)
        number = tl.where((candidate < size) & (begin <= position), candidate, number)
    return number


@triton.jit(do_not_specialize=NUMBERS)
def _level(ids, starts, graph_starts, totals, sizes, child, parent, above_ptr, above_batch,
           above_graph, row_index, new_sizes, ptr, assignment, batch, graph_ptr, stride, step, size,
           graphs, padded, capacity, capacity_below, capacity_above, empty, LINE: tl.constexpr,
           TOP: tl.constexpr, STEPS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """The nodes of one level and the first node of every graph.

    Launched from the top level down. Padding is distributed as in `slicing`: of ``spare`` nodes,
    number ``i`` gets those from ``i * extra // spare`` on, so that ``k`` belongs to number
    ``((k + 1) * spare - 1) // extra``.
    """
    replica = tl.program_id(1).to(tl.int64)
    replicas = tl.num_programs(1)
    line = LINE * replicas + replica
    position = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    node = replica * capacity + position
    inside = position < capacity
    last = (replica == replicas - 1).to(tl.int64)  # it writes the end of all, too
    num_valid = tl.load(totals + line)
    mask = position < num_valid
    number = _search(graph_starts + line * size, position, size, STEPS)
    graph = tl.load(ids + replica * stride + number * step, mask=mask, other=0)
    start = tl.load(starts + LINE * (graphs + 1) + graph, mask=mask, other=0)
    begin = tl.load(graph_starts + line * size + number, mask=mask, other=0)
    stored = tl.where(mask, start + position - begin, empty)
    padding = position - num_valid
    spare = tl.maximum(capacity - num_valid, 1)
    tl.store(row_index + node, stored, mask=inside)
    if LINE > 0:
        valid_below = tl.load(totals + line - replicas)
        extra = capacity_below - valid_below
        first = tl.load(graph_starts + (line - replicas) * size + number, mask=mask, other=0)
        first += tl.load(child + stored, mask=mask, other=0)
        padding_before = padding * extra // spare
        first = tl.where(mask, first, valid_below + padding_before)
        count = tl.load(sizes + stored, mask=mask, other=0)
        count = tl.where(mask, count, (padding + 1) * extra // spare - padding_before)
        tl.store(ptr + node, replica * capacity_below + first, mask=position < capacity + last)
        tl.store(new_sizes + node, count, mask=inside)
    if TOP:
        tl.store(graph_ptr + node, node, mask=position < capacity + last)
    else:
        valid_above = tl.load(totals + line + replicas)
        parent_index = tl.load(graph_starts + (line + replicas) * size + number, mask=mask, other=0)
        parent_index += tl.load(parent + stored, mask=mask, other=0)
        padding_before = ((padding + 1) * (capacity_above - valid_above) - 1) // spare
        parent_index = replica * capacity_above + tl.where(
            mask, parent_index, valid_above + padding_before
        )
        tl.store(assignment + node, parent_index, mask=inside)
        tl.store(
            batch + node, tl.load(above_batch + parent_index, mask=inside, other=0), mask=inside
        )
        graph_position = position < padded + last
        cluster = tl.load(above_graph + replica * padded + position, mask=graph_position, other=0)
        begin = tl.load(above_ptr + cluster, mask=graph_position, other=0)
        tl.store(graph_ptr + replica * padded + position, begin, mask=graph_position)


@triton.jit(do_not_specialize=NUMBERS)
def _adjacency(ids, starts, graph_starts, totals, row_index, batch, entries, inner_row, neighbour,
               weight, node, ptr, row, index, new_weight, entry, new_node, stride, step, size,
               graphs, padded, capacity, entry_capacity, empty_entry, LINE: tl.constexpr,
               ENTRIES: tl.constexpr, NODE: tl.constexpr, STEPS: tl.constexpr,
               BLOCK: tl.constexpr):  # fmt: skip
    """Part of the rows and entries of a replica; the last program fills the unused entries."""
    part = tl.program_id(0) * BLOCK
    stretch = tl.num_programs(0) * BLOCK
    replica = tl.program_id(1).to(tl.int64)
    replicas = tl.num_programs(1) - 1
    totals += ENTRIES * replicas
    sums = tl.zeros((BLOCK,), tl.int64)
    for start in range(0, replica, BLOCK):
        other = start + tl.arange(0, BLOCK)
        sums += tl.load(totals + other, mask=other < replica, other=0)
    before = tl.sum(sums)
    if replica == replicas:
        tl.store(ptr + replica * capacity, before)
        for start in range(part, entry_capacity - before, stretch):
            position = before + start + tl.arange(0, BLOCK)
            inside = position < entry_capacity
            end = tl.zeros_like(position) + replica * capacity - 1
            tl.store(row + position, end, mask=inside)
            tl.store(index + position, end, mask=inside)
            tl.store(entry + position, tl.zeros_like(position) + empty_entry, mask=inside)
            tl.store(new_weight + position, tl.zeros((BLOCK,), tl.float32), mask=inside)
    else:
        total = tl.load(totals + replica)
        own_starts = graph_starts + (ENTRIES * replicas + replica) * size
        for start in range(part, capacity, stretch):
            position = start + tl.arange(0, BLOCK)
            new = replica * capacity + position
            stored = tl.load(row_index + new, mask=position < capacity, other=0)
            number = tl.load(batch + new, mask=position < capacity, other=0) - replica * padded
            mask = (position < capacity) & (number < size)
            first = tl.load(own_starts + number, mask=mask, other=0)
            first += tl.load(entries + stored, mask=mask, other=0)
            tl.store(ptr + new, before + tl.where(mask, first, total), mask=position < capacity)
            if NODE:
                value = tl.load(node + stored, mask=position < capacity, other=0.0)
                tl.store(new_node + new, value, mask=position < capacity)
        for start in range(part, tl.minimum(total, entry_capacity - before), stretch):
            position = start + tl.arange(0, BLOCK).to(tl.int64)
            new = before + position
            inside = (position < total) & (new < entry_capacity)
            number = _search(own_starts, position, size, STEPS)
            graph = tl.load(ids + replica * stride + number * step, mask=inside, other=0)
            begin = tl.load(starts + ENTRIES * (graphs + 1) + graph, mask=inside, other=0)
            old = begin + position - tl.load(own_starts + number, mask=inside, other=0)
            first = tl.load(graph_starts + (LINE * replicas + replica) * size + number, mask=inside)
            first += replica * capacity + tl.load(inner_row + old, mask=inside, other=0)
            offset = tl.load(neighbour + old, mask=inside, other=0)
            tl.store(row + new, first, mask=inside)
            tl.store(index + new, first + offset, mask=inside)
            tl.store(entry + new, old, mask=inside)
            tl.store(new_weight + new, tl.load(weight + old, mask=inside), mask=inside)


class Starts(NamedTuple):
    """First node and entry of the graphs of a batch, by line of `Tables.counts`.

    Attributes:
        ids: graphs of every replica.
        graph_starts: start of every graph within its replica.
        totals: nodes and entries of every replica.
        y: class of every graph.
        graph_mask: False for padding.
    """

    ids: Tensor
    graph_starts: Tensor
    totals: Tensor
    y: Tensor
    graph_mask: Tensor

    def shape_args(self, tables: Tables) -> tuple[int, ...]:
        """Return strides and sizes of ``ids`` and the number of graphs."""
        return *self.ids.stride(), self.ids.size(1), tables.counts.size(1) - 1


class Nodes(NamedTuple):
    """The nodes of a level: rows in the store and cached tensors of `Hierarchy`.

    Level 0 has no children and the top no level above; these tensors are empty.
    """

    row_index: Tensor
    sizes: Tensor
    ptr: Tensor
    assignment: Tensor  # to the level above
    batch: Tensor
    graph_ptr: Tensor


@dataclass
class Entries:
    """The adjacency of a batch; see `sepool_experiments.batches.slicing`."""

    ptr: Tensor
    row: Tensor
    index: Tensor
    weight: Tensor
    entry: Tensor  # in the store
    node_term: Tensor | None


def starts(tables: Tables, ids: Tensor) -> Starts:
    """Return the starts and classes of the graphs of a batch."""
    lines, (replicas, size) = len(tables.counts), ids.shape
    graph_starts, totals, y = (
        ids.new_empty(*shape) for shape in ((lines, replicas, size), (lines, replicas), ids.shape)
    )
    out = Starts(ids, graph_starts, totals, y, torch.empty_like(y, dtype=torch.bool))
    _begin[(replicas, lines)](
        ids, tables.counts, tables.classes, graph_starts, totals, y, out.graph_mask,
        *out.shape_args(tables), max(triton.next_power_of_2(size), LEAST),
    )  # fmt: skip
    return out


def nodes(
    tables: Tables, begin: Starts, levels: Sequence[Level], capacities: Sequence[int]
) -> list[Nodes]:
    """Return the nodes of all levels, computed from the top down."""
    (replicas, size), height = begin.ids.shape, len(levels) - 1
    out: list[Nodes] = []
    for line in reversed(range(height + 1)):
        top, capacity, sizes = line == height, capacities[line], levels[line].sizes
        out.insert(0, _empty_nodes(begin.ids, line, capacities))
        above = out[min(1, len(out) - 1)]
        _level[(triton.cdiv(max(capacity, capacities[-1]) + 1, BLOCK), replicas)](
            begin.ids, tables.starts, begin.graph_starts, begin.totals, sizes,
            tables.child[line - 1], tables.parent[line - top], above.ptr, above.batch,
            above.graph_ptr, *out[0], *begin.shape_args(tables), capacities[-1], capacity,
            capacities[line - 1], capacities[line + 1 - top], len(sizes) - 1, line, top,
            (size - 1).bit_length(), BLOCK,
        )  # fmt: skip
    return out


def _empty_nodes(ids: Tensor, line: int, capacities: Sequence[int]) -> Nodes:
    top, count = line == len(capacities) - 1, len(ids) * capacities[line]
    graph_ptr = ids.new_empty(len(ids) * capacities[-1] + 1)
    return Nodes(
        row_index=ids.new_empty(count),
        sizes=ids.new_empty(count if line else 0),
        ptr=ids.new_empty(count + 1 if line else 0),
        assignment=ids.new_empty(0 if top else count),
        batch=graph_ptr[:-1] if top else ids.new_empty(count),
        graph_ptr=graph_ptr,
    )


def adjacency(
    tables: Tables, begin: Starts, level_nodes: Nodes, rows: Rows, level: int, entry_capacity: int
) -> Entries:
    """Return the adjacency of a level with ``entry_capacity`` entries over all replicas."""
    replicas, size = begin.ids.shape
    line, first, inner = tables.entries[level]
    count = len(level_nodes.row_index)
    capacity, padded = count // replicas, (len(level_nodes.graph_ptr) - 1) // replicas
    ptr, row, index, entry = (
        level_nodes.row_index.new_empty(n) for n in (count + 1, *[entry_capacity] * 3)
    )
    weight = rows.weight.new_empty(entry_capacity)
    old_term, node_term = rows.node_term, None
    if old_term is not None:
        node_term = old_term.new_empty(count, 1)
    parts = min(triton.cdiv(max(entry_capacity // replicas, capacity), BLOCK), PARTS)
    _adjacency[(parts, replicas + 1)](
        begin.ids, tables.starts, begin.graph_starts, begin.totals, level_nodes.row_index,
        level_nodes.batch, first, inner, rows.offset, rows.weight,
        weight if old_term is None else old_term, ptr, row, index, weight, entry,
        weight if node_term is None else node_term, *begin.shape_args(tables), padded, capacity,
        entry_capacity, len(rows.offset) - 1, level, line, node_term is not None,
        (size - 1).bit_length(), BLOCK,
    )  # fmt: skip
    return Entries(ptr, row, index, weight, entry, node_term)
