"""`sepool_experiments.layers.attention` on a GPU, in Triton: nothing is written down for an entry.

Of every row forward leaves one number, from which the share of any of its entries follows. Whom a
node sees is seen by it, so that backward every node walks the same entries: first as the one who
looks, then as the one who is looked at.

LOOKUP: nodes have their features and scores in a table, each in the line that ``place`` says, and
which is so small that it stays near. SUMMED: what nodes see goes through ReLU and is summed to
clusters; then a byte a number says where ReLU let something through, and gradients are read from
the clusters.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import LOWEST, relu, some_rows
from sepool_experiments.layers.gpu import COUNTS

ROWS, SHARE = 8, 32  # rows of a tile, and columns of a warp: the fastest of eight on an H200
ENTRIES = 16  # of a tile of scores
AHEAD = 2  # entries of a row that are on their way at a time
WIDEST = 256  # numbers of a row that fit into one tile


@triton.jit
def _numbers(x, line, column, there, width):
    """These rows of ``x``."""
    both = there[:, None] & (column < width)[None, :]
    return tl.load(x + line[:, None] * width + column[None, :], mask=both, other=0)


@triton.jit
def _line(place, node, there, LOOKUP: tl.constexpr):
    """Where some nodes have their features and scores."""
    return tl.load(place + node, mask=there, other=0) if LOOKUP else node


@triton.jit
def _score(target, source, extra, node, there, SLOPE: tl.constexpr, EXTRA: tl.constexpr):
    """The score before the softmax, from the numbers of both ends."""
    score = target + source
    score = tl.where(score > 0, score, SLOPE * score)
    if EXTRA:
        score += tl.load(extra + node, mask=there, other=0.0)
    return score


@triton.jit
def _seen(index, place, scores, extra, target, level, entry, end, SLOPE: tl.constexpr,
          EXTRA: tl.constexpr, LOOKUP: tl.constexpr):  # fmt: skip
    """Whom some rows see by an entry of each, if there is one, by which score and to what share."""
    there = entry < end
    node = tl.load(index + entry, mask=there, other=0)
    line = _line(place, node, there, LOOKUP)
    source = tl.load(scores + 2 * line + 1, mask=there, other=0.0)
    score = _score(target, source, extra, node, there, SLOPE, EXTRA)
    return there, line, source, tl.where(there, tl.exp(score - level), 0.0)


@triton.jit
def _above(grad, parent, gate, times, node, column, there, width, SUMMED: tl.constexpr,
           TIMES: tl.constexpr):  # fmt: skip
    """The gradient of what some nodes see."""
    line = tl.load(parent + node, mask=there, other=0) if SUMMED else node
    found = _numbers(grad, line, column, there, width)
    if SUMMED:
        opened = _numbers(gate, node, column, there, width) > 0
        found = tl.where(opened, found, 0.0)
    if TIMES:
        found *= tl.load(times + node, mask=there, other=0.0)[:, None]
    return found


@triton.jit(do_not_specialize=COUNTS)
def _attend(x, scores, place, extra, ptr, index, out, gate, norm, rows, width, SLOPE: tl.constexpr,
            EXTRA: tl.constexpr, LOOKUP: tl.constexpr, SUMMED: tl.constexpr, AHEAD: tl.constexpr,
            ENTRIES: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The sums; the share of an entry is ``exp(score - norm)``."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    longest = tl.max(end - start)
    target = tl.load(scores + 2 * _line(place, row, inside, LOOKUP), mask=inside, other=0.0)
    top = tl.full((ROWS,), LOWEST, tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    for step in range(0, longest, ENTRIES):
        entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
        there = entry < end[:, None]
        node = tl.load(index + entry, mask=there, other=0)
        line = _line(place, node, there, LOOKUP)
        source = tl.load(scores + 2 * line + 1, mask=there, other=0.0)
        score = _score(target[:, None], source, extra, node, there, SLOPE, EXTRA)
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
                index, place, scores, extra, target, level, start + step + more, end, SLOPE, EXTRA,
                LOOKUP,
            )  # fmt: skip
            total += _numbers(x, line, column, there, width) * share[:, None]
    here = row[:, None] * width + column[None, :]
    both = inside[:, None] & (column < width)[None, :]
    tl.store(out + here, relu(total) if SUMMED else total, mask=both)
    if SUMMED:
        tl.store(gate + here, (total > 0).to(tl.int8), mask=both)


@triton.jit(do_not_specialize=COUNTS)
def _to_targets(x, scores, place, extra, grad, parent, gate, times, ptr, index, norm, to_scores,
                means, rows, width, SLOPE: tl.constexpr, EXTRA: tl.constexpr, LOOKUP: tl.constexpr,
                SUMMED: tl.constexpr, TIMES: tl.constexpr, AHEAD: tl.constexpr,
                ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The gradients of the scores of those who look, ``s (g - sum s g)`` summed over entries.

    And the sums ``s g``, as `_to_sources` needs them; ``g`` are the gradients of the shares ``s``.
    """
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    target = tl.load(scores + 2 * _line(place, row, inside, LOOKUP), mask=inside, other=0.0)
    level = tl.load(norm + row, mask=inside, other=0.0)
    above = _above(grad, parent, gate, times, row, column, inside, width, SUMMED, TIMES)
    mean = tl.zeros((ROWS,), tl.float32)
    steep = tl.zeros((ROWS,), tl.float32)
    steep_mean = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            there, line, source, share = _seen(
                index, place, scores, extra, target, level, start + step + more, end, SLOPE, EXTRA,
                LOOKUP,
            )  # fmt: skip
            slope = tl.where(target + source > 0, share, SLOPE * share)
            product = tl.sum(_numbers(x, line, column, there, width) * above, 1)
            mean += share * product
            steep += slope
            steep_mean += slope * product
    tl.store(means + row, mean, mask=inside)
    tl.store(to_scores + 2 * row, steep_mean - mean * steep, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _to_sources(x, scores, place, extra, grad, parent, gate, times, ptr, index, norm, to_scores,
                means, to_x, rows, width, SLOPE: tl.constexpr, EXTRA: tl.constexpr,
                LOOKUP: tl.constexpr, SUMMED: tl.constexpr, TIMES: tl.constexpr,
                AHEAD: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """The gradients of the rows, and of the scores of those who are looked at."""
    row, inside, start, end = some_rows(ptr, rows, ROWS)
    column = tl.arange(0, WIDTH)
    own = _line(place, row, inside, LOOKUP)
    source = tl.load(scores + 2 * own + 1, mask=inside, other=0.0)
    seen = _numbers(x, own, column, inside, width)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    to_source = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), AHEAD):
        for more in tl.static_range(AHEAD):
            entry = start + step + more
            there = entry < end
            node = tl.load(index + entry, mask=there, other=0)
            line = _line(place, node, there, LOOKUP)
            target = tl.load(scores + 2 * line, mask=there, other=0.0)
            score = _score(target, source, extra, row, inside, SLOPE, EXTRA)
            level = tl.load(norm + node, mask=there, other=0.0)
            share = tl.where(there, tl.exp(score - level), 0.0)
            slope = tl.where(target + source > 0, share, SLOPE * share)
            above = _above(grad, parent, gate, times, node, column, there, width, SUMMED, TIMES)
            mean = tl.load(means + node, mask=there, other=0.0)
            to_source += slope * (tl.sum(above * seen, 1) - mean)
            total += above * share[:, None]
    both = inside[:, None] & (column < width)[None, :]
    tl.store(to_x + row[:, None] * width + column[None, :], total, mask=both)
    tl.store(to_scores + 2 * row + 1, to_source, mask=inside)


