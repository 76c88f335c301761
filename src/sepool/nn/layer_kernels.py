"""Linear layers, whose ReLU may be summed to clusters, on a GPU, in Triton.

Products are taken in three passes of TensorFloat-32, which together are as exact as float32. Rows
can be gathered from a table (`sepool.nn.feature_table`), and are not written down then; no product
is wasted on the zeros behind their ``reach``. A row of the table can stand for several nodes
(``copies``): as ReLU follows, its product is multiplied. Behind the ``real`` rows of a replica lies
padding, on which no product is wasted either. Rows are ``stride`` numbers apart, and the first
``depth`` of these count.
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
SPARSE = 32  # columns of a table, instead of DEEP: few rows reach the last tiles, which is seen
AHEAD = 128  # for so many rows at a time
PARTS, PART = 8, 512  # of every replica, at most, and its rows, at least: gradients are summed


@triton.jit
def _tile(real, rows, TALL: tl.constexpr, WIDE: tl.constexpr):
    """A replica and how many nodes it has; rows, in it and among all; columns."""
    replica = tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * TALL + tl.arange(0, TALL)
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    return replica, tl.load(real + replica), row, replica * rows + row, column


@triton.jit
def _product(x, source, reach, copies, real, weight, bias, out, rows, stride, depth, width,
             OWN: tl.constexpr, RELU: tl.constexpr, SUMMED: tl.constexpr, COPIES: tl.constexpr,
             TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
    """``x W + b``, times ``copies`` or not, and its ReLU or not; 0 for padding.

    OWN: ``x`` has a row for every node, and is no table from which rows are gathered. SUMMED: it is
    summed to parents, which leaves padding out, and nothing is written there. COPIES: some rows
    stand for several nodes.
    """
    replica, count, row, place, column = _tile(real, rows, TALL, WIDE)
    there = row < count
    wide = column < width
    line = place if OWN else tl.load(source + place, mask=there, other=0)
    total = tl.zeros((TALL, WIDE), tl.float32)
    total += tl.load(bias + replica * width + column, mask=wide, other=0.0)[None, :]
    if OWN:
        end = tl.where(tl.program_id(0) * TALL < count, depth, 0)
    else:
        end = tl.max(tl.load(reach + line, mask=there, other=0))
    for start in range(0, end, DEEP):
        k = start + tl.arange(0, DEEP)
        a = tl.load(
            x + line[:, None] * stride + k[None, :],
            mask=there[:, None] & (k < stride)[None, :],
            other=0.0,
        )
        b = tl.load(
            weight + (replica * depth + k)[:, None] * width + column[None, :],
            mask=(k < depth)[:, None] & wide[None, :],
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="tf32x3")
    if COPIES:
        taken = tl.load(source + place, mask=there, other=0)
        total *= tl.load(copies + taken, mask=there, other=0.0)[:, None]
    if RELU:
        total = tl.maximum(total, 0.0)
    total = tl.where(there[:, None], total, 0.0)
    inside = (there if SUMMED else row < rows)[:, None] & wide[None, :]
    tl.store(out + place[:, None] * width + column[None, :], total, mask=inside)


@triton.jit
def _pull(above, assignment, hidden, copies, source, place, column, there, wide, width,
          GATED: tl.constexpr, SUMMED: tl.constexpr, COPIES: tl.constexpr):  # fmt: skip
    """Part of the gradient of a product.

    GATED: it is 0 where the ReLU was that followed. SUMMED: it comes from the parents.
    """
    both = there[:, None] & wide[None, :]
    here = place[:, None] * width + column[None, :]
    line = tl.load(assignment + place, mask=there, other=0) if SUMMED else place
    grad = tl.load(above + line[:, None] * width + column[None, :], mask=both, other=0.0)
    if GATED:
        grad = tl.where(tl.load(hidden + here, mask=both, other=0.0) > 0, grad, 0.0)
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
def _gradient(x, source, reach, copies, real, above, assignment, hidden, out, sums, rows, stride,
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
def _back(x, source, reach, copies, real, above, assignment, hidden, weight, out, rows, depth,
          width, RELU: tl.constexpr, GATED: tl.constexpr, SUMMED: tl.constexpr,
          COPIES: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):  # fmt: skip
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


class Rows(NamedTuple):
    """The nodes of replicas, equally many each, and their features.

    Attributes:
        x: rows of features, or those of a table, which may be longer than the weights.
        source: the row of every node in the table; None where every node has its own.
        reach: how many numbers of every row of the table can be other than 0.
        copies: how many nodes each row of ``x`` stands for; None where it is one.
        real: how many nodes of every replica are no padding.
        assignment: the parent of every node; None where nothing is summed.
    """

    x: Tensor
    source: Tensor | None
    reach: Tensor | None
    copies: Tensor | None
    real: Tensor
    assignment: Tensor | None

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.x if self.source is None else self.source)

    @property
    def nodes(self) -> int:
        """How many nodes a replica has."""
        return self.size // len(self.real)

    def pointers(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What kernels are told of the rows; anything stands for what is not there."""
        source = self.real if self.source is None else self.source
        reach = self.real if self.reach is None else self.reach
        return source, reach, self.x if self.copies is None else self.copies, self.real


