"""Passes over the rows of replicas, in Triton: what `sepool_experiments.kernels.norm` launches.

The rows of a replica are cut into chunks. A first pass leaves what every chunk amounts to; that is
joined, always in the same order, before a second one goes over the rows again. Sums are kept for
every row of a tile, and added up at the end: threads need not wait for each other meanwhile. Rows
that count nothing are not read. Where a ReLU follows, backward finds anew what it let through; and
where its rows are summed to clusters, they are never written down.
"""

from __future__ import annotations

import triton
import triton.language as tl

from sepool_experiments.kernels.rows import relu
from sepool_experiments.layers.gpu import COUNTS


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
def moments(x, times, counts, means, squares, rows, width, CHUNKS: tl.constexpr,
            AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """How often the rows of a chunk count, their mean, and their squared distances from it.

    In one pass (Welford, 1962), for every row of a tile on its own; then these are joined.
    """
    _, start, end, column, place = _place(rows, width, CHUNKS, WIDTH)
    counted = tl.zeros((ROWS,), tl.float32)
    middle = tl.zeros((ROWS, WIDTH), tl.float32)
    square = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            often, inside, here = _tile(times, begin + more * ROWS, end, column, width, ROWS)
            values = tl.load(x + here, mask=inside, other=0.0)
            counted += often
            apart = tl.where(inside, values - middle, 0.0)
            middle += apart * (often / tl.maximum(counted, 1.0))[:, None]
            square += apart * (values - middle) * often[:, None]
    count = tl.sum(counted, 0)
    mean = tl.sum(middle * counted[:, None], 0) / tl.maximum(count, 1.0)
    apart = middle - mean[None, :]
    square += apart * apart * counted[:, None]
    tl.store(counts + place, tl.zeros((WIDTH,), tl.float32) + count, mask=column < width)
    tl.store(means + place, mean, mask=column < width)
    tl.store(squares + place, tl.sum(square, 0), mask=column < width)


@triton.jit
def join(counts, means, squares, seen_mean, seen_var, known, width, seen_stride,
         EPSILON: tl.constexpr, MOMENTUM: tl.constexpr, CHUNKS: tl.constexpr,
         WIDTH: tl.constexpr):  # fmt: skip
    """Joins the chunks of a replica, and notes what training has seen."""
    replica = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    wide = column < width
    count = _parts(counts, replica, column, width, CHUNKS)
    part = _parts(means, replica, column, width, CHUNKS)
    total = tl.maximum(tl.sum(count, 0), 1.0)
    mean = tl.sum(count * part, 0) / total
    apart = part - mean[None, :]
    square = tl.sum(_parts(squares, replica, column, width, CHUNKS) + count * apart * apart, 0)
    place = replica * seen_stride + column
    old = tl.load(seen_mean + place, mask=wide)
    tl.store(seen_mean + place, old + MOMENTUM * (mean - old), mask=wide)
    old = tl.load(seen_var + place, mask=wide)
    var = square / tl.maximum(total - 1, 1.0)
    tl.store(seen_var + place, old + MOMENTUM * (var - old), mask=wide)
    place = known + replica * 3 * width + column
    tl.store(place, mean, mask=wide)
    tl.store(place + width, tl.rsqrt(square / total + EPSILON), mask=wide)
    tl.store(place + 2 * width, total, mask=wide)


@triton.jit
def _law(known, weight, bias, replica, column, width, stride):
    """By what rows are normalised: ``(x - mean) slope + shift``; and the scale in the slope."""
    wide = column < width
    mean = tl.load(known + replica * 3 * width + column, mask=wide, other=0.0)
    scale = tl.load(known + replica * 3 * width + width + column, mask=wide, other=0.0)
    slope = tl.load(weight + replica * stride + column, mask=wide, other=0.0) * scale
    shift = tl.load(bias + replica * stride + column, mask=wide, other=0.0)
    return mean, scale, slope, shift


@triton.jit(do_not_specialize=COUNTS)
def normalise(x, times, weight, bias, known, out, rows, width, stride, RELU: tl.constexpr,
              CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    replica, start, end, column, _ = _place(rows, width, CHUNKS, WIDTH)
    mean, _scale, slope, shift = _law(known, weight, bias, replica, column, width, stride)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            _often, inside, here = _tile(times, first, end, column, width, ROWS)
            values = tl.load(x + here, mask=inside, other=0.0)
            values = (values - mean[None, :]) * slope[None, :] + shift[None, :]
            if RELU:
                values = relu(values)
            written = (first + tl.arange(0, ROWS) < end)[:, None] & (column < width)[None, :]
            tl.store(out + here, tl.where(inside, values, 0.0), mask=written)


@triton.jit(do_not_specialize=COUNTS)
def pool(x, times, weight, bias, known, ptr, out, room, width, stride, AHEAD: tl.constexpr,
         ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The ReLU of the normalised rows, each as often as it counts, summed to clusters."""
    replica = tl.program_id(2).to(tl.int64)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    cluster = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    mean, _scale, slope, shift = _law(known, weight, bias, replica, column, width, stride)
    place = replica * room + cluster
    start = tl.load(ptr + place, mask=cluster < room, other=0)
    end = tl.load(ptr + place + 1, mask=cluster < room, other=0)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            row = start + step + more
            often = tl.load(times + row, mask=row < end, other=0.0)
            inside = (often > 0)[:, None] & (column < width)[None, :]
            values = tl.load(x + row[:, None] * width + column[None, :], mask=inside, other=0.0)
            values = relu((values - mean[None, :]) * slope[None, :] + shift[None, :])
            total += tl.where(inside, values * often[:, None], 0.0)
    inside = (cluster < room)[:, None] & (column < width)[None, :]
    tl.store(out + place[:, None] * width + column[None, :], total, mask=inside)


@triton.jit
def _back(x, grad, times, assignment, begin, end, mean, slope, shift, column, width,
          RELU: tl.constexpr, POOLED: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    """`_tile`, its rows, and their gradient before the ReLU and the sum that followed."""
    often, inside, here = _tile(times, begin, end, column, width, ROWS)
    values = tl.load(x + here, mask=inside, other=0.0)
    if POOLED:
        row = begin + tl.arange(0, ROWS)
        cluster = tl.load(assignment + row, mask=row < end, other=0)
        above = tl.load(grad + cluster[:, None] * width + column[None, :], mask=inside, other=0.0)
        above *= often[:, None]
    else:
        above = tl.load(grad + here, mask=inside, other=0.0)
    if RELU:
        opened = (values - mean[None, :]) * slope[None, :] + shift[None, :] > 0
        above = tl.where(opened, above, 0.0)
    return often, inside, here, values, above


@triton.jit(do_not_specialize=COUNTS)
def gradient_sums(x, grad, times, weight, bias, known, assignment, sums, products, rows, width,
                  stride, RELU: tl.constexpr, POOLED: tl.constexpr, CHUNKS: tl.constexpr,
                  AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The sums over a chunk of the gradient, and of the gradient times the normalised nodes."""
    replica, start, end, column, place = _place(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean, scale, slope, shift = _law(known, weight, bias, replica, column, width, stride)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    product = tl.zeros((ROWS, WIDTH), tl.float32)
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            _often, _inside, _here, values, above = _back(
                x, grad, times, assignment, begin + more * ROWS, end, mean, slope, shift, column,
                width, RELU, POOLED, ROWS)  # fmt: skip
            total += above
            product += above * (values - mean[None, :])
    tl.store(sums + place, tl.sum(total, 0), mask=wide)
    tl.store(products + place, tl.sum(product, 0) * scale, mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def gradient(x, grad, times, weight, bias, known, assignment, sums, products, to_x, to_weight,
             to_bias, rows, width, stride, RELU: tl.constexpr, POOLED: tl.constexpr,
             GATED: tl.constexpr, CHUNKS: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
             WIDTH: tl.constexpr):  # fmt: skip
    """``w (g - times (sum g + x' sum g x') / n) / sigma``, ``x'`` being the normalised nodes.

    GATED: ``x`` is a ReLU, whose gradient this is then: 0 where it is 0.
    """
    replica, start, end, column, _ = _place(rows, width, CHUNKS, WIDTH)
    wide = column < width
    mean, scale, slope, shift = _law(known, weight, bias, replica, column, width, stride)
    count = tl.load(known + replica * 3 * width + 2 * width + column, mask=wide, other=1.0)
    total = tl.sum(_parts(sums, replica, column, width, CHUNKS), 0)
    product = tl.sum(_parts(products, replica, column, width, CHUNKS), 0)
    if tl.program_id(1) == 0:
        tl.store(to_bias + replica * width + column, total, mask=wide)
        tl.store(to_weight + replica * width + column, product, mask=wide)
    total /= count
    product *= scale / count
    for begin in range(start, end, AHEAD * ROWS):
        for more in tl.static_range(AHEAD):
            first = begin + more * ROWS
            often, inside, here, values, above = _back(
                x, grad, times, assignment, first, end, mean, slope, shift, column, width, RELU,
                POOLED, ROWS)  # fmt: skip
            apart = values - mean[None, :]
            above -= often[:, None] * (total[None, :] + apart * product[None, :])
            kept = inside & (values > 0) if GATED else inside
            written = (first + tl.arange(0, ROWS) < end)[:, None] & wide[None, :]
            tl.store(to_x + here, tl.where(kept, above * slope[None, :], 0.0), mask=written)
