"""Linear layers on a GPU, in Triton: the programs that `sepool.nn.layer_kernels` launches.

Products are taken in three passes of TensorFloat-32, which together are as exact as float32. Rows
can be gathered from a table (`sepool.nn.feature_table`), and are not written down then; no product
is wasted on the zeros behind their ``reach``. Behind the ``real`` rows of a replica lies padding,
on which no product is wasted either. Rows are ``stride`` numbers apart, and the first ``depth`` of
these count. OWN: ``x`` has a row for every node, and is no table. COPIES: a row of the table stands
for several nodes; as ReLU follows, its product can be multiplied.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _tile(real, rows, TALL: tl.constexpr, WIDE: tl.constexpr):
    """A replica and how many nodes it has; rows, in it and among all; columns."""
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    return replica, tl.load(real + replica), row, replica * rows + row, column


@triton.jit
def _multiply(total, x, line, reach, weight, column, there, stride, depth, width,
              OWN: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
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
            weight + k[:, None] * width + column[None, :],
            mask=(k < depth)[:, None] & (column < width)[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="tf32x3")
    return total


@triton.jit
def product(x, source, reach, real, weight, bias, out, rows, stride, depth, width,
            OWN: tl.constexpr, RELU: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
            DEEP: tl.constexpr):  # fmt: skip
    """``x W + b``, and its ReLU or not; 0 for padding."""
    replica, count, row, place, column = _tile(real, rows, TALL, WIDE)
    there = row < count
    wide = column < width
    total = tl.zeros((TALL, WIDE), tl.float32)
    if tl.program_id(0) * TALL < count:
        line = place if OWN else tl.load(source + place, mask=there, other=0)
        total += tl.load(bias + replica * width + column, mask=wide, other=0.0)[None, :]
        total = _multiply(total, x, line, reach, weight + replica * depth * width, column, there,
                          stride, depth, width, OWN, DEEP)  # fmt: skip
    total = tl.where(there[:, None], tl.maximum(total, 0.0) if RELU else total, 0.0)
    inside = (row < rows)[:, None] & wide[None, :]
    tl.store(out + place[:, None] * width + column[None, :], total, mask=inside)


@triton.jit
def pooled_product(x, source, reach, copies, real, weight, bias, ptr, assignment, gate, out, room,
                   stride, depth, width, OWN: tl.constexpr, COPIES: tl.constexpr,
                   TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
                   CLUSTERS: tl.constexpr):  # fmt: skip
    """The ReLU of ``x W + b``, times ``copies`` or not, summed to clusters; 0 for padding.

    A program has some clusters, whose rows are neighbours. Of these it writes down only where the
    ReLU let something through; a product with ones and zeros sums them. ``real``: of the clusters.
    """
    replica = tl.program_id(2).to(tl.int64)
    first = tl.program_id(0) * CLUSTERS
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    wide = column < width
    cluster = first + tl.arange(0, CLUSTERS)
    sums = tl.zeros((CLUSTERS, WIDE), tl.float32)
    last = tl.minimum(first + CLUSTERS, tl.load(real + replica).to(tl.int32))
    begin = tl.load(ptr + replica * room + first)
    end = tl.load(ptr + replica * room + tl.maximum(first, last))
    for start in range(begin, end, TALL):
        row = start + tl.arange(0, TALL)
        there = row < end
        line = row if OWN else tl.load(source + row, mask=there, other=0)
        total = tl.zeros((TALL, WIDE), tl.float32)
        total += tl.load(bias + replica * width + column, mask=wide, other=0.0)[None, :]
        total = _multiply(total, x, line, reach, weight + replica * depth * width, column, there,
                          stride, depth, width, OWN, DEEP)  # fmt: skip
        if COPIES:
            taken = tl.load(source + row, mask=there, other=0)
            total *= tl.load(copies + taken, mask=there, other=0.0)[:, None]
        total = tl.where(there[:, None], tl.maximum(total, 0.0), 0.0)
        passed = (total > 0).to(tl.int8)
        inside = there[:, None] & wide[None, :]
        tl.store(gate + row[:, None] * width + column[None, :], passed, mask=inside)
        mine = tl.load(assignment + row, mask=there, other=0) - replica * room
        member = (mine[None, :] == cluster[:, None]).to(tl.float32)
        sums = tl.dot(member, total, sums, input_precision="tf32x3")
    inside = (cluster < room)[:, None] & wide[None, :]
    place = replica * room + cluster
    tl.store(out + place[:, None] * width + column[None, :], sums, mask=inside)


@triton.jit
def _pull(above, assignment, hidden, copies, source, place, column, there, wide, width,
          GATED: tl.constexpr, SUMMED: tl.constexpr, COPIES: tl.constexpr):  # fmt: skip
    """Part of the gradient of a product.

    GATED: it is 0 where the ReLU was that followed, or where its gate is 0. SUMMED: it comes from
    the clusters.
    """
    both = there[:, None] & wide[None, :]
    here = place[:, None] * width + column[None, :]
    line = tl.load(assignment + place, mask=there, other=0) if SUMMED else place
    grad = tl.load(above + line[:, None] * width + column[None, :], mask=both, other=0.0)
    if GATED:
        grad = tl.where(tl.load(hidden + here, mask=both, other=0) > 0, grad, 0.0)
    if COPIES:
        taken = tl.load(source + place, mask=there, other=0)
        grad *= tl.load(copies + taken, mask=there, other=0.0)[:, None]
    return grad


@triton.jit
def _add_rows(total, added, start, end, x, source, copies, above, assignment, hidden, replica, k,
              column, rows, stride, width, OWN: tl.constexpr, GATED: tl.constexpr,
              SUMMED: tl.constexpr, COPIES: tl.constexpr, TALL: tl.constexpr):  # fmt: skip
    """What some rows add to the gradients of weights and biases."""
    for first in range(start, end, TALL):
        row = first + tl.arange(0, TALL)
        there = row < end
        place = replica * rows + row
        line = place if OWN else tl.load(source + place, mask=there, other=0)
        grad = _pull(above, assignment, hidden, copies, source, place, column, there,
                     column < width, width, GATED, SUMMED, COPIES)  # fmt: skip
        a = tl.load(
            x + line[None, :] * stride + k[:, None],
            mask=there[None, :] & (k < stride)[:, None],
            other=0.0,
        )
        total = tl.dot(a, grad, total, input_precision="tf32x3")
        added += tl.sum(grad, 0)
    return total, added


@triton.jit
def gradient(x, source, reach, copies, real, above, assignment, hidden, out, sums, rows, stride,
             depth, width, OWN: tl.constexpr, GATED: tl.constexpr, SUMMED: tl.constexpr,
             COPIES: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
             AHEAD: tl.constexpr):  # fmt: skip
    """Part of a replica's gradient, of equally many rows as every other part but the last."""
    replica = tl.program_id(2).to(tl.int64)
    part = tl.program_id(1)
    parts = tl.num_programs(1)
    blocks = tl.cdiv(width, WIDE)
    least = tl.program_id(0) // blocks * DEEP
    k = least + tl.arange(0, DEEP)
    column = tl.program_id(0) % blocks * WIDE + tl.arange(0, WIDE)
    total = tl.zeros((DEEP, WIDE), tl.float32)
    added = tl.zeros((WIDE,), tl.float32)
    count = tl.load(real + replica).to(tl.int32)
    span = tl.cdiv(tl.cdiv(count, parts), AHEAD) * AHEAD
    begin, end = part * span, min((part + 1) * span, count)
    if OWN:
        total, added = _add_rows(total, added, begin, end, x, source, copies, above, assignment,
                                 hidden, replica, k, column, rows, stride, width,
                                 OWN, GATED, SUMMED, COPIES, TALL)  # fmt: skip
    else:
        for first in range(begin, end, AHEAD):
            row = first + tl.arange(0, AHEAD)
            there = row < end
            line = tl.load(source + replica * rows + row, mask=there, other=0)
            most = tl.max(tl.load(reach + line, mask=there, other=0))
            if (most > least) | (least == 0):  # the first columns are summed for the biases, too
                last = min(first + AHEAD, end)
                total, added = _add_rows(total, added, first, last, x, source, copies, above,
                                         assignment, hidden, replica, k, column, rows, stride,
                                         width, OWN, GATED, SUMMED, COPIES, TALL)  # fmt: skip
    start = (replica * parts + part) * depth
    wide = column < width
    tl.store(
        out + (start + k)[:, None] * width + column[None, :],
        total,
        mask=(k < depth)[:, None] & wide[None, :],
    )
    if least == 0:
        tl.store(sums + (replica * parts + part) * width + column, added, mask=wide)