def products(
    given: Rows, weights: Sequence[Tensor], biases: Sequence[Tensor], relu: bool = True
) -> list[Tensor]:
    """``x W + b`` and its ReLU, again and again.

    The last product stays without where it is summed to parents, or if there shall be none; in the
    first case it says nothing of padding. Weights and biases, one a replica, are contiguous.
    """
    found: list[Tensor] = []
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        replicas, depth, width = weight.shape
        out = given.x.new_empty(given.size, width)
        x, own = (found[-1], True) if found else (given.x, given.source is None)
        last = i + 1 == len(weights)
        summed = last and given.assignment is not None
        flags = not last or (relu and not summed), summed, last and given.copies is not None
        numbers = given.nodes, x.size(1), depth, width
        tile, grid = _product_tile(given.nodes, width)
        _product[(*grid, replicas)](
            x, *given.pointers(), weight, bias, out, *numbers, own, *flags, **tile
        )
        found.append(out)
    return found


def gradients(
    given: Rows,
    weights: Sequence[Tensor],
    found: Sequence[Tensor],
    above: Tensor,
    relu: bool = True,
    to_x: bool = False,
) -> tuple[Tensor | None, list[Tensor], list[Tensor]]:
    """The gradients of the rows, if wanted, the weights and the biases.

    Given what `products` found, and the gradient of that, or of the clusters that sum it.
    """
    to_weights: list[Tensor] = []
    to_biases: list[Tensor] = []
    above, summed = above.contiguous(), given.assignment is not None
    parents = given.assignment if summed else given.real  # anything stands for what is not there
    parts = min(PARTS, triton.cdiv(given.nodes, PART))
    for i in reversed(range(len(weights))):
        replicas, depth, width = weights[i].shape
        x, own = (found[i - 1], True) if i else (given.x, given.source is None)
        last = i + 1 == len(weights)
        flags = last and relu, last and summed, last and given.copies is not None
        told = (x, *given.pointers(), above, parents, found[i])
        out, sums = x.new_empty(replicas, parts, depth, width), x.new_empty(replicas, parts, width)
        tile = _gradient_tile(depth, width, own)
        tiles = triton.cdiv(depth, tile["DEEP"]) * triton.cdiv(width, tile["WIDE"])
        _gradient[(tiles, parts, replicas)](
            *told, out, sums, given.nodes, x.size(1), depth, width, own, *flags, AHEAD=AHEAD, **tile
        )
        to_weights.insert(0, out.sum(1) if parts > 1 else out[:, 0])
        to_biases.insert(0, sums.sum(1) if parts > 1 else sums[:, 0])
        if i or to_x:
            above = x.new_empty(given.size, depth)
            tile, grid = _product_tile(given.nodes, depth)
            _back[(*grid, replicas)](
                *told, weights[i], above, given.nodes, depth, width, i > 0, *flags, **tile
            )
    return above if to_x else None, to_weights, to_biases


def _product_tile(rows: int, width: int) -> tuple[dict[str, int], tuple[int, int]]:
    """A tile for so many columns, and how many of them there are."""
    tile = {**PRODUCT, "WIDE": _at_most(PRODUCT["WIDE"], width)}
    return tile, (triton.cdiv(rows, tile["TALL"]), triton.cdiv(width, tile["WIDE"]))


def _gradient_tile(depth: int, width: int, own: bool) -> dict[str, int]:
    deep = GRADIENT["DEEP"] if own else SPARSE
    return {**GRADIENT, "DEEP": _at_most(deep, depth), "WIDE": _at_most(GRADIENT["WIDE"], width)}


def _at_most(side: int, numbers: int) -> int:
    """The side of a tile, or less where less will do; matrix units take no less than 16."""
    enough: int = triton.next_power_of_2(numbers)
    return min(side, max(16, enough))
