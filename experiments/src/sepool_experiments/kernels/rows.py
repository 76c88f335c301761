"""Triton kernels of sums of gathered rows, and of dropout."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.registry import COUNTS

ROWS, WIDTH, TALL = 16, 64, 128  # of a tile; rows of a narrow tile
AHEAD = 4  # entries of a row loaded at a time
LONG = 16  # mean entries of a segment from which on it has a program of its own
LOWEST = tl.constexpr(-3e38)  # a finite minus infinity


@triton.jit
def some_rows(ptr, rows, ROWS: tl.constexpr):
    """Rows of a program, their mask, and start and end of their entries."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    start = tl.load(ptr + row, mask=inside, other=0)
    return row, inside, start, tl.load(ptr + row + 1, mask=inside, other=0)


@triton.jit(do_not_specialize=COUNTS)
def _sum_rows(x, ptr, index, weight, out, rows, width, INDEX: tl.constexpr, WEIGHT: tl.constexpr,
              MAX: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    """Sum or maximum of entries in their order, which makes it reproducible.

    Entries are loaded a few at a time to hide latency.
    """
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    wide = column < width
    nothing = float("-inf") if MAX else 0.0
    total = tl.full((ROWS, WIDTH), nothing, tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            mask = entry < end
            input_row = tl.load(index + entry, mask=mask, other=0) if INDEX else entry
            values = tl.load(
                x + input_row[:, None] * width + column[None, :],
                mask=mask[:, None] & wide[None, :],
                other=nothing,
            )
            if WEIGHT:
                values *= tl.load(weight + entry, mask=mask, other=0.0)[:, None]
            total = tl.maximum(total, values) if MAX else total + values
    if MAX:
        total = tl.where((end > start)[:, None], total, 0.0)
    offset = out + row[:, None] * width + column[None, :]
    tl.store(offset, total, mask=inside[:, None] & wide[None, :])


@triton.jit
def _sum_long(x, ptr, out, width, AHEAD: tl.constexpr, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    """Sum of one long segment, many rows at a time."""
    segment = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    wide = column < width
    begin, end = tl.load(ptr + segment), tl.load(ptr + segment + 1)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(begin, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            row = start + more * ROWS + tl.arange(0, ROWS)
            total += tl.load(
                x + row[:, None] * width + column[None, :],
                mask=(row < end)[:, None] & wide[None, :],
                other=0.0,
            )
    tl.store(out + segment * width + column, tl.sum(total, 0), mask=wide)


@triton.jit
def _mix(x):
    """`sepool_experiments.layers.dropout.mix` in 32-bit arithmetic."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B
    x = (x ^ (x >> 13)) * 0xC2B2AE35
    return x ^ (x >> 16)


@triton.jit(do_not_specialize=COUNTS)
def _drop_rows(x, keys, salt, rate, out, lines, replicas, width, SIDE: tl.constexpr,
               ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Dropout of replicas side by side (SIDE) or one after the other."""
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
    retained = noise.to(tl.float32) * 2.3283064365386963e-10 >= share[:, None]
    offset = line[:, None] * width + column[None, :]
    values = tl.load(x + offset, mask=inside, other=0.0) * (1 / (1 - share))[:, None]
    tl.store(out + offset, tl.where(retained, values, 0.0), mask=inside)


def tiles(rows: int, width: int) -> tuple[tuple[int, int], int, int]:
    """Return the grid and the tile of a program, taller for narrow rows.

    Tiles of 32 or 64 rows fail to compile in Triton 3.6.
    """
    wide = min(WIDTH, triton.next_power_of_2(max(width, 1)))
    tall = ROWS if wide > ROWS else max(TALL, ROWS * WIDTH // wide)
    return (triton.cdiv(rows, tall), triton.cdiv(width, wide)), tall, wide


def drop_rows(x: Tensor, keys: Tensor, salt: int, rate: Tensor) -> Tensor:
    """Dropout of replicas, with a key and a rate each; the salt is added to the keys.

    ``x`` is ``(rows, replicas, width)``, or a matrix with equal numbers of rows a replica.
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
    mode: str = "sum",
) -> Tensor:
    """Sum ``weight[e] * x[index[e]]`` over the entries ``ptr[i]`` to ``ptr[i + 1]``.

    With the mode "max" the maximum of ``x[index[e]]``, 0 for empty segments.
    """
    x = x.contiguous()
    rows, width = len(ptr) - 1, x.size(1)
    out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
    grid, *tile = tiles(rows, width)
    if index is None and weight is None and mode == "sum" and len(x) >= LONG * rows:
        _sum_long[(rows, grid[1])](x, ptr, out, width, AHEAD, *tile)
        return out
    _sum_rows[grid](
        x,
        ptr,
        ptr if index is None else index,  # any pointer stands in for None
        x if weight is None else weight,
        out,
        rows,
        width,
        index is not None,
        weight is not None,
        mode == "max",
        AHEAD,
        *tile,
    )
    return out
