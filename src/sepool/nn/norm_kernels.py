"""`sepool.nn.norm.NodeNorm` on a GPU, in Triton: two passes over the nodes forward, two backward.

The rows of a replica are cut into chunks. A first pass leaves what every chunk amounts to, and a
second one joins that, always in the same order, before it goes over the rows again. Sums are kept
for every row of a tile, and added up at the end: threads need not wait for each other meanwhile.
Rows that count nothing are not read.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool.nn.gpu import COUNTS
from sepool.nn.kernels import relu

ROWS, WIDTH = 16, 64  # of a tile
AHEAD = 4  # tiles that are on their way at a time
CHUNKS = 16  # a replica


@triton.jit
def _place(rows, width, CHUNKS: tl.constexpr, WIDTH: tl.constexpr):
    """The replica, where its chunk begins and ends, the columns, and where the chunk's sums lie."""
    replica = tl.program_id(0).to(tl.int64)
    chunk = tl.program_id(1)
    column = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    span = tl.cdiv(rows, CHUNKS)
    start = replica * rows + chunk * span
    end = tl.maximum(start, replica * rows + tl.minimum((chunk + 1) * span, rows))
    return replica, start, end, column, (replica * CHUNKS + chunk) * width + column


@triton.jit
def _tile(times, begin, end, column, width, ROWS: tl.constexpr):
    """How often some rows count, which of their numbers do, and where these lie."""
    row = begin + tl.arange(0, ROWS)
    often = tl.load(times + row, mask=row < end, other=0.0)
    inside = (often > 0)[:, None] & (column < width)[None, :]
    return often, inside, row[:, None] * width + column[None, :]


@triton.jit
def _parts(sums, replica, column, width, CHUNKS: tl.constexpr):
    """What the chunks of a replica amount to, one row each."""
    row = replica * CHUNKS + tl.arange(0, CHUNKS)
    place = row[:, None] * width + column[None, :]
    return tl.load(sums + place, mask=(column < width)[None, :], other=0.0)


