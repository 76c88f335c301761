"""Linear layers on a GPU, in Triton: what `sepool_experiments.kernels.layer` launches.

Rows can be gathered from a table (`sepool_experiments.layers.feature_table`), and are not written down then; no
product is wasted on the zeros behind their ``reach``. Behind the ``real`` rows of a replica lies
padding, on which no product is wasted either. Rows are ``stride`` numbers apart, and the first
``depth`` of these count.

OWN: ``x`` has a row for every node, and is no table. EXACT: TensorFloat-32 can hold all numbers of
``x``, so that nothing of it is left to be multiplied. COPIES: a row of the table stands for several
nodes; as ReLU follows, its product can be multiplied. Inside a replica rows are counted in 32 bits,
which take half of the registers.
"""

from __future__ import annotations

import triton
import triton.language as tl

from sepool_experiments.kernels.rows import relu
from sepool_experiments.layers.gpu import COUNTS


@triton.jit
def _high(x):
    """What TensorFloat-32 can hold of a number: all but the last 13 bits."""
    return (x.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def _dot(a, b, total, EXACT: tl.constexpr):
    """``a b + total``, as exact as float32: of both factors the high part and what is left of it.

    Of ``a`` nothing is left where it is EXACT.

    Triton's tf32x3 does the same, and looks for infinite numbers besides, which takes longer. Here
    these become NaN, which nothing that follows hides.
    """
    high, other = a if EXACT else _high(a), _high(b)
    if not EXACT:
        total = tl.dot(a - high, other, total, input_precision="tf32")
    total = tl.dot(high, b - other, total, input_precision="tf32")
    return tl.dot(high, other, total, input_precision="tf32")


@triton.jit
def _sum_members(member, values, total):
    """``member values + total``, where members are 1 and others 0, which both are exact."""
    high = _high(values)
    total = tl.dot(member, values - high, total, input_precision="tf32")
    return tl.dot(member, high, total, input_precision="tf32")


@triton.jit
def _tile(real, rows, TALL: tl.constexpr, WIDE: tl.constexpr):
    """A replica, where it begins and how many nodes it has; rows of it, and columns."""
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    return replica, replica * rows, tl.load(real + replica).to(tl.int32), row, column


@triton.jit
def _multiply(total, x, line, reach, weight, column, there, stride, depth, WIDTH: tl.constexpr,
              OWN: tl.constexpr, EXACT: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """Adds ``x W`` of some rows, as far as these reach."""
    end = depth
    if not OWN:
        end = tl.max(tl.load(reach + line, mask=there, other=0))
    for start in range(0, end, DEEP):
        k = start + tl.arange(0, DEEP)
        a = tl.load(
            x + line[:, None] * stride + k[None, :],
            mask=there[:, None] & (k < stride)[None, :],
            other=0.0,
        )
        b = tl.load(
            weight + k[:, None] * WIDTH + column[None, :],
            mask=(k < depth)[:, None] & (column < WIDTH)[None, :],
            other=0.0,
        )
        total = _dot(a, b, total, EXACT)
    return total


@triton.jit(do_not_specialize=COUNTS)
def product(x, source, reach, real, weight, bias, out, rows, stride, depth, WIDTH: tl.constexpr,
            OWN: tl.constexpr, EXACT: tl.constexpr, RELU: tl.constexpr, TALL: tl.constexpr,
            WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """``x W + b``, and its ReLU or not; 0 for padding."""
    replica, first, count, row, column = _tile(real, rows, TALL, WIDE)
    there = row < count
    wide = column < WIDTH
    total = tl.zeros((TALL, WIDE), tl.float32)
    if tl.program_id(0) * TALL < count:
        line = row if OWN else tl.load(source + first + row, mask=there, other=0)
        total += tl.load(bias + replica * WIDTH + column, mask=wide, other=0.0)[None, :]
        total = _multiply(total, x + first * stride if OWN else x, line, reach,
                          weight + replica * depth * WIDTH, column, there, stride, depth, WIDTH,
                          OWN, EXACT, DEEP)  # fmt: skip
    total = tl.where(there[:, None], relu(total) if RELU else total, 0.0)
    inside = (row < rows)[:, None] & wide[None, :]
    tl.store(out + first * WIDTH + row[:, None] * WIDTH + column[None, :], total, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def pooled_product(x, source, reach, copies, real, weight, bias, ptr, assignment, gate, out, room,
                   stride, depth, WIDTH: tl.constexpr, OWN: tl.constexpr, EXACT: tl.constexpr,
                   COPIES: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
                   DEEP: tl.constexpr, CLUSTERS: tl.constexpr):  # fmt: skip
    """The ReLU of ``x W + b``, times ``copies`` or not, summed to clusters; 0 for padding.

    A program has some clusters, whose rows are neighbours. Of these it writes down only where the
    ReLU let something through; a product with ones and zeros sums them. ``real``: of the clusters.
    """
    replica = tl.program_id(2).to(tl.int64)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    wide = column < WIDTH
    lowest = tl.program_id(0) * CLUSTERS
    cluster = lowest + tl.arange(0, CLUSTERS)
    highest = tl.minimum(lowest + CLUSTERS, tl.load(real + replica).to(tl.int32))
    begin = tl.load(ptr + replica * room + lowest)
    count = tl.load(ptr + replica * room + tl.maximum(lowest, highest)) - begin
    sums = tl.zeros((CLUSTERS, WIDE), tl.float32)
    for start in range(0, count.to(tl.int32), TALL):
        row = start + tl.arange(0, TALL)
        there = row < count
        line = row if OWN else tl.load(source + begin + row, mask=there, other=0)
        total = tl.zeros((TALL, WIDE), tl.float32)
        total += tl.load(bias + replica * WIDTH + column, mask=wide, other=0.0)[None, :]
        total = _multiply(total, x + begin * stride if OWN else x, line, reach,
                          weight + replica * depth * WIDTH, column, there, stride, depth, WIDTH,
                          OWN, EXACT, DEEP)  # fmt: skip
        if COPIES:
            taken = tl.load(source + begin + row, mask=there, other=0)
            total *= tl.load(copies + taken, mask=there, other=0.0)[:, None]
        total = tl.where(there[:, None], relu(total), 0.0)
        inside = there[:, None] & wide[None, :]
        here = gate + begin * WIDTH + row[:, None] * WIDTH + column[None, :]
        tl.store(here, (total > 0).to(tl.int8), mask=inside)
        mine = tl.load(assignment + begin + row, mask=there, other=0) - replica * room
        member = (mine.to(tl.int32)[None, :] == cluster[:, None]).to(tl.float32)
        sums = _sum_members(member, total, sums)
    inside = (cluster < room)[:, None] & wide[None, :]
    here = out + replica * room * WIDTH + cluster[:, None] * WIDTH + column[None, :]
    tl.store(here, sums, mask=inside)


@triton.jit
def _pull(above, assignment, hidden, copies, source, first, row, column, there, WIDTH: tl.constexpr,
          GATED: tl.constexpr, SUMMED: tl.constexpr, COPIES: tl.constexpr):  # fmt: skip
    """Part of the gradient of a product, of rows of the replica that begins with row ``first``.

    GATED: it is 0 where the ReLU was that followed, or where its gate is 0. SUMMED: it comes from
    the clusters.
    """
    both = there[:, None] & (column < WIDTH)[None, :]
    here = row[:, None] * WIDTH + column[None, :]
    if SUMMED:
        cluster = tl.load(assignment + first + row, mask=there, other=0)
        grad = tl.load(above + cluster[:, None] * WIDTH + column[None, :], mask=both, other=0.0)
    else:
        grad = tl.load(above + first * WIDTH + here, mask=both, other=0.0)
    if GATED:
        opened = tl.load(hidden + first * WIDTH + here, mask=both, other=0) > 0
        grad = tl.where(opened, grad, 0.0)
    if COPIES:
        taken = tl.load(source + first + row, mask=there, other=0)
        grad *= tl.load(copies + taken, mask=there, other=0.0)[:, None]
    return grad


@triton.jit
def _add_rows(total, added, start, end, x, source, copies, above, assignment, hidden, first, k,
              column, stride, WIDTH: tl.constexpr, OWN: tl.constexpr, EXACT: tl.constexpr,
              GATED: tl.constexpr, SUMMED: tl.constexpr, COPIES: tl.constexpr,
              TALL: tl.constexpr):  # fmt: skip
    """What some rows add to the gradients of weights and biases."""
    for lowest in range(start, end, TALL):
        row = lowest + tl.arange(0, TALL)
        there = row < end
        line = row if OWN else tl.load(source + first + row, mask=there, other=0)
        grad = _pull(above, assignment, hidden, copies, source, first, row, column, there, WIDTH,
                     GATED, SUMMED, COPIES)  # fmt: skip
        here = (x + first * stride if OWN else x) + line[None, :] * stride + k[:, None]
        a = tl.load(here, mask=there[None, :] & (k < stride)[:, None], other=0.0)
        total = _dot(a, grad, total, EXACT)
        added += grad
    return total, added


@triton.jit(do_not_specialize=COUNTS)
def gradient(x, source, reach, copies, real, above, assignment, hidden, out, sums, rows, stride,
             depth, WIDTH: tl.constexpr, OWN: tl.constexpr, EXACT: tl.constexpr,
             GATED: tl.constexpr, SUMMED: tl.constexpr, COPIES: tl.constexpr, TALL: tl.constexpr,
             WIDE: tl.constexpr, DEEP: tl.constexpr, AHEAD: tl.constexpr):  # fmt: skip
    """Part of a replica's gradient, of equally many rows as every other part but the last."""
    replica = tl.program_id(2).to(tl.int64)
    first = replica * rows
    part = tl.program_id(1)
    parts = tl.num_programs(1)
    blocks = tl.cdiv(WIDTH, WIDE)
    least = tl.program_id(0) // blocks * DEEP
    k = least + tl.arange(0, DEEP)
    column = tl.program_id(0) % blocks * WIDE + tl.arange(0, WIDE)
    total = tl.zeros((DEEP, WIDE), tl.float32)
    added = tl.zeros((TALL, WIDE), tl.float32)
    count = tl.load(real + replica).to(tl.int32)
    span = tl.cdiv(tl.cdiv(count, parts), AHEAD) * AHEAD
    begin, end = part * span, min((part + 1) * span, count)
    if OWN:
        total, added = _add_rows(total, added, begin, end, x, source, copies, above, assignment,
                                 hidden, first, k, column, stride, WIDTH, OWN, EXACT, GATED,
                                 SUMMED, COPIES, TALL)  # fmt: skip
    else:
        for lowest in range(begin, end, AHEAD):
            row = lowest + tl.arange(0, AHEAD)
            line = tl.load(source + first + row, mask=row < end, other=0)
            most = tl.max(tl.load(reach + line, mask=row < end, other=0))
            if (most > least) | (least == 0):  # the first columns are summed for the biases, too
                total, added = _add_rows(total, added, lowest, min(lowest + AHEAD, end), x, source,
                                         copies, above, assignment, hidden, first, k, column,
                                         stride, WIDTH, OWN, EXACT, GATED, SUMMED, COPIES,
                                         TALL)  # fmt: skip
    wide = column < WIDTH
    here = out + (replica * parts + part) * depth * WIDTH + k[:, None] * WIDTH + column[None, :]
    tl.store(here, total, mask=(k < depth)[:, None] & wide[None, :])
    if least == 0:
        tl.store(sums + (replica * parts + part) * WIDTH + column, tl.sum(added, 0), mask=wide)


@triton.jit(do_not_specialize=COUNTS)
def back(x, source, copies, real, above, assignment, hidden, weight, out, rows,
         DEPTH: tl.constexpr, WIDTH: tl.constexpr, RELU: tl.constexpr, GATED: tl.constexpr,
         SUMMED: tl.constexpr, COPIES: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
         DEEP: tl.constexpr):  # fmt: skip
    """The gradient of what a product took; where that was a ReLU, 0 where ``x`` is."""
    replica, first, count, row, column = _tile(real, rows, TALL, WIDE)
    there = row < count
    wide = column < DEPTH
    total = tl.zeros((TALL, WIDE), tl.float32)
    for start in range(0, tl.where(tl.program_id(0) * TALL < count, WIDTH, 0), DEEP):
        k = start + tl.arange(0, DEEP)
        grad = _pull(above, assignment, hidden, copies, source, first, row, k, there, WIDTH,
                     GATED, SUMMED, COPIES)  # fmt: skip
        b = tl.load(
            weight + replica * DEPTH * WIDTH + column[None, :] * WIDTH + k[:, None],
            mask=(k < WIDTH)[:, None] & wide[None, :],
            other=0.0,
        )
        total = _dot(grad, b, total, False)
    inside = (row < rows)[:, None] & wide[None, :]
    here = row[:, None] * DEPTH + column[None, :]
    if RELU:
        opened = tl.load(x + first * DEPTH + here, mask=inside, other=0.0) > 0
        total = tl.where(opened, total, 0.0)
    tl.store(out + first * DEPTH + here, total, mask=inside)
