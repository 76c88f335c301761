"""Sums of gathered rows on a GPU, in Triton, which comes with PyTorch's builds for GPUs."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.layers.gpu import COUNTS

ROWS, WIDTH, TALL = 16, 64, 128  # of the tile that one program sums; rows of a narrow one
AHEAD = 4  # entries of a row that are on their way at a time
LONG = 16  # entries of a segment from which on a program sums it alone
LOWEST = tl.constexpr(-3e38)  # as minus infinity, but equal to itself when subtracted


@triton.jit
def relu(x):
    """A training that went astray is to be seen: what is no number stays none."""
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def some_rows(ptr, rows, ROWS: tl.constexpr):
    """The rows of a program, which of them exist, and where their entries begin and end."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    start = tl.load(ptr + row, mask=inside, other=0)
    return row, inside, start, tl.load(ptr + row + 1, mask=inside, other=0)


@triton.jit(do_not_specialize=COUNTS)
def _sum_rows(x, ptr, index, weight, out, rows, width, INDEX: tl.constexpr, WEIGHT: tl.constexpr,
              RELU: tl.constexpr, MAX: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    """Every row of the tile walks its entries in order: the same bits in every run.

    Entries are taken some at a time, so that more than one load is on its way: of a long row, as a
    large graph is, the walk is all that takes time.
    """
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    wide = column < width
    nothing = float("-inf") if MAX else 0.0
    total = tl.full((ROWS, WIDTH), nothing, tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            there = entry < end
            source = tl.load(index + entry, mask=there, other=0) if INDEX else entry
            values = tl.load(
                x + source[:, None] * width + column[None, :],
                mask=there[:, None] & wide[None, :],
                other=nothing,
            )
            if RELU:
                values = relu(values)
            if WEIGHT:
                values *= tl.load(weight + entry, mask=there, other=0.0)[:, None]
            total = tl.maximum(total, values) if MAX else total + values
    if MAX:
        total = tl.where((end > start)[:, None], total, 0.0)
    place = out + row[:, None] * width + column[None, :]
    tl.store(place, total, mask=inside[:, None] & wide[None, :])


@triton.jit
def _sum_long(x, ptr, out, width, RELU: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    """One segment of rows, many of them at a time: the nodes of a graph can be thousands."""
    segment = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    wide = column < width
    begin, end = tl.load(ptr + segment), tl.load(ptr + segment + 1)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(begin, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            row = start + more * ROWS + tl.arange(0, ROWS)
            values = tl.load(
                x + row[:, None] * width + column[None, :],
                mask=(row < end)[:, None] & wide[None, :],
                other=0.0,
            )
            total += relu(values) if RELU else values
    tl.store(out + segment * width + column, tl.sum(total, 0), mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def _copy_rows(x, index, gate, times, base, out, rows, length, width, GATE: tl.constexpr,
               TIMES: tl.constexpr, BASE: tl.constexpr, ROWS: tl.constexpr,
               WIDTH: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside = (row < rows)[:, None] & (column < width)[None, :]
    source = tl.load(index + row, mask=row < rows, other=0)
    there = inside & (source < length)[:, None]
    values = tl.load(x + source[:, None] * width + column[None, :], mask=there, other=0.0)
    place = row[:, None] * width + column[None, :]
    if GATE:
        values = tl.where(tl.load(gate + place, mask=inside, other=0.0) > 0, values, 0.0)
    if TIMES:
        values *= tl.load(times + row, mask=row < rows, other=0.0)[:, None]
    if BASE:
        values += tl.load(base + place, mask=inside, other=0.0)
    tl.store(out + place, values, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _dot_rows(left, first, right, second, out, rows, width, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    a = tl.load(first + row, mask=inside, other=0)
    b = tl.load(second + row, mask=inside, other=0)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, width, WIDTH):
        column = start + tl.arange(0, WIDTH)
        both = inside[:, None] & (column < width)[None, :]
        x = tl.load(left + a[:, None] * width + column[None, :], mask=both, other=0.0)
        y = tl.load(right + b[:, None] * width + column[None, :], mask=both, other=0.0)
        total += tl.sum(x * y, 1)
    tl.store(out + row, total, mask=inside)


@triton.jit
def _mix(x):
    """`sepool_experiments.layers.dropout.mix`; modulo 2^32 all of it can be done in 32 bits, which are fast."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B
    x = (x ^ (x >> 13)) * 0xC2B2AE35
    return x ^ (x >> 16)


@triton.jit(do_not_specialize=COUNTS)
def _drop_rows(x, keys, salt, rate, out, lines, replicas, width, SIDE: tl.constexpr,
               ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Dropout of replicas, side by side or one behind the other; see `sepool_experiments.layers.dropout`."""
    line = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    inside = (line < lines)[:, None] & (column < width)[None, :]
    replica = line % replicas if SIDE else line // (lines // replicas)
    row = line // replicas if SIDE else line % (lines // replicas)
    key = tl.load(keys + replica, mask=line < lines, other=0)
    begin = _mix(_mix((key + salt).to(tl.uint32)) + (key >> 32).to(tl.uint32))
    share = tl.load(rate + replica, mask=line < lines, other=0.0)
    noise = (row * width).to(tl.uint32)[:, None] + column.to(tl.uint32)[None, :]
    noise = _mix(noise * 0x9E3779B1 + begin[:, None])
    kept = noise.to(tl.float32) * 2.3283064365386963e-10 >= share[:, None]
    place = line[:, None] * width + column[None, :]
    values = tl.load(x + place, mask=inside, other=0.0) * (1 / (1 - share))[:, None]
    tl.store(out + place, tl.where(kept, values, 0.0), mask=inside)


def tiles(rows: int, width: int) -> tuple[tuple[int, int], int, int]:
    """The grid, and the tile of one program: narrow rows get a narrow tile with more of them.

    No tile has 32 or 64 rows: Triton 3.6 mixes up its axes then, and fails to compile.
    """
    wide = min(WIDTH, triton.next_power_of_2(max(width, 1)))
    tall = ROWS if wide > ROWS else max(TALL, ROWS * WIDTH // wide)
    return (triton.cdiv(rows, tall), triton.cdiv(width, wide)), tall, wide


def copy_rows(
    x: Tensor,
    index: Tensor,
    gate: Tensor | None = None,
    times: Tensor | None = None,
    base: Tensor | None = None,
) -> Tensor:
    """``base + times x[index]``, the latter 0 where the gate is not above 0, or beyond ``x``."""
    x, width = x.contiguous(), x.size(1)
    out = torch.empty(len(index), width, dtype=x.dtype, device=x.device)
    if out.numel():
        grid, *tile = tiles(len(index), width)
        told = [x if tensor is None else tensor.contiguous() for tensor in (gate, times, base)]
        flags = gate is not None, times is not None, base is not None
        _copy_rows[grid](x, index, *told, out, len(index), len(x), width, *flags, *tile)
    return out


def dot_rows(left: Tensor, first: Tensor, right: Tensor, second: Tensor) -> Tensor:
    """``left[first] . right[second]``, row by row."""
    left, right = left.contiguous(), right.contiguous()
    rows, width = len(first), left.size(1)
    out = torch.empty(rows, dtype=left.dtype, device=left.device)
    if rows:
        (count, _), *tile = tiles(rows, width)
        _dot_rows[(count,)](left, first, right, second, out, rows, width, *tile)
    return out


def drop_rows(x: Tensor, keys: Tensor, salt: int, rate: Tensor) -> Tensor:
    """Dropout with a key and a rate a replica: side by side, or one behind the other in a matrix.

    Args:
        x: ``(rows, replicas, width)``, or a matrix of equally many rows a replica.
        keys: what the noise of every replica is made from.
        salt: what is added to the keys.
        rate: the share that every replica drops.
    """
    x, side, replicas = x.contiguous(), x.dim() == 3, len(keys)
    out, width = torch.empty_like(x), x.size(-1)
    if x.numel():
        lines = x.numel() // width
        grid, *tile = tiles(lines, width)
        rate = rate.contiguous()
        _drop_rows[grid](x, keys, salt, rate, out, lines, replicas, width, side, *tile)
    return out


def sum_rows(
    x: Tensor,
    ptr: Tensor,
    index: Tensor | None = None,
    weight: Tensor | None = None,
    relu: bool = False,
    mode: str = "sum",
) -> Tensor:
    """The sum of ``weight[e] * x[index[e]]`` over the entries ``ptr[i]`` to ``ptr[i + 1]``.

    With the mode "max" the largest of ``x[index[e]]``, and 0 where there are none.
    """
    x = x.contiguous()
    rows, width = len(ptr) - 1, x.size(1)
    out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
    grid, *tile = tiles(rows, width)
    empty = ptr  # stands for what is not there
    if index is None and weight is None and mode == "sum" and len(x) >= LONG * rows:
        _sum_long[(rows, grid[1])](x, ptr, out, width, relu, AHEAD, *tile)
        return out
    _sum_rows[grid](
        x,
        ptr,
        empty if index is None else index,
        x if weight is None else weight,
        out,
        rows,
        width,
        index is not None,
        weight is not None,
        relu,
        mode == "max",
        AHEAD,
        *tile,
    )
    return out
