"""Triton kernels of attention, without a tensor that has a row for every entry.

Forward stores the logarithm of the softmax's denominator of every row, from which backward computes
the share of an entry. The adjacency is symmetric, so that backward walks the same entries: first
for the targets of the scores, then for the sources.

LOOKUP: features and scores of a node are in row ``lookup`` of a small table. SUMMED: ReLU and a sum
over clusters follow; one byte an element stores the sign, and gradients come from the clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.registry import COUNTS
from sepool_experiments.kernels.rows import LOWEST, relu, some_rows

ROWS, SHARE = (
    8,
    32,
)  # rows of a tile, columns of a warp: the fastest of eight on an H200
ENTRIES = 16  # of a tile of scores
AHEAD = 2  # entries of a row loaded at a time
MAX_WIDTH = 256  # columns of a tile


@triton.jit
def _numbers(x, line, column, mask, width):
    """Some rows of ``x``."""
    both = mask[:, None] & (column < width)[None, :]
    return tl.load(x + line[:, None] * width + column[None, :], mask=both, other=0)


@triton.jit
def _line(lookup, node, mask, LOOKUP: tl.constexpr):
    """Row of features and scores of some nodes."""
    return tl.load(lookup + node, mask=mask, other=0) if LOOKUP else node


@triton.jit
def _score(target, source, score_bias, node, mask, SLOPE: tl.constexpr, BIAS: tl.constexpr):
    """Score before the softmax, from target and source."""
    score = target + source
    score = tl.where(score > 0, score, SLOPE * score)
    if BIAS:
        score += tl.load(score_bias + node, mask=mask, other=0.0)
    return score


@triton.jit
def _entry(index, lookup, scores, score_bias, target, log_sum, entry, end, SLOPE: tl.constexpr,
           BIAS: tl.constexpr, LOOKUP: tl.constexpr):  # fmt: skip
    """Mask, row, source score and share of one entry of some rows."""
    mask = entry < end
    node = tl.load(index + entry, mask=mask, other=0)
    line = _line(lookup, node, mask, LOOKUP)
    source = tl.load(scores + 2 * line + 1, mask=mask, other=0.0)
    score = _score(target, source, score_bias, node, mask, SLOPE, BIAS)
    return mask, line, source, tl.where(mask, tl.exp(score - log_sum), 0.0)


@triton.jit
def _output_gradient(grad, assignment, positive, row_weight, node, column, mask, width,
                     SUMMED: tl.constexpr, WEIGHT: tl.constexpr):  # fmt: skip
    """Gradient of the output of some nodes."""
    line = tl.load(assignment + node, mask=mask, other=0) if SUMMED else node
    values = _numbers(grad, line, column, mask, width)
    if SUMMED:
        positive_mask = _numbers(positive, node, column, mask, width) > 0
        values = tl.where(positive_mask, values, 0.0)
    if WEIGHT:
        values *= tl.load(row_weight + node, mask=mask, other=0.0)[:, None]
    return values


@triton.jit(do_not_specialize=COUNTS)
def _attend(x, scores, lookup, score_bias, ptr, index, out, positive, log_sums, rows, width,
            SLOPE: tl.constexpr, BIAS: tl.constexpr, LOOKUP: tl.constexpr, SUMMED: tl.constexpr,
            AHEAD: tl.constexpr, ENTRIES: tl.constexpr, ROWS: tl.constexpr,
            WIDTH: tl.constexpr):  # fmt: skip
    """Weighted sums; the share of an entry is ``exp(score - log_sum)``."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    max_entries = tl.max(end - start)
    target = tl.load(scores + 2 * _line(lookup, row, inside, LOOKUP), mask=inside, other=0.0)
    top = tl.full((ROWS,), LOWEST, tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    for step in range(0, max_entries, ENTRIES):
        entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
        mask = entry < end[:, None]
        node = tl.load(index + entry, mask=mask, other=0)
        line = _line(lookup, node, mask, LOOKUP)
        source = tl.load(scores + 2 * line + 1, mask=mask, other=0.0)
        score = _score(target[:, None], source, score_bias, node, mask, SLOPE, BIAS)
        score = tl.where(mask, score, LOWEST)
        new_top = tl.maximum(top, tl.max(score, 1))
        share_sum = tl.where(mask, tl.exp(score - new_top[:, None]), 0.0)
        weight = weight * tl.exp(top - new_top) + tl.sum(share_sum, 1)
        top = new_top
    log_sum = top + tl.log(tl.where(end > start, weight, 1.0))
    tl.store(log_sums + row, log_sum, mask=inside)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for step in range(0, max_entries, AHEAD):
        for more in tl.static_range(AHEAD):
            mask, line, _source, share = _entry(
                index, lookup, scores, score_bias, target, log_sum, start + step + more, end, SLOPE,
                BIAS, LOOKUP,
            )  # fmt: skip
            total += _numbers(x, line, column, mask, width) * share[:, None]
    offset = row[:, None] * width + column[None, :]
    both = inside[:, None] & (column < width)[None, :]
    tl.store(out + offset, relu(total) if SUMMED else total, mask=both)
    if SUMMED:
        tl.store(positive + offset, (total > 0).to(tl.int8), mask=both)


@triton.jit(do_not_specialize=COUNTS)
def _target_gradient(x, scores, lookup, score_bias, grad, assignment, positive, row_weight, ptr,
                     index, log_sums, score_grad, means, rows, width, SLOPE: tl.constexpr,
                     BIAS: tl.constexpr, LOOKUP: tl.constexpr, SUMMED: tl.constexpr,
                     WEIGHT: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
                     WIDTH: tl.constexpr):  # fmt: skip
    """Gradients of the target scores, ``s (g - sum s g)``, and the sums of ``s g``.

    ``g`` are the gradients of the shares ``s``.
    """
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    target = tl.load(scores + 2 * _line(lookup, row, inside, LOOKUP), mask=inside, other=0.0)
    log_sum = tl.load(log_sums + row, mask=inside, other=0.0)
    grad_out = _output_gradient(
        grad, assignment, positive, row_weight, row, column, inside, width, SUMMED, WEIGHT
    )
    mean = tl.zeros((ROWS,), tl.float32)
    slope_sum = tl.zeros((ROWS,), tl.float32)
    slope_product = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            mask, line, source, share = _entry(
                index, lookup, scores, score_bias, target, log_sum, start + step + more, end, SLOPE,
                BIAS, LOOKUP,
            )  # fmt: skip
            slope = tl.where(target + source > 0, share, SLOPE * share)
            product = tl.sum(_numbers(x, line, column, mask, width) * grad_out, 1)
            mean += share * product
            slope_sum += slope
            slope_product += slope * product
    tl.store(means + row, mean, mask=inside)
    tl.store(score_grad + 2 * row, slope_product - mean * slope_sum, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _source_gradient(x, scores, lookup, score_bias, grad, assignment, positive, row_weight, ptr,
                     index, log_sums, score_grad, means, x_grad, rows, width, SLOPE: tl.constexpr,
                     BIAS: tl.constexpr, LOOKUP: tl.constexpr, SUMMED: tl.constexpr,
                     WEIGHT: tl.constexpr, AHEAD: tl.constexpr, ROWS: tl.constexpr,
                     WIDTH: tl.constexpr):  # fmt: skip
    """Gradients of the rows and of the source scores."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    own = _line(lookup, row, inside, LOOKUP)
    source = tl.load(scores + 2 * own + 1, mask=inside, other=0.0)
    seen = _numbers(x, own, column, inside, width)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    source_grad = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            mask = entry < end
            node = tl.load(index + entry, mask=mask, other=0)
            line = _line(lookup, node, mask, LOOKUP)
            target = tl.load(scores + 2 * line, mask=mask, other=0.0)
            score = _score(target, source, score_bias, row, inside, SLOPE, BIAS)
            log_sum = tl.load(log_sums + node, mask=mask, other=0.0)
            share = tl.where(mask, tl.exp(score - log_sum), 0.0)
            slope = tl.where(target + source > 0, share, SLOPE * share)
            grad_out = _output_gradient(
                grad, assignment, positive, row_weight, node, column, mask, width, SUMMED, WEIGHT
            )
            mean = tl.load(means + node, mask=mask, other=0.0)
            source_grad += slope * (tl.sum(grad_out * seen, 1) - mean)
            total += grad_out * share[:, None]
    both = inside[:, None] & (column < width)[None, :]
    tl.store(x_grad + row[:, None] * width + column[None, :], total, mask=both)
    tl.store(score_grad + 2 * row + 1, source_grad, mask=inside)


class Inputs(NamedTuple):
    """Inputs of attention.

    Attributes:
        x: features of every node, or of a table.
        scores: scores, likewise.
        lookup: row of the table of every node; None without a table.
        score_bias: bias of the score of every source node; None for 0.
        ptr: first entry of every row.
        neighbours: source node of every entry.
        assignment: cluster of every row, for a sum after ReLU; None without.
        row_weight: factor of every row in that sum; None for 1.
    """

    x: Tensor
    scores: Tensor
    lookup: Tensor | None
    score_bias: Tensor | None
    ptr: Tensor
    neighbours: Tensor
    assignment: Tensor | None = None
    row_weight: Tensor | None = None

    def value_args(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the first arguments of every kernel; other tensors stand in for None."""
        lookup = self.neighbours if self.lookup is None else self.lookup
        return self.x, self.scores, lookup, self.x if self.score_bias is None else self.score_bias

    def flags(self) -> tuple[bool, bool]:
        """Return BIAS and LOOKUP."""
        return self.score_bias is not None, self.lookup is not None


def tile(width: int) -> dict[str, int]:
    """Return the tile of a program and its number of warps."""
    wide = max(16, triton.next_power_of_2(width))
    return {"AHEAD": AHEAD, "ROWS": ROWS, "WIDTH": wide, "num_warps": max(1, wide // SHARE)}


def attend(inputs: Inputs, slope: float) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the output, the logarithms of the denominators, and the sign if it is summed."""
    rows, width = len(inputs.ptr) - 1, inputs.x.size(1)
    out, log_sums = inputs.x.new_empty(rows, width), inputs.x.new_empty(rows)
    positive = torch.empty_like(out, dtype=torch.int8) if inputs.assignment is not None else None
    _attend[(triton.cdiv(rows, ROWS),)](
        *inputs.value_args(), inputs.ptr, inputs.neighbours, out, out if positive is None else
        positive, log_sums, rows, width, slope, *inputs.flags(), positive is not None,
        ENTRIES=ENTRIES, **tile(width),
    )  # fmt: skip
    return out, log_sums, positive


def gradients(
    inputs: Inputs, slope: float, log_sums: Tensor, positive: Tensor | None, grad: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of features and scores."""
    rows, width = len(log_sums), inputs.x.size(1)
    x_grad, score_grad = inputs.x.new_empty(rows, width), inputs.x.new_empty(rows, 2)
    means, summed, weighted = (
        torch.empty_like(log_sums),
        positive is not None,
        inputs.row_weight is not None,
    )
    grad_out = (
        grad,
        *(grad if t is None else t for t in (inputs.assignment, positive, inputs.row_weight)),
    )
    tensors = (
        *inputs.value_args(),
        *grad_out,
        inputs.ptr,
        inputs.neighbours,
        log_sums,
        score_grad,
        means,
    )
    flags = rows, width, slope, *inputs.flags(), summed, weighted
    grid, sides = (triton.cdiv(rows, ROWS),), tile(width)
    _target_gradient[grid](*tensors, *flags, **sides)
    _source_gradient[grid](*tensors, x_grad, *flags, **sides)
    return x_grad, score_grad
