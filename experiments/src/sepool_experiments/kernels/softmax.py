"""`sepool_experiments.layers.softmax` on a GPU, in Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import LOWEST
from sepool_experiments.layers.gpu import COUNTS

SEGMENTS, ENTRIES, WIDTH = 16, 16, 64  # of a tile: many segments of a column, or one of many


@triton.jit
def _place(ptr, rows, SEGMENTS: tl.constexpr, WIDTH: tl.constexpr):
    """Where the segments of a tile begin and end, and its columns."""
    segment = tl.program_id(0).to(tl.int64) * SEGMENTS + tl.arange(0, SEGMENTS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    start = tl.load(ptr + segment, mask=segment < rows, other=0)
    end = tl.load(ptr + segment + 1, mask=segment < rows, other=0)
    return start, end, column


@triton.jit
def _entries(start, end, step, column, width, ENTRIES: tl.constexpr):
    """The places of some entries of every segment and column, and which of them exist."""
    entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
    inside = (entry < end[:, None])[:, :, None] & (column < width)[None, None, :]
    return entry[:, :, None] * width + column[None, None, :], inside


@triton.jit(do_not_specialize=COUNTS)
def _softmax(score, ptr, out, rows, width, SEGMENTS: tl.constexpr, ENTRIES: tl.constexpr,
             WIDTH: tl.constexpr):  # fmt: skip
    start, end, column = _place(ptr, rows, SEGMENTS, WIDTH)
    longest = tl.max(end - start)
    top = tl.full((SEGMENTS, WIDTH), LOWEST, tl.float32)
    total = tl.zeros((SEGMENTS, WIDTH), tl.float32)
    for step in range(0, longest, ENTRIES):
        place, inside = _entries(start, end, step, column, width, ENTRIES)
        values = tl.load(score + place, mask=inside, other=LOWEST)
        higher = tl.maximum(top, tl.max(values, 1))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(values - higher[:, None, :]), 1)
        top = higher
    for step in range(0, longest, ENTRIES):
        place, inside = _entries(start, end, step, column, width, ENTRIES)
        values = tl.load(score + place, mask=inside, other=LOWEST)
        share = tl.exp(values - top[:, None, :]) / total[:, None, :]
        tl.store(out + place, share, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _gradient(share, grad, ptr, out, rows, width, SEGMENTS: tl.constexpr, ENTRIES: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    start, end, column = _place(ptr, rows, SEGMENTS, WIDTH)
    longest = tl.max(end - start)
    mean = tl.zeros((SEGMENTS, WIDTH), tl.float32)
    for step in range(0, longest, ENTRIES):
        place, inside = _entries(start, end, step, column, width, ENTRIES)
        part = tl.load(share + place, mask=inside, other=0.0)
        mean += tl.sum(part * tl.load(grad + place, mask=inside, other=0.0), 1)
    for step in range(0, longest, ENTRIES):
        place, inside = _entries(start, end, step, column, width, ENTRIES)
        part = tl.load(share + place, mask=inside, other=0.0)
        above = tl.load(grad + place, mask=inside, other=0.0)
        tl.store(out + place, part * (above - mean[:, None, :]), mask=inside)


def _tile(rows: int, width: int) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """The grid, and the tile: of few columns one at a time, of many a row of them."""
    segments, wide = (SEGMENTS, 1) if width < ENTRIES else (1, WIDTH)
    return (triton.cdiv(rows, segments), triton.cdiv(width, wide)), (segments, ENTRIES, wide)


def softmax(score: Tensor, ptr: Tensor) -> Tensor:
    """The softmax of every segment and column of a matrix."""
    score, out = score.contiguous(), torch.empty_like(score, memory_format=torch.contiguous_format)
    rows, width = len(ptr) - 1, score.size(1)
    grid, tile = _tile(rows, width)
    _softmax[grid](score, ptr, out, rows, width, *tile)
    return out


def gradient(share: Tensor, grad: Tensor, ptr: Tensor) -> Tensor:
    """The gradient of the scores, from the shares and their gradient."""
    out, rows, width = torch.empty_like(share), len(ptr) - 1, share.size(1)
    grid, tile = _tile(rows, width)
    _gradient[grid](share, grad.contiguous(), ptr, out, rows, width, *tile)
    return out
