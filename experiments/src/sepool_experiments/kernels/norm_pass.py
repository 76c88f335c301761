"""Triton kernels of batch normalisation of replicas, launched by `sepool_experiments.kernels.norm`.

The rows of a replica are cut into chunks. A first pass reduces every chunk, the partial results are
joined in a fixed order, and a second pass goes over the rows again. Sums are kept for every row of
a tile and reduced at the end, so that threads need not synchronise. Rows of weight 0 are not read.
Backward recomputes the mask of a ReLU.
"""

from __future__ import annotations

import triton
import triton.language as tl

from sepool_experiments.kernels.registry import COUNTS
from sepool_experiments.kernels.rows import relu


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
def moments(x, row_weight, counts, means, squares, rows, width, CHUNKS: tl.constexpr,
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
def join(counts, means, squares, running_mean, running_var, statistics, width, running_stride,
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


@triton.jit
def _statistics(statistics, weight, bias, replica, column, width, stride):
    """Mean, scale, slope and shift of ``(x - mean) slope + shift``."""
    wide = column < width
    mean = tl.load(statistics + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(statistics + replica * 3 * width + width + column, mask=wide, other=0.0)
    slope = tl.load(weight + replica * stride + column, mask=wide, other=0.0) * scale
    shift = tl.load(bias + replica * stride + column, mask=wide, other=0.0)
    return mean, scale, slope, shift


@triton.jit(do_not_specialize=COUNTS)
def normalise(x, row_weight, weight, bias, statistics, out, rows, width, stride, RELU: tl.constexpr,
              CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    """Normalise rows by the statistics, with ReLU if RELU."""
    replica, start, end, column, _ = _chunk(rows, width, CHUNKS, WIDTH)
    mean, _scale, slope, shift = _statistics(
        statistics, weight, bias, replica, column, width, stride
    )
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            _often, inside, offset = _tile(row_weight, first, end, column, width, ROWS)
            values = tl.load(x + offset, mask=inside, other=0.0)
            values = (values - mean[None, :]) * slope[None, :] + shift[None, :]
            if RELU:
                values = relu(values)
            written = (first + tl.arange(0, ROWS) < end)[:, None] & (column < width)[None, :]
            tl.store(out + offset, tl.where(inside, values, 0.0), mask=written)


@triton.jit
def _input(x, grad, row_weight, begin, end, mean, slope, shift, column, width, RELU: tl.constexpr,
           ROWS: tl.constexpr):  # fmt: skip
    """`_tile`, its rows, and their gradient before ReLU."""
    weights, inside, offset = _tile(row_weight, begin, end, column, width, ROWS)
    values = tl.load(x + offset, mask=inside, other=0.0)
    grad_out = tl.load(grad + offset, mask=inside, other=0.0)
    if RELU:
        positive = (values - mean[None, :]) * slope[None, :] + shift[None, :] > 0
        grad_out = tl.where(positive, grad_out, 0.0)
    return weights, inside, offset, values, grad_out


@triton.jit(do_not_specialize=COUNTS)
def gradient_sums(x, grad, row_weight, weight, bias, statistics, sums, products, rows, width,
                  stride, RELU: tl.constexpr, CHUNKS: tl.constexpr, AHEAD: tl.constexpr,
                  ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Sums over a chunk of the gradient and of its product with the normalised rows."""
    replica, start, end, column, position = _chunk(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean, scale, slope, shift = _statistics(
        statistics, weight, bias, replica, column, width, stride
    )
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    product = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            _weights, _inside, _offset, values, grad_out = _input(
                x, grad, row_weight, begin + more * ROWS, end, mean, slope, shift, column, width,
                RELU, ROWS)  # fmt: skip
            total += grad_out
            product += grad_out * (values - mean[None, :])
    tl.store(sums + position, tl.sum(total, 0), mask=wide)
    tl.store(products + position, tl.sum(product, 0) * scale, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def gradient(x, grad, row_weight, weight, bias, statistics, sums, products, x_grad, weight_grad,
             bias_grad, rows, width, stride, RELU: tl.constexpr, CHUNKS: tl.constexpr,
             AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """``w (g - row_weight (sum g + x' sum g x') / n) / sigma``, ``x'`` the normalised rows."""
    replica, start, end, column, _ = _chunk(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean, scale, slope, shift = _statistics(
        statistics, weight, bias, replica, column, width, stride
    )
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
            weights, inside, offset, values, grad_out = _input(
                x, grad, row_weight, first, end, mean, slope, shift, column, width, RELU,
                ROWS)  # fmt: skip
            distance = values - mean[None, :]
            grad_out -= weights[:, None] * (total[None, :] + distance * product[None, :])
            written = (first + tl.arange(0, ROWS) < end)[:, None] & wide[None, :]
            tl.store(
                x_grad + offset, tl.where(inside, grad_out * slope[None, :], 0.0), mask=written
            )
