"""Triton kernels of batch normalisation of replicas.

The rows of a replica are cut into chunks. A first pass reduces every chunk, the partial results are
joined in a fixed order, and a second pass goes over the rows again. Sums are kept for every row of
a tile and reduced at the end, so that threads need not synchronise. Rows of weight 0 are not read.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.registry import COUNTS

ROWS, WIDTH = 16, 64  # of a tile
AHEAD = 4  # tiles loaded at a time
CHUNKS = 16  # a replica


@triton.jit
def _chunk(rows, width, CHUNKS: tl.constexpr, WIDTH: tl.constexpr):
    """Replica, start and end of the chunk, columns, and position of the chunk's sums."""
    replica = tl.program_id(0).to(tl.int64)
    chunk = tl.program_id(1)
    column = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    span = tl.cdiv(rows, CHUNKS)
    start = replica * rows + chunk * span
    end = tl.maximum(start, replica * rows + tl.minimum((chunk + 1) * span, rows))
    return replica, start, end, column, (replica * CHUNKS + chunk) * width + column


@triton.jit
def _tile(row_weight, begin, end, column, width, ROWS: tl.constexpr):
    """Weights of some rows, mask of their elements, and offsets."""
    row = begin + tl.arange(0, ROWS)
    weights = tl.load(row_weight + row, mask=row < end, other=0.0)
    inside = (weights > 0)[:, None] & (column < width)[None, :]
    return weights, inside, row[:, None] * width + column[None, :]


@triton.jit
def _parts(sums, replica, column, width, CHUNKS: tl.constexpr):
    """Partial results of the chunks of a replica, one row each."""
    row = replica * CHUNKS + tl.arange(0, CHUNKS)
    position = row[:, None] * width + column[None, :]
    return tl.load(sums + position, mask=(column < width)[None, :], other=0.0)