@triton.jit(do_not_specialize=COUNTS)
def _moments(x, times, counts, means, squares, rows, width, CHUNKS: tl.constexpr,
             AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """How often the rows of a chunk count, their mean, and their squared distances from it."""
    _, start, end, column, place = _place(rows, width, CHUNKS, WIDTH)
    counted = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            often, inside, here = _tile(times, begin + more * ROWS, end, column, width, ROWS)
            counted += often
            total += tl.load(x + here, mask=inside, other=0.0) * often[:, None]
    count = tl.sum(counted, 0)
    mean = tl.sum(total, 0) / tl.maximum(count, 1.0)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            often, inside, here = _tile(times, begin + more * ROWS, end, column, width, ROWS)
            apart = tl.load(x + here, mask=inside, other=0.0) - mean[None, :]
            square += apart * apart * often[:, None]
    tl.store(counts + place, tl.zeros((WIDTH,), tl.float32) + count, mask=column < width)
    tl.store(means + place, mean, mask=column < width)
    tl.store(squares + place, tl.sum(square, 0), mask=column < width)


@triton.jit(do_not_specialize=COUNTS)
def _normalise(x, times, weight, bias, seen_mean, seen_var, counts, means, squares, known, out,
               rows, width, stride, seen_stride, EPSILON: tl.constexpr, MOMENTUM: tl.constexpr,
               RELU: tl.constexpr, CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
               WIDTH: tl.constexpr):  # fmt: skip
    """Joins the chunks; the first program of a replica notes what training has seen."""
    replica, start, end, column, _ = _place(rows, width, CHUNKS, WIDTH)
    wide = column < width
    count = _parts(counts, replica, column, width, CHUNKS)
    part = _parts(means, replica, column, width, CHUNKS)
    total = tl.maximum(tl.sum(count, 0), 1.0)
    mean = tl.sum(count * part, 0) / total
    apart = part - mean[None, :]
    square = tl.sum(_parts(squares, replica, column, width, CHUNKS) + count * apart * apart, 0)
    scale = tl.rsqrt(square / total + EPSILON)
    if tl.program_id(1) == 0:
        place = replica * seen_stride + column
        old = tl.load(seen_mean + place, mask=wide)
        tl.store(seen_mean + place, old + MOMENTUM * (mean - old), mask=wide)
        old = tl.load(seen_var + place, mask=wide)
        var = square / tl.maximum(total - 1, 1.0)
        tl.store(seen_var + place, old + MOMENTUM * (var - old), mask=wide)
        place = replica * 3 * width + column
        tl.store(known + place, mean, mask=wide)
        tl.store(known + place + width, scale, mask=wide)
        tl.store(known + place + 2 * width, total, mask=wide)
    slope = tl.load(weight + replica * stride + column, mask=wide) * scale
    shift = tl.load(bias + replica * stride + column, mask=wide)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            _often, inside, here = _tile(times, first, end, column, width, ROWS)
            values = tl.load(x + here, mask=inside, other=0.0)
            values = (values - mean[None, :]) * slope[None, :] + shift[None, :]
            if RELU:
                values = relu(values)
            written = (first + tl.arange(0, ROWS) < end)[:, None] & wide[None, :]
            tl.store(out + here, tl.where(inside, values, 0.0), mask=written)


@triton.jit
def _above(out, grad, place, inside, RELU: tl.constexpr):
    """The gradient before the ReLU, if one followed."""
    above = tl.load(grad + place, mask=inside, other=0.0)
    if RELU:
        above = tl.where(tl.load(out + place, mask=inside, other=0.0) > 0, above, 0.0)
    return above


@triton.jit(do_not_specialize=COUNTS)
def _gradient_sums(x, out, grad, times, known, sums, products, rows, width, RELU: tl.constexpr,
                   CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
                   WIDTH: tl.constexpr):  # fmt: skip
    """The sums over a chunk of the gradient, and of the gradient times the normalised nodes."""
    replica, start, end, column, place = _place(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean = tl.load(known + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(known + replica * 3 * width + width + column, mask=wide, other=0.0)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    product = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            _often, inside, here = _tile(times, begin + more * ROWS, end, column, width, ROWS)
            above = _above(out, grad, here, inside, RELU)
            values = tl.load(x + here, mask=inside, other=0.0)
            total += above
            product += above * (values - mean[None, :])
    tl.store(sums + place, tl.sum(total, 0), mask=wide)
    tl.store(products + place, tl.sum(product, 0) * scale, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def _gradient(x, out, grad, times, weight, known, sums, products, to_x, to_weight, to_bias, rows,
              width, stride, RELU: tl.constexpr, CHUNKS: tl.constexpr, AHEAD: tl.constexpr,
              ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """``w (g - times (sum g + x' sum g x') / n) / sigma``, ``x'`` being the normalised nodes."""
    replica, start, end, column, _ = _place(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean = tl.load(known + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(known + replica * 3 * width + width + column, mask=wide, other=0.0)
    count = tl.load(known + replica * 3 * width + 2 * width + column, mask=wide, other=1.0)
    total = tl.sum(_parts(sums, replica, column, width, CHUNKS), 0)
    product = tl.sum(_parts(products, replica, column, width, CHUNKS), 0)
    if tl.program_id(1) == 0:
        tl.store(to_bias + replica * width + column, total, mask=wide)
        tl.store(to_weight + replica * width + column, product, mask=wide)
    slope = tl.load(weight + replica * stride + column, mask=wide, other=0.0) * scale
    total /= count
    product *= scale / count
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            often, inside, here = _tile(times, first, end, column, width, ROWS)
            above = _above(out, grad, here, inside, RELU)
            apart = tl.load(x + here, mask=inside, other=0.0) - mean[None, :]
            above -= often[:, None] * (total[None, :] + apart * product[None, :])
            written = (first + tl.arange(0, ROWS) < end)[:, None] & wide[None, :]
            above = tl.where(inside, above * slope[None, :], 0.0)
            tl.store(to_x + here, above, mask=written)


def _grid(replicas: int, width: int) -> tuple[tuple[int, int, int], tuple[int, int, int, int]]:
    """The programs, and the chunks and the tiles of each."""
    wide = min(WIDTH, triton.next_power_of_2(width))
    return (replicas, CHUNKS, triton.cdiv(width, wide)), (CHUNKS, AHEAD, ROWS, wide)


def normalise(
    x: Tensor,
    times: Tensor,
    weight: Tensor,
    bias: Tensor,
    seen_mean: Tensor,
    seen_var: Tensor,
    epsilon: float,
    momentum: float,
    relu: bool,
) -> tuple[Tensor, Tensor]:
    """The normalised rows, and the mean, scale and count of every replica for the gradient.

    Arguments as in `sepool.nn.norm.NodeNorm`; weights and what was seen are matrices.
    """
    (replicas, width), rows = weight.shape, len(x) // len(weight)
    parts = torch.empty(3, replicas, CHUNKS, width, device=x.device)
    known, out = torch.empty(replicas, 3, width, device=x.device), torch.empty_like(x)
    grid, tile = _grid(replicas, width)
    strides = weight.stride(0), seen_mean.stride(0)
    _moments[grid](x, times, *parts, rows, width, *tile)
    _normalise[grid](
        x, times, weight, bias, seen_mean, seen_var, *parts, known, out, rows, width, *strides,
        epsilon, momentum, relu, *tile,
    )  # fmt: skip
    return out, known


def gradient(
    x: Tensor, out: Tensor, grad: Tensor, times: Tensor, weight: Tensor, known: Tensor, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the rows, the weight and the bias."""
    (replicas, width), rows = weight.shape, len(x) // len(weight)
    sums = torch.empty(2, replicas, CHUNKS, width, device=x.device)
    to_x, to_weights = torch.empty_like(x), torch.empty(2, replicas, width, device=x.device)
    grid, tile = _grid(replicas, width)
    _gradient_sums[grid](x, out, grad, times, known, *sums, rows, width, relu, *tile)
    _gradient[grid](
        x, out, grad, times, weight, known, *sums, to_x, *to_weights, rows, width,
        weight.stride(0), relu, *tile,
    )  # fmt: skip
    return to_x, to_weights[0], to_weights[1]
