"""`sepool_experiments.layers.concat_neighbors` on a GPU, in Triton: neither half of a row is written down by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import AHEAD, some_rows, tiles
from sepool_experiments.layers.gpu import COUNTS

if TYPE_CHECKING:
    from sepool_experiments.layers.concat_neighbors import Gathered


@triton.jit
def _entry(x, index, weight, entry, end, column, width, stride, WEIGHT: tl.constexpr):
    """Whom some rows gather by an entry of each, if there is one, and what they see of them."""
    there = entry < end
    line = tl.load(index + entry, mask=there, other=0)
    values = tl.load(
        x + line[:, None] * stride + column[None, :],
        mask=there[:, None] & (column < width)[None, :],
        other=0.0,
    )
    if WEIGHT:
        values *= tl.load(weight + entry, mask=there, other=0.0)[:, None]
    return there, line, values


@triton.jit(do_not_specialize=COUNTS)
def _beside(x, ptr, index, weight, scale, out, rows, width, FIRST: tl.constexpr,
            WEIGHT: tl.constexpr, SCALE: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
            WIDTH: tl.constexpr):  # fmt: skip
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            _there, _line, values = _entry(
                x, index, weight, start + step + more, end, column, width, width, WEIGHT
            )
            total += values
    if SCALE:
        total *= tl.load(scale + row, mask=inside, other=0.0)[:, None]
    both = inside[:, None] & (column < width)[None, :]
    own = tl.load(x + row[:, None] * width + column[None, :], mask=both, other=0.0)
    here = out + row[:, None] * (2 * width) + column[None, :]
    tl.store(here + (0 if FIRST else width), total, mask=both)
    tl.store(here + (width if FIRST else 0), own, mask=both)


@triton.jit(do_not_specialize=COUNTS)
def _join(both, ptr, index, weight, scale, out, rows, width, FIRST: tl.constexpr,
          WEIGHT: tl.constexpr, SCALE: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
          WIDTH: tl.constexpr):  # fmt: skip
    """Whom a node gathers gathers it: what those made of it, and itself, are summed."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    present = inside[:, None] & (column < width)[None, :]
    sums = both + (0 if FIRST else width)
    own = both + row[:, None] * (2 * width) + (width if FIRST else 0) + column[None, :]
    total = tl.load(own, mask=present, other=0.0)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            there, line, values = _entry(
                sums, index, weight, start + step + more, end, column, width, 2 * width, WEIGHT
            )
            if SCALE:
                values *= tl.load(scale + line, mask=there, other=0.0)[:, None]
            total += values
    tl.store(out + row[:, None] * width + column[None, :], total, mask=present)


def put_beside(x: Tensor, told: Gathered) -> Tensor:
    """Every node beside what it gathers."""
    out = x.new_empty(len(x), 2 * x.size(1))
    _launch(_beside, x, told, out, x.size(1))
    return out


def join(both: Tensor, told: Gathered) -> Tensor:
    """The gradient of the nodes, from that of both halves."""
    out = both.new_empty(len(both), both.size(1) // 2)
    _launch(_join, both, told, out, out.size(1))
    return out


def _launch(kernel: triton.JITFunction, x: Tensor, told: Gathered, out: Tensor, width: int) -> None:
    x, (ptr, index, weight, scale, first) = x.contiguous(), told
    factors = (x if tensor is None else tensor for tensor in (weight, scale))  # anything for none
    flags = first, weight is not None, scale is not None, AHEAD
    grid, *tile = tiles(len(x), width)
    kernel[grid](x, ptr, index, *factors, out, len(x), width, *flags, *tile)
