"""`sepool.nn.attention` on a GPU, in Triton: nothing is written down for an entry.

Of every row forward leaves one number, from which the share of any of its entries follows. Whom a
node sees is seen by it, so that backward every node walks the same entries: first as the one who
looks, then as the one who is looked at.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool.nn.gpu import COUNTS

ROWS, SHARE = 8, 32  # rows of a tile, and columns of a warp: the fastest of eight on an H200
ENTRIES = 16  # of a tile of scores
AHEAD = 2  # entries of a row that are on their way at a time
WIDEST = 256  # numbers of a row that fit into one tile
LOWEST = tl.constexpr(-3e38)  # as minus infinity, but equal to itself when subtracted


@triton.jit
def _place(ptr, rows, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Some rows, which of them exist, where their entries begin and end, and their numbers."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    start = tl.load(ptr + row, mask=inside, other=0)
    end = tl.load(ptr + row + 1, mask=inside, other=0)
    column = tl.arange(0, WIDTH)
    return row, inside, start, end, column, inside[:, None] & (column < width)[None, :]


@triton.jit
def _numbers(x, line, column, there, width):
    """These rows of ``x``."""
    both = there[:, None] & (column < width)[None, :]
    return tl.load(x + line[:, None] * width + column[None, :], mask=both, other=0.0)


@triton.jit
def _score(target, source, extra, line, there, SLOPE: tl.constexpr, EXTRA: tl.constexpr):
    """The score before the softmax, from the numbers of both ends."""
    score = target + source
    score = tl.where(score > 0, score, SLOPE * score)
    if EXTRA:
        score += tl.load(extra + line, mask=there, other=0.0)
    return score


@triton.jit
def _seen(index, scores, extra, target, level, entry, end, SLOPE: tl.constexpr,
          EXTRA: tl.constexpr):  # fmt: skip
    """Whom some rows see by an entry of each, if there is one, by which score and to what share."""
    there = entry < end
    line = tl.load(index + entry, mask=there, other=0)
    source = tl.load(scores + 2 * line + 1, mask=there, other=0.0)
    score = _score(target, source, extra, line, there, SLOPE, EXTRA)
    return there, line, source, tl.where(there, tl.exp(score - level), 0.0)


@triton.jit(do_not_specialize=COUNTS)
def _attend(x, scores, extra, ptr, index, out, norm, rows, width, SLOPE: tl.constexpr,
            EXTRA: tl.constexpr, AHEAD: tl.constexpr, ENTRIES: tl.constexpr, ROWS: tl.constexpr,
            WIDTH: tl.constexpr):  # fmt: skip
    """The sums; the share of an entry is ``exp(score - norm)``."""
    row, inside, start, end, column, both = _place(ptr, rows, width, ROWS, WIDTH)
    longest = tl.max(end - start)
    target = tl.load(scores + 2 * row, mask=inside, other=0.0)
    top = tl.full((ROWS,), LOWEST, tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    for step in range(0, longest, ENTRIES):
        entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
        there = entry < end[:, None]
        line = tl.load(index + entry, mask=there, other=0)
        source = tl.load(scores + 2 * line + 1, mask=there, other=0.0)
        score = _score(target[:, None], source, extra, line, there, SLOPE, EXTRA)
        score = tl.where(there, score, LOWEST)
        higher = tl.maximum(top, tl.max(score, 1))
        added = tl.where(there, tl.exp(score - higher[:, None]), 0.0)
        weight = weight * tl.exp(top - higher) + tl.sum(added, 1)
        top = higher
    level = top + tl.log(tl.where(end > start, weight, 1.0))
    tl.store(norm + row, level, mask=inside)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for step in range(0, longest, AHEAD):
        for more in tl.static_range(AHEAD):
            there, line, _source, share = _seen(
                index, scores, extra, target, level, start + step + more, end, SLOPE, EXTRA
            )
            total += _numbers(x, line, column, there, width) * share[:, None]
    tl.store(out + row[:, None] * width + column[None, :], total, mask=both)


@triton.jit(do_not_specialize=COUNTS)
def _to_targets(x, scores, extra, grad, ptr, index, norm, to_scores, means, rows, width,
                SLOPE: tl.constexpr, EXTRA: tl.constexpr, AHEAD: tl.constexpr,
                ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The gradients of the scores of those who look, ``s (g - sum s g)`` summed over entries.

    And the sums ``s g``, as `_to_sources` needs them; ``g`` are the gradients of the shares ``s``.
    """
    row, inside, start, end, column, _both = _place(ptr, rows, width, ROWS, WIDTH)
    target = tl.load(scores + 2 * row, mask=inside, other=0.0)
    level = tl.load(norm + row, mask=inside, other=0.0)
    above = _numbers(grad, row, column, inside, width)
    mean = tl.zeros((ROWS,), tl.float32)
    steep = tl.zeros((ROWS,), tl.float32)
    steep_mean = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            there, line, source, share = _seen(
                index, scores, extra, target, level, start + step + more, end, SLOPE, EXTRA
            )
            slope = tl.where(target + source > 0, share, SLOPE * share)
            product = tl.sum(_numbers(x, line, column, there, width) * above, 1)
            mean += share * product
            steep += slope
            steep_mean += slope * product
    tl.store(means + row, mean, mask=inside)
    tl.store(to_scores + 2 * row, steep_mean - mean * steep, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _to_sources(x, scores, extra, grad, ptr, index, norm, means, to_x, to_scores, rows, width,
                SLOPE: tl.constexpr, EXTRA: tl.constexpr, AHEAD: tl.constexpr,
                ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The gradients of the rows, and of the scores of those who are looked at."""
    row, inside, start, end, column, both = _place(ptr, rows, width, ROWS, WIDTH)
    source = tl.load(scores + 2 * row + 1, mask=inside, other=0.0)
    seen = _numbers(x, row, column, inside, width)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    to_source = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            there = entry < end
            line = tl.load(index + entry, mask=there, other=0)
            target = tl.load(scores + 2 * line, mask=there, other=0.0)
            score = _score(target, source, extra, row, inside, SLOPE, EXTRA)
            level = tl.load(norm + line, mask=there, other=0.0)
            share = tl.where(there, tl.exp(score - level), 0.0)
            slope = tl.where(target + source > 0, share, SLOPE * share)
            above = _numbers(grad, line, column, there, width)
            mean = tl.load(means + line, mask=there, other=0.0)
            to_source += slope * (tl.sum(above * seen, 1) - mean)
            total += above * share[:, None]
    tl.store(to_x + row[:, None] * width + column[None, :], total, mask=both)
    tl.store(to_scores + 2 * row + 1, to_source, mask=inside)


def tile(width: int) -> dict[str, int]:
    """What one program has, and how many warps it is."""
    wide = max(16, triton.next_power_of_2(width))
    return {"AHEAD": AHEAD, "ROWS": ROWS, "WIDTH": wide, "num_warps": max(1, wide // SHARE)}


def attend(
    x: Tensor, scores: Tensor, extra: Tensor | None, ptr: Tensor, index: Tensor, slope: float
) -> tuple[Tensor, Tensor]:
    """What every row sees, and what the shares of its entries follow from."""
    out, norm, (rows, width) = torch.empty_like(x), x.new_empty(len(x)), x.shape
    _attend[(triton.cdiv(rows, ROWS),)](
        x, scores, x if extra is None else extra, ptr, index, out, norm, rows, width,
        slope, extra is not None, ENTRIES=ENTRIES, **tile(width),
    )  # fmt: skip
    return out, norm


def gradients(
    x: Tensor,
    scores: Tensor,
    extra: Tensor | None,
    ptr: Tensor,
    index: Tensor,
    slope: float,
    norm: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor]:
    """Those of the rows and of the scores."""
    to_x, to_scores = torch.empty_like(x), torch.empty_like(scores)
    means, (rows, width) = torch.empty_like(norm), x.shape
    given = x, scores, x if extra is None else extra, grad, ptr, index, norm
    told = rows, width, slope, extra is not None
    grid, sides = (triton.cdiv(rows, ROWS),), tile(width)
    _to_targets[grid](*given, to_scores, means, *told, **sides)
    _to_sources[grid](*given, means, to_x, to_scores, *told, **sides)
    return to_x, to_scores
