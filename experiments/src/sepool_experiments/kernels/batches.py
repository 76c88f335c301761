"""`sepool_experiments.batches.slicing` on a GPU, in Triton: a batch is cut by one launch a level and adjacency.

All that is kept of a graph is relative to it, so a program that knows which graph its node is of,
and where that graph begins in the batch, knows all about the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.layers.gpu import COUNTS

if TYPE_CHECKING:
    from sepool_experiments.batches.slicing import Level, Rows
    from sepool_experiments.batches.tables import Tables

BLOCK, LEAST = 256, 128  # numbers that one program holds; as many as it has threads, at least
PARTS = 64  # programs that share the entries of a replica, at most
NUMBERS = (
    *(*COUNTS, "stride", "step", "size", "padded", "room_below", "room_above"),
    *("empty", "space", "nothing"),
)


@triton.jit(do_not_specialize=NUMBERS)
def _begin(ids, counts, classes, begins, totals, y, there, stride, step, size, graphs,
           WIDTH: tl.constexpr):  # fmt: skip
    """One program a replica and line of the table of counts: where its graphs begin."""
    replica = tl.program_id(0).to(tl.int64)
    line = tl.program_id(1) * tl.num_programs(0) + replica
    place = tl.arange(0, WIDTH)
    inside = place < size
    graph = tl.load(ids + replica * stride + place * step, mask=inside, other=0)
    count = tl.load(counts + tl.program_id(1) * (graphs + 1) + graph, mask=inside, other=0)
    tl.store(begins + line * size + place, tl.cumsum(count) - count, mask=inside)
    tl.store(totals + line, tl.sum(count))
    if tl.program_id(1) == 0:
        tl.store(there + replica * size + place, graph < graphs, mask=inside)
        label = tl.load(classes + graph, mask=inside, other=0)
        tl.store(y + replica * size + place, label, mask=inside)


@triton.jit
def _search(begins, place, size, STEPS: tl.constexpr):
    """The last of ``size`` rising numbers that is not above the place."""
    found = tl.zeros_like(place)
    for turn in tl.static_range(STEPS):
        ahead = found + (1 << (STEPS - 1 - turn))
        begin = tl.load(begins + ahead, mask=ahead < size, other=0)
        found = tl.where((ahead < size) & (begin <= place), ahead, found)
    return found


@triton.jit(do_not_specialize=NUMBERS)
def _level(ids, starts, begins, totals, sizes, child, parent, above_ptr, above_batch, above_graph,
           source, new_sizes, ptr, assignment, batch, graph_ptr, stride, step, size, graphs,
           padded, room, room_below, room_above, empty, LINE: tl.constexpr, TOP: tl.constexpr,
           STEPS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """The nodes of one level, and where those of every graph begin.

    A level's nodes are the children of the level above, which must be there already. Padding is
    dealt out as in `sepool_experiments.batches.slicing`: of ``spare`` nodes, number ``i`` gets those from
    ``i * extra // spare`` on; so ``k`` belongs to number ``((k + 1) * spare - 1) // extra``.
    """
    replica = tl.program_id(1).to(tl.int64)
    replicas = tl.num_programs(1)
    line = LINE * replicas + replica
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    node = replica * room + place
    inside = place < room
    last = (replica == replicas - 1).to(tl.int64)  # it writes the end of all, too
    real = tl.load(totals + line)
    there = place < real
    number = _search(begins + line * size, place, size, STEPS)
    graph = tl.load(ids + replica * stride + number * step, mask=there, other=0)
    start = tl.load(starts + LINE * (graphs + 1) + graph, mask=there, other=0)
    begin = tl.load(begins + line * size + number, mask=there, other=0)
    here = tl.where(there, start + place - begin, empty)
    padding = place - real
    spare = tl.maximum(room - real, 1)
    tl.store(source + node, here, mask=inside)
    if LINE > 0:
        real_below = tl.load(totals + line - replicas)
        extra = room_below - real_below
        first = tl.load(begins + (line - replicas) * size + number, mask=there, other=0)
        first += tl.load(child + here, mask=there, other=0)
        dealt = padding * extra // spare
        first = tl.where(there, first, real_below + dealt)
        count = tl.load(sizes + here, mask=there, other=0)
        count = tl.where(there, count, (padding + 1) * extra // spare - dealt)
        tl.store(ptr + node, replica * room_below + first, mask=place < room + last)
        tl.store(new_sizes + node, count, mask=inside)
    if TOP:
        tl.store(graph_ptr + node, node, mask=place < room + last)
    else:
        real_above = tl.load(totals + line + replicas)
        up = tl.load(begins + (line + replicas) * size + number, mask=there, other=0)
        up += tl.load(parent + here, mask=there, other=0)
        dealt = ((padding + 1) * (room_above - real_above) - 1) // spare
        up = replica * room_above + tl.where(there, up, real_above + dealt)
        tl.store(assignment + node, up, mask=inside)
        tl.store(batch + node, tl.load(above_batch + up, mask=inside, other=0), mask=inside)
        wanted = place < padded + last
        cluster = tl.load(above_graph + replica * padded + place, mask=wanted, other=0)
        begin = tl.load(above_ptr + cluster, mask=wanted, other=0)
        tl.store(graph_ptr + replica * padded + place, begin, mask=wanted)


@triton.jit(do_not_specialize=NUMBERS)
def _adjacency(ids, starts, begins, totals, source, batch, entries, inner_row, ahead, weight, node,
               ptr, row, index, new_weight, entry, new_node, stride, step, size, graphs, padded,
               room, space, nothing, LINE: tl.constexpr, ENTRIES: tl.constexpr,
               NODE: tl.constexpr, STEPS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    """Part of the rows and entries of a replica; behind the last comes what room is left over."""
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
        tl.store(ptr + replica * room, before)
        for start in range(part, space - before, stretch):
            place = before + start + tl.arange(0, BLOCK)
            inside = place < space
            end = tl.zeros_like(place) + replica * room - 1
            tl.store(row + place, end, mask=inside)
            tl.store(index + place, end, mask=inside)
            tl.store(entry + place, tl.zeros_like(place) + nothing, mask=inside)
            tl.store(new_weight + place, tl.zeros((BLOCK,), tl.float32), mask=inside)
    else:
        total = tl.load(totals + replica)
        mine = begins + (ENTRIES * replicas + replica) * size
        for start in range(part, room, stretch):
            place = start + tl.arange(0, BLOCK)
            new = replica * room + place
            here = tl.load(source + new, mask=place < room, other=0)
            number = tl.load(batch + new, mask=place < room, other=0) - replica * padded
            there = (place < room) & (number < size)
            first = tl.load(mine + number, mask=there, other=0)
            first += tl.load(entries + here, mask=there, other=0)
            tl.store(ptr + new, before + tl.where(there, first, total), mask=place < room)
            if NODE:
                value = tl.load(node + here, mask=place < room, other=0.0)
                tl.store(new_node + new, value, mask=place < room)
        for start in range(part, tl.minimum(total, space - before), stretch):
            place = start + tl.arange(0, BLOCK).to(tl.int64)
            new = before + place
            inside = (place < total) & (new < space)
            number = _search(mine, place, size, STEPS)
            graph = tl.load(ids + replica * stride + number * step, mask=inside, other=0)
            begin = tl.load(starts + ENTRIES * (graphs + 1) + graph, mask=inside, other=0)
            old = begin + place - tl.load(mine + number, mask=inside, other=0)
            first = tl.load(begins + (LINE * replicas + replica) * size + number, mask=inside)
            first += replica * room + tl.load(inner_row + old, mask=inside, other=0)
            far = tl.load(ahead + old, mask=inside, other=0)
            tl.store(row + new, first, mask=inside)
            tl.store(index + new, first + far, mask=inside)
            tl.store(entry + new, old, mask=inside)
            tl.store(new_weight + new, tl.load(weight + old, mask=inside), mask=inside)


@triton.jit(do_not_specialize=NUMBERS)
def _turn(entry, twin, row, order, index, space, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < space
    old = tl.load(entry + place, mask=inside, other=0)
    other = place + tl.load(twin + old, mask=inside, other=0)
    tl.store(order + place, other, mask=inside)
    tl.store(index + place, tl.load(row + other, mask=inside, other=0), mask=inside)


class Places(NamedTuple):
    """Where the graphs of a batch begin in their replica, by line of `Tables.counts`."""

    ids: Tensor
    begins: Tensor
    totals: Tensor  # of every replica
    y: Tensor
    there: Tensor

    def numbers(self, tables: Tables) -> tuple[int, ...]:
        """How the kernels find the graphs."""
        return *self.ids.stride(), self.ids.size(1), tables.counts.size(1) - 1


class Nodes(NamedTuple):
    """The nodes of a level: their rows in the store, and what `Hierarchy` tells of them.

    Level 0 has no children, the top no level above; these tensors are empty.
    """

    source: Tensor
    sizes: Tensor
    ptr: Tensor
    assignment: Tensor  # to the level above
    batch: Tensor
    graph_ptr: Tensor


@dataclass
class Entries:
    """The adjacency of a batch (see `sepool_experiments.batches.slicing`)."""

    ptr: Tensor
    row: Tensor
    index: Tensor
    weight: Tensor
    entry: Tensor
    node: Tensor | None


def places(tables: Tables, ids: Tensor) -> Places:
    """Where all begins, and the classes of the graphs."""
    lines, (replicas, size) = len(tables.counts), ids.shape
    begins, totals, y = (
        ids.new_empty(*shape) for shape in ((lines, replicas, size), (lines, replicas), ids.shape)
    )
    found = Places(ids, begins, totals, y, torch.empty_like(y, dtype=torch.bool))
    _begin[(replicas, lines)](
        ids, tables.counts, tables.classes, begins, totals, y, found.there, *found.numbers(tables),
        max(triton.next_power_of_2(size), LEAST),
    )  # fmt: skip
    return found


def nodes(
    tables: Tables, found: Places, levels: Sequence[Level], rooms: Sequence[int]
) -> list[Nodes]:
    """The nodes of all levels; these are made from the top down."""
    (replicas, size), height = found.ids.shape, len(levels) - 1
    made: list[Nodes] = []
    for line in reversed(range(height + 1)):
        top, room, sizes = line == height, rooms[line], levels[line].sizes
        made.insert(0, _room_for_nodes(found.ids, line, rooms))
        above = made[min(1, len(made) - 1)]
        _level[(triton.cdiv(max(room, rooms[-1]) + 1, BLOCK), replicas)](
            found.ids, tables.starts, found.begins, found.totals, sizes, tables.child[line - 1],
            tables.parent[line - top], above.ptr, above.batch, above.graph_ptr, *made[0],
            *found.numbers(tables), rooms[-1], room, rooms[line - 1], rooms[line + 1 - top],
            len(sizes) - 1, line, top, (size - 1).bit_length(), BLOCK,
        )  # fmt: skip
    return made


def _room_for_nodes(ids: Tensor, line: int, rooms: Sequence[int]) -> Nodes:
    """What a kernel is to fill in."""
    top, count = line == len(rooms) - 1, len(ids) * rooms[line]
    graph_ptr = ids.new_empty(len(ids) * rooms[-1] + 1)
    return Nodes(
        source=ids.new_empty(count),
        sizes=ids.new_empty(count if line else 0),
        ptr=ids.new_empty(count + 1 if line else 0),
        assignment=ids.new_empty(0 if top else count),
        batch=graph_ptr[:-1] if top else ids.new_empty(count),
        graph_ptr=graph_ptr,
    )


def adjacency(
    tables: Tables, found: Places, made: Nodes, rows: Rows, level: int, space: int
) -> Entries:
    """The adjacency of a level, whose entries get some space over all replicas."""
    replicas, size = found.ids.shape
    line, first, inner = tables.entries[level]
    count = len(made.source)
    room, padded = count // replicas, (len(made.graph_ptr) - 1) // replicas
    ptr, row, index, entry = (made.source.new_empty(n) for n in (count + 1, *[space] * 3))
    weight = rows.weight.new_empty(space)
    node = None if rows.node is None else rows.node.new_empty(count, 1)
    parts = min(triton.cdiv(max(space // replicas, room), BLOCK), PARTS)
    _adjacency[(parts, replicas + 1)](
        found.ids, tables.starts, found.begins, found.totals, made.source, made.batch, first, inner,
        rows.ahead, rows.weight, weight if node is None else rows.node, ptr, row, index, weight,
        entry, weight if node is None else node, *found.numbers(tables), padded, room, space,
        len(rows.ahead) - 1, level, line, node is not None, (size - 1).bit_length(), BLOCK,
    )  # fmt: skip
    return Entries(ptr, row, index, weight, entry, node)


def turn(cut: Entries, twin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The transpose (see `sepool_experiments.layers.adjacency.Adjacency.transpose`)."""
    order, index = torch.empty_like(cut.entry), torch.empty_like(cut.entry)
    grid = (triton.cdiv(len(order), BLOCK),)
    _turn[grid](cut.entry, twin, cut.row, order, index, len(order), BLOCK)
    return cut.ptr, index, order
