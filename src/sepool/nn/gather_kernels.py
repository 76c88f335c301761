"""Matrix products of gathered rows on a GPU, in Triton: the rows are never written down.

Products are taken in three passes of TensorFloat-32, which together are as exact as float32.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

TALL, WIDE, DEEP = 128, 64, 32  # rows, columns and summands of a tile
PARTS = 8  # of every replica, whose gradients are summed afterwards


@triton.jit
def _product(table, source, weight, bias, out, rows, depth, width,
             TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = row < rows
    wide = column < width
    taken = tl.load(source + replica * rows + row, mask=inside, other=0)
    total = tl.zeros((TALL, WIDE), tl.float32)
    total += tl.load(bias + replica * width + column, mask=wide, other=0.0)[None, :]
    for start in range(0, depth, DEEP):
        k = start + tl.arange(0, DEEP)
        deep = k < depth
        a = tl.load(
            table + taken[:, None] * depth + k[None, :],
            mask=inside[:, None] & deep[None, :],
            other=0.0,
        )
        b = tl.load(
            weight + (replica * depth + k)[:, None] * width + column[None, :],
            mask=deep[:, None] & wide[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="tf32x3")
    place = (replica * rows + row)[:, None] * width + column[None, :]
    tl.store(out + place, total, mask=inside[:, None] & wide[None, :])


@triton.jit
def _gradient(table, source, above, assignment, hidden, out, sums, rows, depth, width, span,
              TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """Part of a replica's gradient: rows ``part * span`` to ``(part + 1) * span``."""
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
    for start in range(part * span, min((part + 1) * span, rows), TALL):
        row = start + tl.arange(0, TALL)
        inside = row < min((part + 1) * span, rows)
        place = replica * rows + row
        taken = tl.load(source + place, mask=inside, other=0)
        parent = tl.load(assignment + place, mask=inside, other=0)
        both = inside[:, None] & wide[None, :]
        gate = tl.load(hidden + place[:, None] * width + column[None, :], mask=both, other=0.0)
        grad = tl.load(above + parent[:, None] * width + column[None, :], mask=both, other=0.0)
        grad = tl.where(gate > 0, grad, 0.0)
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


def gathered_product(table: Tensor, source: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """``table[source] W + b``, the rows in equal parts, one a replica."""
    replicas, depth, width = weight.shape
    rows = len(source) // replicas
    out = table.new_empty(len(source), width)
    grid = (triton.cdiv(rows, TALL), triton.cdiv(width, WIDE), replicas)
    weight, bias = weight.contiguous(), bias.contiguous()
    _product[grid](table, source, weight, bias, out, rows, depth, width, TALL, WIDE, DEEP)
    return out


def gathered_gradient(
    table: Tensor, source: Tensor, above: Tensor, assignment: Tensor, hidden: Tensor, replicas: int
) -> tuple[Tensor, Tensor]:
    """The gradients of weight and bias, where ``relu(hidden)`` was summed to its parents."""
    depth, width = table.size(1), hidden.size(1)
    rows = len(source) // replicas
    span = triton.cdiv(triton.cdiv(rows, PARTS), TALL) * TALL
    out = table.new_empty(replicas, PARTS, depth, width)
    sums = table.new_empty(replicas, PARTS, width)
    tiles = triton.cdiv(depth, DEEP) * triton.cdiv(width, WIDE)
    _gradient[(tiles, PARTS, replicas)](
        table, source, above.contiguous(), assignment, hidden, out, sums,
        rows, depth, width, span, TALL, WIDE, DEEP,
    )  # fmt: skip
    return out.sum(1), sums.sum(1)
