"""`sepool_experiments.models.parts.segments.rank_in_graph` on a GPU, in Triton.

Graphs are small, so that every node is compared with all others of its graph: a sort takes a dozen
launches, and there would have to be two of them.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.layers.gpu import COUNTS

ROWS, OTHERS = 16, 32  # of the tile of comparisons


@triton.jit
def _key(score):
    """A whole number in the order of the scores; what is not a number comes first, as in a sort."""
    bits = (score + 0.0).to(tl.int32, bitcast=True)  # -0 becomes 0
    key = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return tl.where(score == score, key, 0x7FFFFFFF)


@triton.jit(do_not_specialize=COUNTS)
def _rank(score, ptr, graph, rank, order, rows, ROWS: tl.constexpr, OTHERS: tl.constexpr):
    """How many nodes of the same graph have a higher score, or the same and come before."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    mine = tl.load(graph + row, mask=inside, other=0)
    start = tl.load(ptr + mine, mask=inside, other=0)
    end = tl.load(ptr + mine + 1, mask=inside, other=0)
    key = _key(tl.load(score + row, mask=inside, other=0.0))
    total = tl.zeros((ROWS,), tl.int64)
    for step in range(0, tl.max(end - start), OTHERS):
        other = start[:, None] + step + tl.arange(0, OTHERS)[None, :]
        there = other < end[:, None]
        theirs = _key(tl.load(score + other, mask=there, other=0.0))
        tie = (theirs == key[:, None]) & (other < row[:, None])
        before = there & ((theirs > key[:, None]) | tie)
        total += tl.sum(before.to(tl.int64), 1)
    tl.store(rank + row, total, mask=inside)
    tl.store(order + start + total, row, mask=inside)


def rank_in_graph(score: Tensor, ptr: Tensor, graph: Tensor) -> tuple[Tensor, Tensor]:
    """See `sepool_experiments.models.parts.segments.rank_in_graph`."""
    rank, order = torch.empty_like(graph), torch.empty_like(graph)
    grid = (triton.cdiv(len(score), ROWS),)
    _rank[grid](score.contiguous(), ptr, graph, rank, order, len(score), ROWS, OTHERS)
    return order, rank