@triton.jit
def back(x, source, reach, copies, real, above, assignment, hidden, weight, out, rows, depth,
         width, RELU: tl.constexpr, GATED: tl.constexpr, SUMMED: tl.constexpr,
         COPIES: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
         DEEP: tl.constexpr):  # fmt: skip
    """The gradient of what a product took; where that was a ReLU, 0 where ``x`` is."""
    replica, count, row, place, column = _tile(real, rows, TALL, WIDE)
    there = row < count
    wide = column < depth
    total = tl.zeros((TALL, WIDE), tl.float32)
    for start in range(0, tl.where(tl.program_id(0) * TALL < count, width, 0), DEEP):
        k = start + tl.arange(0, DEEP)
        deep = k < width
        grad = _pull(above, assignment, hidden, copies, source, place, k, there, deep, width,
                     GATED, SUMMED, COPIES)  # fmt: skip
        b = tl.load(
            weight + (replica * depth + column)[None, :] * width + k[:, None],
            mask=deep[:, None] & wide[None, :],
            other=0.0,
        )
        total = tl.dot(grad, b, total, input_precision="tf32x3")
    inside = (row < rows)[:, None] & wide[None, :]
    here = place[:, None] * depth + column[None, :]
    if RELU:
        total = tl.where(tl.load(x + here, mask=inside, other=0.0) > 0, total, 0.0)
    tl.store(out + here, total, mask=inside)
