"""Triton kernels of attention, without a tensor that has a row for every entry.

Forward stores the logarithm of the softmax's denominator of every row, from which backward computes
the share of an entry. The adjacency is symmetric, so that backward walks the same entries: first
for the targets of the scores, then for the sources.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.registry import COUNTS
from sepool_experiments.kernels.rows import LOWEST, some_rows

ROWS, SHARE = (
    8,
    32,
)  # rows of a tile, columns of a warp: the fastest of eight on an H200
ENTRIES = 16  # of a tile of scores
AHEAD = 2  # entries of a row loaded at a time
MAX_WIDTH = 256  # columns of a tile


@triton.jit
def _numbers(x, line, column, mask, width):
    """Load rows of ``x``."""
    both = mask[:, None] & (column < width)[None, :]
    return tl.load(x + line[:, None] * width + column[None, :], mask=both, other=0)


@triton.jit
def _score(target_score, source_score, score_bias, node, mask, SLOPE: tl.constexpr,
           BIAS: tl.constexpr):  # fmt: skip
    """Score before the softmax, from the scores of target and source."""
    score = target_score + source_score
    score = tl.where(score > 0, score, SLOPE * score)
    if BIAS:
        score += tl.load(score_bias + node, mask=mask, other=0.0)
    return score


@triton.jit
def _entry(index, scores, score_bias, target_score, log_sum, entry, end, SLOPE: tl.constexpr,
           BIAS: tl.constexpr):  # fmt: skip
    """Mask, source node, its score and share of one entry a row."""
    mask = entry < end
    node = tl.load(index + entry, mask=mask, other=0)
    source_score = tl.load(scores + 2 * node + 1, mask=mask, other=0.0)
    score = _score(target_score, source_score, score_bias, node, mask, SLOPE, BIAS)
    return mask, node, source_score, tl.where(mask, tl.exp(score - log_sum), 0.0)


@triton.jit(do_not_specialize=COUNTS)
def _attend(x, scores, score_bias, ptr, index, out, log_sums, rows, width, SLOPE: tl.constexpr,
            BIAS: tl.constexpr, AHEAD: tl.constexpr, ENTRIES: tl.constexpr, ROWS: tl.constexpr,
            WIDTH: tl.constexpr):  # fmt: skip
    """Weighted sums; the share of an entry is ``exp(score - log_sum)``."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    max_entries = tl.max(end - start)
    target_score = tl.load(scores + 2 * row, mask=inside, other=0.0)
    top = tl.full((ROWS,), LOWEST, tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    for step in range(0, max_entries, ENTRIES):
        entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
        mask = entry < end[:, None]
        node = tl.load(index + entry, mask=mask, other=0)
        source_score = tl.load(scores + 2 * node + 1, mask=mask, other=0.0)
        score = _score(target_score[:, None], source_score, score_bias, node, mask, SLOPE, BIAS)
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
            entry = start + step + more
            mask, node, _source_score, share = _entry(
                index, scores, score_bias, target_score, log_sum, entry, end, SLOPE, BIAS
            )
            total += _numbers(x, node, column, mask, width) * share[:, None]
    offset = row[:, None] * width + column[None, :]
    both = inside[:, None] & (column < width)[None, :]
    tl.store(out + offset, total, mask=both)


@triton.jit(do_not_specialize=COUNTS)
def _target_gradient(x, scores, score_bias, grad, ptr, index, log_sums, score_grad, means, rows,
                     width, SLOPE: tl.constexpr, BIAS: tl.constexpr, AHEAD: tl.constexpr,
                     ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Gradients of the target scores, ``s (g - sum s g)``, and the sums of ``s g``.

    ``g`` are the gradients of the shares ``s``.
    """
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    target_score = tl.load(scores + 2 * row, mask=inside, other=0.0)
    log_sum = tl.load(log_sums + row, mask=inside, other=0.0)
    grad_out = _numbers(grad, row, column, inside, width)
    mean = tl.zeros((ROWS,), tl.float32)
    slope_sum = tl.zeros((ROWS,), tl.float32)
    slope_product = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            mask, node, source_score, share = _entry(
                index, scores, score_bias, target_score, log_sum, entry, end, SLOPE, BIAS
            )
            slope = tl.where(target_score + source_score > 0, share, SLOPE * share)
            product = tl.sum(_numbers(x, node, column, mask, width) * grad_out, 1)
            mean += share * product
            slope_sum += slope
            slope_product += slope * product
    tl.store(means + row, mean, mask=inside)
    tl.store(score_grad + 2 * row, slope_product - mean * slope_sum, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _source_gradient(x, scores, score_bias, grad, ptr, index, log_sums, score_grad, means, x_grad,
                     rows, width, SLOPE: tl.constexpr, BIAS: tl.constexpr, AHEAD: tl.constexpr,
                     ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Gradients of the rows and of the source scores."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    source_score = tl.load(scores + 2 * row + 1, mask=inside, other=0.0)
    source_x = _numbers(x, row, column, inside, width)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    source_grad = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            mask = entry < end
            node = tl.load(index + entry, mask=mask, other=0)
            target_score = tl.load(scores + 2 * node, mask=mask, other=0.0)
            score = _score(target_score, source_score, score_bias, row, inside, SLOPE, BIAS)
            log_sum = tl.load(log_sums + node, mask=mask, other=0.0)
            share = tl.where(mask, tl.exp(score - log_sum), 0.0)
            slope = tl.where(target_score + source_score > 0, share, SLOPE * share)
            grad_out = _numbers(grad, node, column, mask, width)
            mean = tl.load(means + node, mask=mask, other=0.0)
            source_grad += slope * (tl.sum(grad_out * source_x, 1) - mean)
            total += grad_out * share[:, None]
    both = inside[:, None] & (column < width)[None, :]
    tl.store(x_grad + row[:, None] * width + column[None, :], total, mask=both)
    tl.store(score_grad + 2 * row + 1, source_grad, mask=inside)


class Inputs(NamedTuple):
    """Inputs of attention.

    Attributes:
        x: features of every node.
        scores: scores of every node, as a target and as a source.
        score_bias: bias of the score of every source node; None for 0.
        ptr: first entry of every row.
        neighbours: source node of every entry.
    """

    x: Tensor
    scores: Tensor
    score_bias: Tensor | None
    ptr: Tensor
    neighbours: Tensor

    def value_args(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the first arguments of every kernel; ``x`` replaces a bias of None."""
        return self.x, self.scores, self.x if self.score_bias is None else self.score_bias


def tile(width: int) -> dict[str, int]:
    """Return the tile of a program and its number of warps."""
    wide = max(16, triton.next_power_of_2(width))
    return {"AHEAD": AHEAD, "ROWS": ROWS, "WIDTH": wide, "num_warps": max(1, wide // SHARE)}


def attend(inputs: Inputs, slope: float) -> tuple[Tensor, Tensor]:
    """Return the output and the logarithms of the denominators."""
    rows, width = len(inputs.ptr) - 1, inputs.x.size(1)
    out, log_sums = inputs.x.new_empty(rows, width), inputs.x.new_empty(rows)
    _attend[(triton.cdiv(rows, ROWS),)](
        *inputs.value_args(), inputs.ptr, inputs.neighbours, out, log_sums, rows, width, slope,
        inputs.score_bias is not None, ENTRIES=ENTRIES, **tile(width),
    )  # fmt: skip
    return out, log_sums


def gradients(
    inputs: Inputs, slope: float, log_sums: Tensor, grad: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of features and scores."""
    rows, width = inputs.x.shape
    x_grad, score_grad = torch.empty_like(inputs.x), torch.empty_like(inputs.scores)
    means = torch.empty_like(log_sums)
    structure = inputs.ptr, inputs.neighbours, log_sums, score_grad, means
    tensors = *inputs.value_args(), grad, *structure
    flags = rows, width, slope, inputs.score_bias is not None
    grid, sides = (triton.cdiv(rows, ROWS),), tile(width)
    _target_gradient[grid](*tensors, *flags, **sides)
    _source_gradient[grid](*tensors, x_grad, *flags, **sides)
    return x_grad, score_grad
