"""Triton kernels of linear layers of replicas, launched by `sepool_experiments.kernels.layer`.

Rows may be gathered from a `FeatureTable` without writing them; columns beyond their extent are
skipped, and so is the padding behind the ``num_valid`` rows of a replica. Rows are ``stride``
elements apart and have ``depth`` columns.

DENSE: ``x`` has a row for every node and is no table. MULTIPLICITY: a row of the table stands for
several nodes; ReLU follows, so that its product can be multiplied. Offsets within a replica have 32
bits, which halves the registers.
"""

from __future__ import annotations

import triton
import triton.language as tl

from sepool_experiments.kernels.registry import COUNTS


@triton.jit
def _relu(x):
    """ReLU that propagates NaNs, so that diverged trainings are visible."""
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _high(x):
    """The part of a float32 that TensorFloat-32 represents: all but the last 13 bits."""
    return (x.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def _dot(a, b, total):
    """``a b + total`` with the precision of float32, from the high and low parts of both factors.

    Faster than Triton's tf32x3, which also checks for infinities; here these become NaN.
    """
    high, other = _high(a), _high(b)
    total = tl.dot(a - high, other, total, input_precision="tf32")
    total = tl.dot(high, b - other, total, input_precision="tf32")
    return tl.dot(high, other, total, input_precision="tf32")


@triton.jit
def _sum_members(member, values, total):
    """``member values + total`` for a ``member`` of exact zeros and ones."""
    high = _high(values)
    total = tl.dot(member, values - high, total, input_precision="tf32")
    return tl.dot(member, high, total, input_precision="tf32")


@triton.jit
def _tile(num_valid, rows, TALL: tl.constexpr, WIDE: tl.constexpr):
    """Replica, its first row and number of nodes; rows and columns of the tile."""
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    return replica, replica * rows, tl.load(num_valid + replica).to(tl.int32), row, column


@triton.jit
def _multiply(total, x, line, extent, weight, column, mask, stride, depth, WIDTH: tl.constexpr,
              DENSE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """Add ``x W`` of some rows, up to their extent."""
    end = depth
    if not DENSE:
        end = tl.max(tl.load(extent + line, mask=mask, other=0))
    for start in range(0, end, DEEP):
        k = start + tl.arange(0, DEEP)
        a = tl.load(
            x + line[:, None] * stride + k[None, :],
            mask=mask[:, None] & (k < stride)[None, :],
            other=0.0,
        )
        b = tl.load(
            weight + k[:, None] * WIDTH + column[None, :],
            mask=(k < depth)[:, None] & (column < WIDTH)[None, :],
            other=0.0,
        )
        total = _dot(a, b, total)
    return total


@triton.jit(do_not_specialize=COUNTS)
def product(x, row_index, extent, num_valid, weight, bias, out, rows, stride, depth,
            WIDTH: tl.constexpr, DENSE: tl.constexpr, RELU: tl.constexpr, TALL: tl.constexpr,
            WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """``x W + b``, with ReLU if RELU; 0 for padding."""
    replica, first, count, row, column = _tile(num_valid, rows, TALL, WIDE)
    mask = row < count
    wide = column < WIDTH
    total = tl.zeros((TALL, WIDE), tl.float32)
    if tl.program_id(0) * TALL < count:
        line = row if DENSE else tl.load(row_index + first + row, mask=mask, other=0)
        total += tl.load(bias + replica * WIDTH + column, mask=wide, other=0.0)[None, :]
        total = _multiply(total, x + first * stride if DENSE else x, line, extent,
                          weight + replica * depth * WIDTH, column, mask, stride, depth, WIDTH,
                          DENSE, DEEP)  # fmt: skip
    total = tl.where(mask[:, None], _relu(total) if RELU else total, 0.0)
    inside = (row < rows)[:, None] & wide[None, :]
    tl.store(out + first * WIDTH + row[:, None] * WIDTH + column[None, :], total, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def pooled_product(x, row_index, extent, multiplicity, num_valid, weight, bias, ptr, assignment,
                   positive, out, capacity, stride, depth, WIDTH: tl.constexpr, DENSE: tl.constexpr,
                   MULTIPLICITY: tl.constexpr, TALL: tl.constexpr,
                   WIDE: tl.constexpr, DEEP: tl.constexpr, CLUSTERS: tl.constexpr):  # fmt: skip
    """ReLU of ``x W + b``, times the multiplicity, summed over clusters; 0 for padding.

    A program has some clusters, whose rows are consecutive. A product with zeros and ones sums
    them, and only the sign of the ReLU is stored. ``num_valid`` counts clusters.
    """
    replica = tl.program_id(2).to(tl.int64)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    wide = column < WIDTH
    lowest = tl.program_id(0) * CLUSTERS
    cluster = lowest + tl.arange(0, CLUSTERS)
    highest = tl.minimum(lowest + CLUSTERS, tl.load(num_valid + replica).to(tl.int32))
    begin = tl.load(ptr + replica * capacity + lowest)
    count = tl.load(ptr + replica * capacity + tl.maximum(lowest, highest)) - begin
    sums = tl.zeros((CLUSTERS, WIDE), tl.float32)
    for start in range(0, count.to(tl.int32), TALL):
        row = start + tl.arange(0, TALL)
        mask = row < count
        line = row if DENSE else tl.load(row_index + begin + row, mask=mask, other=0)
        total = tl.zeros((TALL, WIDE), tl.float32)
        total += tl.load(bias + replica * WIDTH + column, mask=wide, other=0.0)[None, :]
        total = _multiply(total, x + begin * stride if DENSE else x, line, extent,
                          weight + replica * depth * WIDTH, column, mask, stride, depth, WIDTH,
                          DENSE, DEEP)  # fmt: skip
        if MULTIPLICITY:
            table_row = tl.load(row_index + begin + row, mask=mask, other=0)
            total *= tl.load(multiplicity + table_row, mask=mask, other=0.0)[:, None]
        total = tl.where(mask[:, None], _relu(total), 0.0)
        inside = mask[:, None] & wide[None, :]
        offset = positive + begin * WIDTH + row[:, None] * WIDTH + column[None, :]
        tl.store(offset, (total > 0).to(tl.int8), mask=inside)
        parent = tl.load(assignment + begin + row, mask=mask, other=0) - replica * capacity
        member = (parent.to(tl.int32)[None, :] == cluster[:, None]).to(tl.float32)
        sums = _sum_members(member, total, sums)
    inside = (cluster < capacity)[:, None] & wide[None, :]
    offset = out + replica * capacity * WIDTH + cluster[:, None] * WIDTH + column[None, :]
    tl.store(offset, sums, mask=inside)


@triton.jit
def _output_gradient(grad_out, assignment, hidden, multiplicity, row_index, first, row, column,
                     mask, WIDTH: tl.constexpr, MASKED: tl.constexpr, SUMMED: tl.constexpr,
                     MULTIPLICITY: tl.constexpr):  # fmt: skip
    """Gradient of a product, for rows of the replica that starts with row ``first``.

    MASKED: 0 where the following ReLU was 0. SUMMED: gathered from the clusters.
    """
    both = mask[:, None] & (column < WIDTH)[None, :]
    offset = row[:, None] * WIDTH + column[None, :]
    if SUMMED:
        cluster = tl.load(assignment + first + row, mask=mask, other=0)
        grad = tl.load(grad_out + cluster[:, None] * WIDTH + column[None, :], mask=both, other=0.0)
    else:
        grad = tl.load(grad_out + first * WIDTH + offset, mask=both, other=0.0)
    if MASKED:
        positive = tl.load(hidden + first * WIDTH + offset, mask=both, other=0) > 0
        grad = tl.where(positive, grad, 0.0)
    if MULTIPLICITY:
        table_row = tl.load(row_index + first + row, mask=mask, other=0)
        grad *= tl.load(multiplicity + table_row, mask=mask, other=0.0)[:, None]
    return grad


@triton.jit
def _add_rows(total, bias_sum, start, end, x, row_index, multiplicity, grad_out, assignment, hidden,
              first, k, column, stride, WIDTH: tl.constexpr, DENSE: tl.constexpr,
              MASKED: tl.constexpr, SUMMED: tl.constexpr, MULTIPLICITY: tl.constexpr,
              TALL: tl.constexpr):  # fmt: skip
    """Add the gradients of weights and biases of some rows."""
    for lowest in range(start, end, TALL):
        row = lowest + tl.arange(0, TALL)
        mask = row < end
        line = row if DENSE else tl.load(row_index + first + row, mask=mask, other=0)
        grad = _output_gradient(grad_out, assignment, hidden, multiplicity, row_index, first, row,
                                column, mask, WIDTH, MASKED, SUMMED, MULTIPLICITY)  # fmt: skip
        offset = (x + first * stride if DENSE else x) + line[None, :] * stride + k[:, None]
        a = tl.load(offset, mask=mask[None, :] & (k < stride)[:, None], other=0.0)
        total = _dot(a, grad, total)
        bias_sum += grad
    return total, bias_sum


@triton.jit(do_not_specialize=COUNTS)
def gradient(x, row_index, extent, multiplicity, num_valid, grad_out, assignment, hidden, out, sums,
             rows, stride, depth, WIDTH: tl.constexpr, DENSE: tl.constexpr,
             MASKED: tl.constexpr, SUMMED: tl.constexpr, MULTIPLICITY: tl.constexpr,
             TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
             AHEAD: tl.constexpr):  # fmt: skip
    """Gradient of a replica over one of the equal parts of its rows."""
    replica = tl.program_id(2).to(tl.int64)
    first = replica * rows
    part = tl.program_id(1)
    parts = tl.num_programs(1)
    blocks = tl.cdiv(WIDTH, WIDE)
    first_k = tl.program_id(0) // blocks * DEEP
    k = first_k + tl.arange(0, DEEP)
    column = tl.program_id(0) % blocks * WIDE + tl.arange(0, WIDE)
    total = tl.zeros((DEEP, WIDE), tl.float32)
    bias_sum = tl.zeros((TALL, WIDE), tl.float32)
    count = tl.load(num_valid + replica).to(tl.int32)
    span = tl.cdiv(tl.cdiv(count, parts), AHEAD) * AHEAD
    begin, end = part * span, min((part + 1) * span, count)
    if DENSE:
        total, bias_sum = _add_rows(total, bias_sum, begin, end, x, row_index, multiplicity,
                                    grad_out, assignment, hidden, first, k, column, stride, WIDTH,
                                    DENSE, MASKED, SUMMED, MULTIPLICITY, TALL)  # fmt: skip
    else:
        for lowest in range(begin, end, AHEAD):
            row = lowest + tl.arange(0, AHEAD)
            line = tl.load(row_index + first + row, mask=row < end, other=0)
            widest = tl.max(tl.load(extent + line, mask=row < end, other=0))
            if (widest > first_k) | (first_k == 0):  # the first columns also sum the biases
                total, bias_sum = _add_rows(total, bias_sum, lowest, min(lowest + AHEAD, end), x,
                                            row_index, multiplicity, grad_out, assignment, hidden,
                                            first, k, column, stride, WIDTH, DENSE, MASKED,
                                            SUMMED, MULTIPLICITY, TALL)  # fmt: skip
    wide = column < WIDTH
    offset = out + (replica * parts + part) * depth * WIDTH + k[:, None] * WIDTH + column[None, :]
    tl.store(offset, total, mask=(k < depth)[:, None] & wide[None, :])
    if first_k == 0:
        tl.store(sums + (replica * parts + part) * WIDTH + column, tl.sum(bias_sum, 0), mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def input_gradient(x, row_index, multiplicity, num_valid, grad_out, assignment, hidden, weight, out,
                   rows, DEPTH: tl.constexpr, WIDTH: tl.constexpr, RELU: tl.constexpr,
                   MASKED: tl.constexpr, SUMMED: tl.constexpr, MULTIPLICITY: tl.constexpr,
                   TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """Gradient of the input of a product, masked by ReLU if RELU."""
    replica, first, count, row, column = _tile(num_valid, rows, TALL, WIDE)
    mask = row < count
    wide = column < DEPTH
    total = tl.zeros((TALL, WIDE), tl.float32)
    for start in range(0, tl.where(tl.program_id(0) * TALL < count, WIDTH, 0), DEEP):
        k = start + tl.arange(0, DEEP)
        grad = _output_gradient(grad_out, assignment, hidden, multiplicity, row_index, first, row,
                                k, mask, WIDTH, MASKED, SUMMED, MULTIPLICITY)  # fmt: skip
        b = tl.load(
            weight + replica * DEPTH * WIDTH + column[None, :] * WIDTH + k[:, None],
            mask=(k < WIDTH)[:, None] & wide[None, :],
            other=0.0,
        )
        total = _dot(grad, b, total)
    inside = (row < rows)[:, None] & wide[None, :]
    offset = row[:, None] * DEPTH + column[None, :]
    if RELU:
        positive = tl.load(x + first * DEPTH + offset, mask=inside, other=0.0) > 0
        total = tl.where(positive, total, 0.0)
    tl.store(out + first * DEPTH + offset, total, mask=inside)