class Given(NamedTuple):
    """What attention takes.

    Attributes:
        x: the features of every node, or the lines of a table.
        scores: likewise.
        place: the line of every node in the table; None where every node has its own.
        extra: what is added to the score of every node that is seen; None where nothing is.
        ptr: where the entries of every row begin.
        neighbours: whom every entry sees.
        parent: the cluster that every row is summed to after ReLU; None where it is not.
        times: how often each counts then; None where it is once.
    """

    x: Tensor
    scores: Tensor
    place: Tensor | None
    extra: Tensor | None
    ptr: Tensor
    neighbours: Tensor
    parent: Tensor | None = None
    times: Tensor | None = None

    def read(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What every kernel begins with; anything stands for what is not there."""
        place = self.neighbours if self.place is None else self.place
        return self.x, self.scores, place, self.x if self.extra is None else self.extra

    def flags(self) -> tuple[bool, bool]:
        """EXTRA and LOOKUP."""
        return self.extra is not None, self.place is not None


def tile(width: int) -> dict[str, int]:
    """What one program has, and how many warps it is."""
    wide = max(16, triton.next_power_of_2(width))
    return {"AHEAD": AHEAD, "ROWS": ROWS, "WIDTH": wide, "num_warps": max(1, wide // SHARE)}


def attend(given: Given, slope: float) -> tuple[Tensor, Tensor, Tensor | None]:
    """What every row sees, what the shares of its entries follow from, and where it is above 0.

    What is summed to clusters has gone through ReLU; only then the last is not None.
    """
    rows, width = len(given.ptr) - 1, given.x.size(1)
    out, norm = given.x.new_empty(rows, width), given.x.new_empty(rows)
    gate = torch.empty_like(out, dtype=torch.int8) if given.parent is not None else None
    _attend[(triton.cdiv(rows, ROWS),)](
        *given.read(), given.ptr, given.neighbours, out, out if gate is None else gate, norm, rows,
        width, slope, *given.flags(), gate is not None, ENTRIES=ENTRIES, **tile(width),
    )  # fmt: skip
    return out, norm, gate


def gradients(
    given: Given, slope: float, norm: Tensor, gate: Tensor | None, grad: Tensor
) -> tuple[Tensor, Tensor]:
    """Those of the rows and of the scores of every node."""
    rows, width = len(norm), given.x.size(1)
    to_x, to_scores = given.x.new_empty(rows, width), given.x.new_empty(rows, 2)
    means, summed, often = torch.empty_like(norm), gate is not None, given.times is not None
    above = grad, *(grad if t is None else t for t in (given.parent, gate, given.times))
    told = *given.read(), *above, given.ptr, given.neighbours, norm, to_scores, means
    flags = rows, width, slope, *given.flags(), summed, often
    grid, sides = (triton.cdiv(rows, ROWS),), tile(width)
    _to_targets[grid](*told, *flags, **sides)
    _to_sources[grid](*told, to_x, *flags, **sides)
    return to_x, to_scores