@triton.jit(do_not_specialize=COUNTS)
def _moments(x, row_weight, counts, means, squares, rows, width, CHUNKS: tl.constexpr,
             AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Weight, mean and sum of squared distances of a chunk, in one pass (Welford, 1962)."""
    _, start, end, column, position = _chunk(rows, width, CHUNKS, WIDTH)
    count_of_rows = tl.zeros((ROWS,), tl.float32)
    mean_of_rows = tl.zeros((ROWS, WIDTH), tl.float32)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            weights, inside, offset = _tile(
                row_weight, begin + more * ROWS, end, column, width, ROWS
            )
            values = tl.load(x + offset, mask=inside, other=0.0)
            count_of_rows += weights
            distance = tl.where(inside, values - mean_of_rows, 0.0)
            mean_of_rows += distance * (weights / tl.maximum(count_of_rows, 1.0))[:, None]
            square += distance * (values - mean_of_rows) * weights[:, None]
    count = tl.sum(count_of_rows, 0)
    mean = tl.sum(mean_of_rows * count_of_rows[:, None], 0) / tl.maximum(count, 1.0)
    distance = mean_of_rows - mean[None, :]
    square += distance * distance * count_of_rows[:, None]
    tl.store(counts + position, tl.zeros((WIDTH,), tl.float32) + count, mask=column < width)
    tl.store(means + position, mean, mask=column < width)
    tl.store(squares + position, tl.sum(square, 0), mask=column < width)


@triton.jit
def _join(counts, means, squares, running_mean, running_var, statistics, width, running_stride,
          EPSILON: tl.constexpr, MOMENTUM: tl.constexpr, CHUNKS: tl.constexpr,
          WIDTH: tl.constexpr):  # fmt: skip
    """Join the chunks of a replica and update the running statistics."""
    replica = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    wide = column < width
    count = _parts(counts, replica, column, width, CHUNKS)
    part = _parts(means, replica, column, width, CHUNKS)
    total = tl.maximum(tl.sum(count, 0), 1.0)
    mean = tl.sum(count * part, 0) / total
    distance = part - mean[None, :]
    square = tl.sum(
        _parts(squares, replica, column, width, CHUNKS) + count * distance * distance, 0
    )
    position = replica * running_stride + column
    old = tl.load(running_mean + position, mask=wide)
    tl.store(running_mean + position, old + MOMENTUM * (mean - old), mask=wide)
    old = tl.load(running_var + position, mask=wide)
    var = square / tl.maximum(total - 1, 1.0)
    tl.store(running_var + position, old + MOMENTUM * (var - old), mask=wide)
    position = statistics + replica * 3 * width + column
    tl.store(position, mean, mask=wide)
    tl.store(position + width, tl.rsqrt(square / total + EPSILON), mask=wide)
    tl.store(position + 2 * width, total, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def _normalise(x, row_weight, weight, bias, statistics, out, rows, width, stride,
               CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
               WIDTH: tl.constexpr):  # fmt: skip
    """Normalise rows by the statistics."""
    replica, start, end, column, _ = _chunk(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean = tl.load(statistics + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(statistics + replica * 3 * width + width + column, mask=wide, other=0.0)
    slope = tl.load(weight + replica * stride + column, mask=wide, other=0.0) * scale
    shift = tl.load(bias + replica * stride + column, mask=wide, other=0.0)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            _weights, inside, offset = _tile(row_weight, first, end, column, width, ROWS)
            values = tl.load(x + offset, mask=inside, other=0.0)
            values = (values - mean[None, :]) * slope[None, :] + shift[None, :]
            written = (first + tl.arange(0, ROWS) < end)[:, None] & wide[None, :]
            tl.store(out + offset, tl.where(inside, values, 0.0), mask=written)


@triton.jit(do_not_specialize=COUNTS)
def _gradient_sums(x, grad, row_weight, statistics, sums, products, rows, width,
                   CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
                   WIDTH: tl.constexpr):  # fmt: skip
    """Sums over a chunk of the gradient and of its product with the normalised rows."""
    replica, start, end, column, position = _chunk(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean = tl.load(statistics + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(statistics + replica * 3 * width + width + column, mask=wide, other=0.0)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    product = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            _weights, inside, offset = _tile(
                row_weight, begin + more * ROWS, end, column, width, ROWS
            )
            values = tl.load(x + offset, mask=inside, other=0.0)
            grad_out = tl.load(grad + offset, mask=inside, other=0.0)
            total += grad_out
            product += grad_out * (values - mean[None, :])
    tl.store(sums + position, tl.sum(total, 0), mask=wide)
    tl.store(products + position, tl.sum(product, 0) * scale, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def _gradient(x, grad, row_weight, weight, statistics, sums, products, x_grad, weight_grad,
              bias_grad, rows, width, stride, CHUNKS: tl.constexpr, AHEAD: tl.constexpr,
              ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """``w (g - row_weight (sum g + x' sum g x') / n) / sigma``, ``x'`` the normalised rows."""
    replica, start, end, column, _ = _chunk(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean = tl.load(statistics + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(statistics + replica * 3 * width + width + column, mask=wide, other=0.0)
    slope = tl.load(weight + replica * stride + column, mask=wide, other=0.0) * scale
    count = tl.load(statistics + replica * 3 * width + 2 * width + column, mask=wide, other=1.0)
    total = tl.sum(_parts(sums, replica, column, width, CHUNKS), 0)
    product = tl.sum(_parts(products, replica, column, width, CHUNKS), 0)
    if tl.program_id(1) == 0:
        tl.store(bias_grad + replica * width + column, total, mask=wide)
        tl.store(weight_grad + replica * width + column, product, mask=wide)
    total /= count
    product *= scale / count
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            weights, inside, offset = _tile(row_weight, first, end, column, width, ROWS)
            distance = tl.load(x + offset, mask=inside, other=0.0) - mean[None, :]
            grad_out = tl.load(grad + offset, mask=inside, other=0.0)
            grad_out -= weights[:, None] * (total[None, :] + distance * product[None, :])
            written = (first + tl.arange(0, ROWS) < end)[:, None] & wide[None, :]
            tl.store(
                x_grad + offset, tl.where(inside, grad_out * slope[None, :], 0.0), mask=written
            )


def _grid(replicas: int, width: int) -> tuple[tuple[int, int, int], tuple[int, int, int, int]]:
    """Grid, and chunks and tile of a program."""
    wide = min(WIDTH, triton.next_power_of_2(width))
    return (replicas, CHUNKS, triton.cdiv(width, wide)), (CHUNKS, AHEAD, ROWS, wide)


class State(NamedTuple):
    """Parameters and running statistics of `NodeNorm`, one row a replica, and its constants."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor
    epsilon: float
    momentum: float


def normalise(x: Tensor, row_weight: Tensor, state: State) -> tuple[Tensor, Tensor]:
    """Return the normalised rows, and mean, scale and count of every replica for the gradient.

    Updates the running statistics.
    """
    (replicas, width), rows = state.weight.shape, len(x) // len(state.weight)
    assert state.weight.stride() == state.bias.stride()
    assert state.running_mean.stride() == state.running_var.stride()
    parts = x.new_empty(3, replicas, CHUNKS, width)
    statistics, out = x.new_empty(replicas, 3, width), torch.empty_like(x)
    grid, tile = _grid(replicas, width)
    _moments[grid](x, row_weight, *parts, rows, width, *tile)
    _join[grid[::2]](
        *parts, state.running_mean, state.running_var, statistics, width,
        state.running_mean.stride(0), state.epsilon, state.momentum, CHUNKS, tile[-1],
    )  # fmt: skip
    _normalise[grid](
        x, row_weight, *state[:2], statistics, out, rows, width, state.weight.stride(0), *tile
    )
    return out, statistics


def gradient(
    x: Tensor, grad: Tensor, row_weight: Tensor, weight: Tensor, statistics: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the rows, the weight and the bias."""
    (replicas, width), rows = weight.shape, len(x) // len(weight)
    sums = x.new_empty(2, replicas, CHUNKS, width)
    x_grad, weight_grads = torch.empty_like(x), x.new_empty(2, replicas, width)
    grid, tile = _grid(replicas, width)
    _gradient_sums[grid](x, grad, row_weight, statistics, *sums, rows, width, *tile)
    _gradient[grid](
        x, grad, row_weight, weight, statistics, *sums, x_grad, *weight_grads, rows, width,
        weight.stride(0), *tile,
    )  # fmt: skip
    return x_grad, weight_grads[0], weight_grads[1]
