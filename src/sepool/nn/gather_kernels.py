"""Matrix products of gathered rows on a GPU, in Triton: the rows are never written down.

Products are taken in three passes of TensorFloat-32, which together are as exact as float32. A row
of the table can stand for several nodes (``copies``): as ReLU follows, its product is multiplied.
Behind the ``real`` rows of a replica lies padding, on which no product is wasted.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

# Rows, columns and summands of a tile, and the warps that share it: the fastest of 20 on an H200.
PRODUCT = {"TALL": 128, "WIDE": 64, "DEEP": 16, "num_warps": 4}
GRADIENT = {"TALL": 32, "WIDE": 64, "DEEP": 128, "num_warps": 4}
PARTS = 8  # of every replica, whose gradients are summed afterwards


@triton.jit
def _product(table, source, copies, real, weight, bias, out, rows, depth, width,
             TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = row < rows
    wide = column < width
    count = tl.load(real + replica)
    there = row < count
    taken = tl.load(source + replica * rows + row, mask=there, other=0)
    times = tl.load(copies + taken, mask=there, other=0.0)
    total = tl.zeros((TALL, WIDE), tl.float32)
    total += tl.load(bias + replica * width + column, mask=wide, other=0.0)[None, :]
    for start in range(0, tl.where(tl.program_id(0) * TALL < count, depth, 0), DEEP):
        k = start + tl.arange(0, DEEP)
        deep = k < depth
        a = tl.load(
            table + taken[:, None] * depth + k[None, :],
            mask=there[:, None] & deep[None, :],
            other=0.0,
        )
        b = tl.load(
            weight + (replica * depth + k)[:, None] * width + column[None, :],
            mask=deep[:, None] & wide[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="tf32x3")
    place = (replica * rows + row)[:, None] * width + column[None, :]
    tl.store(out + place, total * times[:, None], mask=inside[:, None] & wide[None, :])


@triton.jit
def _gradient(table, source, copies, real, above, assignment, hidden, out, sums, rows, depth, width,
              TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """Part of a replica's gradient, of equally many rows as every other part but the last."""
    replica = tl.program_id(2).to(tl.int64)
    part = tl.program_id(1)
    parts = tl.num_programs(1)
    blocks = tl.cdiv(width, WIDE)
    k = tl.program_id(0) // blocks * DEEP + tl.arange(0, DEEP)
    column = tl.program_id(0) % blocks * WIDE + tl.arange(0, WIDE)
    deep = k < depth
    wide = column < width
    total = tl.zeros((DEEP, WIDE), tl.float32)
    added = tl.zeros((WIDE,), tl.float32)
    count = tl.load(real + replica).to(tl.int32)
    span = tl.cdiv(tl.cdiv(count, parts), TALL) * TALL
    for start in range(part * span, min((part + 1) * span, count), TALL):
        row = start + tl.arange(0, TALL)
        inside = row < count
        place = replica * rows + row
        taken = tl.load(source + place, mask=inside, other=0)
        parent = tl.load(assignment + place, mask=inside, other=0)
        both = inside[:, None] & wide[None, :]
        gate = tl.load(hidden + place[:, None] * width + column[None, :], mask=both, other=0.0)
        grad = tl.load(above + parent[:, None] * width + column[None, :], mask=both, other=0.0)
        times = tl.load(copies + taken, mask=inside, other=0.0)
        grad = tl.where(gate > 0, grad * times[:, None], 0.0)
        a = tl.load(
            table + taken[None, :] * depth + k[:, None],
            mask=inside[None, :] & deep[:, None],
            other=0.0,
        )
        total = tl.dot(a, grad, total, input_precision="tf32x3")
        added += tl.sum(grad, 0)
    start = (replica * parts + part) * depth
    tl.store(
        out + (start + k)[:, None] * width + column[None, :],
        total,
        mask=deep[:, None] & wide[None, :],
    )
    if tl.program_id(0) < blocks:
        tl.store(sums + (replica * parts + part) * width + column, added, mask=wide)


def gathered_product(
    table: Tensor, source: Tensor, copies: Tensor, real: Tensor, weight: Tensor, bias: Tensor
) -> Tensor:
    """``table[source] W + b``, times ``copies``; the rows in equal parts, one a replica."""
    replicas, depth, width = weight.shape
    rows = len(source) // replicas
    out = table.new_empty(len(source), width)
    grid = (triton.cdiv(rows, PRODUCT["TALL"]), triton.cdiv(width, PRODUCT["WIDE"]), replicas)
    weight, bias = weight.contiguous(), bias.contiguous()
    numbers = rows, depth, width
    _product[grid](table, source, copies, real, weight, bias, out, *numbers, **PRODUCT)
    return out


def gathered_gradient(
    table: Tensor,
    source: Tensor,
    copies: Tensor,
    real: Tensor,
    above: Tensor,
    assignment: Tensor,
    hidden: Tensor,
) -> tuple[Tensor, Tensor]:
    """The gradients of weight and bias, where ``relu(hidden)`` was summed to its parents."""
    replicas, depth, width = len(real), table.size(1), hidden.size(1)
    rows = len(source) // replicas
    out = table.new_empty(replicas, PARTS, depth, width)
    sums = table.new_empty(replicas, PARTS, width)
    tiles = triton.cdiv(depth, GRADIENT["DEEP"]) * triton.cdiv(width, GRADIENT["WIDE"])
    _gradient[(tiles, PARTS, replicas)](
        table, source, copies, real, above.contiguous(), assignment, hidden, out, sums,
        rows, depth, width, **GRADIENT,
    )  # fmt: skip
    return out.sum(1), sums.sum(1)
