"""`sepool_experiments.models.parts.neighbor_max` on a GPU, in Triton: a launch or two forward, and backward."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import AHEAD, some_rows, tiles
from sepool_experiments.layers.gpu import COUNTS

NODES, WIDTH = 16, 64  # of the tile that is on its way at a time


@triton.jit
def _place(counts, room, WIDTH: tl.constexpr):
    """The graph and the node of a program, how many others there are to see, and the columns."""
    graph = tl.program_id(0).to(tl.int64) // room
    node = tl.program_id(0).to(tl.int64) % room
    count = tl.load(counts + graph)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    return graph, node, tl.where(node < count, count, 0), column


@triton.jit(do_not_specialize=COUNTS)
def _largest(x, near, counts, out, times, room, width, NODES: tl.constexpr,
             WIDTH: tl.constexpr):  # fmt: skip
    """The largest values, and how many neighbours share each; 0 where there is no node."""
    graph, node, count, column = _place(counts, room, WIDTH)
    mine = (graph * room + node) * width + column
    wide = column < width
    best = tl.load(x + mine, mask=column < tl.where(count > 0, width, 0), other=0.0)
    for begin in range(0, count, NODES):
        other = begin + tl.arange(0, NODES)
        seen = tl.load(near + (graph * room + node) * room + other, mask=other < count, other=0)
        place = (graph * room + other)[:, None] * width + column[None, :]
        inside = (seen != 0)[:, None] & wide[None, :]
        best = tl.maximum(best, tl.max(tl.load(x + place, mask=inside, other=float("-inf")), 0))
    hits = tl.zeros((WIDTH,), tl.float32)
    for begin in range(0, count, NODES):
        other = begin + tl.arange(0, NODES)
        seen = tl.load(near + (graph * room + node) * room + other, mask=other < count, other=0)
        place = (graph * room + other)[:, None] * width + column[None, :]
        inside = (seen != 0)[:, None] & wide[None, :]
        values = tl.load(x + place, mask=inside, other=float("-inf"))
        hits += tl.sum((values == best[None, :]).to(tl.float32), 0)
    tl.store(out + mine, best, mask=wide)
    tl.store(times + mine, hits, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def _gradient(x, near, counts, best, times, grad, out, room, width, NODES: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    """What a node gets of the gradients of all whose largest value it has."""
    graph, node, count, column = _place(counts, room, WIDTH)
    mine = (graph * room + node) * width + column
    wide = column < width
    value = tl.load(x + mine, mask=wide, other=0.0)
    total = tl.zeros((WIDTH,), tl.float32)
    for begin in range(0, count, NODES):
        other = begin + tl.arange(0, NODES)
        seen = tl.load(near + (graph * room + other) * room + node, mask=other < count, other=0)
        place = (graph * room + other)[:, None] * width + column[None, :]
        inside = (seen != 0)[:, None] & wide[None, :]
        reached = tl.load(best + place, mask=inside, other=0.0) == value[None, :]
        shared = tl.maximum(tl.load(times + place, mask=inside, other=1.0), 1.0)
        above = tl.load(grad + place, mask=inside, other=0.0) / shared
        total += tl.sum(tl.where(reached & inside, above, 0.0), 0)
    tl.store(out + mine, total, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def _hits(own, other, value, ptr, index, out, rows, width, VALUE: tl.constexpr,
          AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Every row of the tile walks its entries and counts those whose ``other`` is its own.

    VALUE: it sums what they are worth. Some entries are on their way at a time.
    """
    row, exists, start, end = some_rows(ptr, rows, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside = exists[:, None] & (column < width)[None, :]
    here = row[:, None] * width + column[None, :]
    mine = tl.load(own + here, mask=inside, other=0.0)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            there = (entry < end)[:, None] & inside
            source = tl.load(index + entry, mask=entry < end, other=0)
            place = source[:, None] * width + column[None, :]
            hit = there & (tl.load(other + place, mask=there, other=0.0) == mine)
            total += tl.load(value + place, mask=hit, other=0.0) if VALUE else hit.to(tl.float32)
    tl.store(out + here, total, mask=inside)


def hits(
    own: Tensor, other: Tensor, ptr: Tensor, index: Tensor, value: Tensor | None = None
) -> Tensor:
    """Of the entries of every row, in how many ``other[index]`` is what the row has itself.

    Args:
        own: what every row has, one number a column.
        other: what its entries have.
        ptr: where the entries of every row begin.
        index: the row of ``other`` that every entry is.
        value: what to sum of these rows instead of counting them.
    """
    own, other, out = own.contiguous(), other.contiguous(), torch.empty_like(own)
    grid, *tile = tiles(*own.shape)
    worth = other if value is None else value.contiguous()
    _hits[grid](own, other, worth, ptr, index, out, *own.shape, value is not None, AHEAD, *tile)
    return out


def _grid(x: Tensor) -> tuple[tuple[int, int], tuple[int, int]]:
    """The programs, and the tile of each."""
    graphs, room, width = x.shape
    wide = min(WIDTH, triton.next_power_of_2(width))
    return (graphs * room, triton.cdiv(width, wide)), (NODES, wide)


def largest(x: Tensor, near: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """The largest values of every neighbourhood, and how many share each of them.

    Args:
        x: the nodes of every graph, ``(graphs, room, width)``.
        near: who is whose neighbour, ``(graphs, room, room)``.
        counts: how many nodes every graph has, the first ones.
    """
    out, times = torch.empty_like(x), torch.empty_like(x)
    grid, tile = _grid(x)
    _largest[grid](x, near, counts, out, times, *x.shape[1:], *tile)
    return out, times


def gradient(
    x: Tensor, near: Tensor, counts: Tensor, best: Tensor, times: Tensor, grad: Tensor
) -> Tensor:
    """The gradient of the nodes."""
    out = torch.empty_like(x)
    grid, tile = _grid(x)
    _gradient[grid](x, near, counts, best, times, grad.contiguous(), out, *x.shape[1:], *tile)
    return out
