"""Matrix products of gathered rows on a GPU, in Triton: the rows are never written down.

Products are taken in three passes of TensorFloat-32, which together are as exact as float32. A row
of the table can stand for several nodes (``copies``): as ReLU follows, its product is multiplied.
Behind the ``real`` rows of a replica lies padding, on which no product is wasted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor

# Rows, columns and summands of a tile, and the warps that share it: the fastest of 20 on an H200.
PRODUCT = {"TALL": 128, "WIDE": 64, "DEEP": 16, "num_warps": 4}
GRADIENT = {"TALL": 32, "WIDE": 64, "DEEP": 128, "num_warps": 4}
PARTS = 8  # of every replica, whose gradients are summed afterwards


@triton.jit
def _product(x, source, copies, real, weight, bias, out, rows, depth, width, OWN: tl.constexpr,
             LAST: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
             DEEP: tl.constexpr):  # fmt: skip
    """``x W + b``, times ``copies`` if it is the last product, else its ReLU; 0 for padding.

    OWN: ``x`` has a row for every node, and is no table from which rows are gathered.
    """
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    wide = column < width
    count = tl.load(real + replica)
    there = row < count
    place = replica * rows + row
    taken = tl.load(source + place, mask=there, other=0)
    line = place if OWN else taken
    total = tl.zeros((TALL, WIDE), tl.float32)
    total += tl.load(bias + replica * width + column, mask=wide, other=0.0)[None, :]
    for start in range(0, tl.where(tl.program_id(0) * TALL < count, depth, 0), DEEP):
        k = start + tl.arange(0, DEEP)
        deep = k < depth
        a = tl.load(
            x + line[:, None] * depth + k[None, :],
            mask=there[:, None] & deep[None, :],
            other=0.0,
        )
        b = tl.load(
            weight + (replica * depth + k)[:, None] * width + column[None, :],
            mask=deep[:, None] & wide[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="tf32x3")
    if LAST:
        total *= tl.load(copies + taken, mask=there, other=0.0)[:, None]
    else:
        total = tl.where(there[:, None], tl.maximum(total, 0.0), 0.0)
    inside = (row < rows)[:, None] & wide[None, :]
    tl.store(out + place[:, None] * width + column[None, :], total, mask=inside)


@triton.jit
def _pull(above, assignment, hidden, copies, source, place, column, there, wide, width,
          LAST: tl.constexpr):  # fmt: skip
    """Part of the gradient of a product; that of the last one comes from the parents."""
    both = there[:, None] & wide[None, :]
    here = place[:, None] * width + column[None, :]
    if LAST:
        parent = tl.load(assignment + place, mask=there, other=0)
        taken = tl.load(source + place, mask=there, other=0)
        times = tl.load(copies + taken, mask=there, other=0.0)
        gate = tl.load(hidden + here, mask=both, other=0.0)
        grad = tl.load(above + parent[:, None] * width + column[None, :], mask=both, other=0.0)
        grad = tl.where(gate > 0, grad * times[:, None], 0.0)
    else:
        grad = tl.load(above + here, mask=both, other=0.0)
    return grad


@triton.jit
def _gradient(x, source, copies, real, above, assignment, hidden, out, sums, rows, depth, width,
              OWN: tl.constexpr, LAST: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
              DEEP: tl.constexpr):  # fmt: skip
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
        there = row < count
        place = replica * rows + row
        line = place if OWN else tl.load(source + place, mask=there, other=0)
        grad = _pull(above, assignment, hidden, copies, source, place, column, there, wide, width,
                     LAST)  # fmt: skip
        a = tl.load(
            x + line[None, :] * depth + k[:, None],
            mask=there[None, :] & deep[:, None],
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


@triton.jit
def _back(x, source, copies, real, above, assignment, hidden, weight, out, rows, depth, width,
          LAST: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr,
          DEEP: tl.constexpr):  # fmt: skip
    """The gradient of what a product took, which was a ReLU: 0 where ``x`` is; none for padding."""
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    wide = column < depth
    count = tl.load(real + replica)
    there = row < count
    place = replica * rows + row
    total = tl.zeros((TALL, WIDE), tl.float32)
    for start in range(0, tl.where(tl.program_id(0) * TALL < count, width, 0), DEEP):
        k = start + tl.arange(0, DEEP)
        deep = k < width
        grad = _pull(above, assignment, hidden, copies, source, place, k, there, deep, width,
                     LAST)  # fmt: skip
        b = tl.load(
            weight + (replica * depth + column)[None, :] * width + k[:, None],
            mask=deep[:, None] & wide[None, :],
            other=0.0,
        )
        total = tl.dot(grad, b, total, input_precision="tf32x3")
    inside = there[:, None] & wide[None, :]
    here = place[:, None] * depth + column[None, :]
    gate = tl.load(x + here, mask=inside, other=0.0)
    tl.store(out + here, tl.where(gate > 0, total, 0.0), mask=inside)


class Rows(NamedTuple):
    """The nodes of replicas, equally many each, and what they are gathered from.

    Attributes:
        table: rows of features.
        source: the row of every node.
        copies: how many nodes each row of the table stands for.
        real: how many nodes of every replica are no padding.
        assignment: the parent of every node.
    """

    table: Tensor
    source: Tensor
    copies: Tensor
    real: Tensor
    assignment: Tensor

    @property
    def nodes(self) -> int:
        """How many nodes a replica has."""
        return len(self.source) // len(self.real)


def products(given: Rows, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> list[Tensor]:
    """``table[source] W + b`` and its ReLU, again and again; the last as `_product` has it.

    Weights and biases, one a replica, are contiguous.
    """
    found: list[Tensor] = []
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        replicas, depth, width = weight.shape
        out = given.table.new_empty(len(given.source), width)
        x = found[-1] if found else given.table
        grid = (*_tiles(given.nodes, width, PRODUCT), replicas)
        _product[grid](
            x, given.source, given.copies, given.real, weight, bias, out,
            given.nodes, depth, width, i > 0, i + 1 == len(weights), **PRODUCT,
        )  # fmt: skip
        found.append(out)
    return found


def gradients(
    given: Rows, weights: Sequence[Tensor], found: Sequence[Tensor], above: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """The gradients of weights and biases, where ReLU of the last product was summed to parents."""
    to_weights: list[Tensor] = []
    to_biases: list[Tensor] = []
    rest, above = (given.source, given.copies, given.real), above.contiguous()
    for i in reversed(range(len(weights))):
        replicas, depth, width = weights[i].shape
        x, last = found[i - 1] if i else given.table, i + 1 == len(weights)
        grad = above, given.assignment, found[i]
        out, sums = x.new_empty(replicas, PARTS, depth, width), x.new_empty(replicas, PARTS, width)
        tiles = triton.cdiv(depth, GRADIENT["DEEP"]) * triton.cdiv(width, GRADIENT["WIDE"])
        _gradient[(tiles, PARTS, replicas)](
            x, *rest, *grad, out, sums, given.nodes, depth, width, i > 0, last, **GRADIENT
        )
        to_weights.insert(0, out.sum(1))
        to_biases.insert(0, sums.sum(1))
        if i > 0:
            above = x.new_empty(len(x), depth)
            grid = (*_tiles(given.nodes, depth, PRODUCT), replicas)
            _back[grid](
                x, *rest, *grad, weights[i], above, given.nodes, depth, width, last, **PRODUCT
            )
    return to_weights, to_biases


def _tiles(rows: int, width: int, tile: dict[str, int]) -> tuple[int, int]:
    return triton.cdiv(rows, tile["TALL"]), triton.cdiv(width, tile["WIDE"])
