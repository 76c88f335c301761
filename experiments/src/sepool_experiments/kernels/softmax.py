"""Triton kernels of the softmax over segments."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.registry import COUNTS
from sepool_experiments.kernels.rows import LOWEST

SEGMENTS, ENTRIES, WIDTH = (
    16,
    16,
    64,
)  # of a tile: one column or one segment at a time


@triton.jit
def _segments(ptr, rows, SEGMENTS: tl.constexpr, WIDTH: tl.constexpr):
    """Start and end of the segments of a tile, and its columns."""
    segment = tl.program_id(0).to(tl.int64) * SEGMENTS + tl.arange(0, SEGMENTS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    start = tl.load(ptr + segment, mask=segment < rows, other=0)
    end = tl.load(ptr + segment + 1, mask=segment < rows, other=0)
    return start, end, column


@triton.jit
def _entries(start, end, step, column, width, ENTRIES: tl.constexpr):
    """Offsets and mask of some entries of every segment and column."""
    entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
    inside = (entry < end[:, None])[:, :, None] & (column < width)[None, None, :]
    return entry[:, :, None] * width + column[None, None, :], inside


@triton.jit(do_not_specialize=COUNTS)
def _softmax(score, ptr, out, rows, width, SEGMENTS: tl.constexpr, ENTRIES: tl.constexpr,
             WIDTH: tl.constexpr):  # fmt: skip
    start, end, column = _segments(ptr, rows, SEGMENTS, WIDTH)
    max_entries = tl.max(end - start)
    top = tl.full((SEGMENTS, WIDTH), LOWEST, tl.float32)
    total = tl.zeros((SEGMENTS, WIDTH), tl.float32)
    for step in range(0, max_entries, ENTRIES):
        offset, inside = _entries(start, end, step, column, width, ENTRIES)
        values = tl.load(score + offset, mask=inside, other=LOWEST)
        new_top = tl.maximum(top, tl.max(values, 1))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(values - new_top[:, None, :]), 1)
        top = new_top
    for step in range(0, max_entries, ENTRIES):
        offset, inside = _entries(start, end, step, column, width, ENTRIES)
        values = tl.load(score + offset, mask=inside, other=LOWEST)
        share = tl.exp(values - top[:, None, :]) / total[:, None, :]
        tl.store(out + offset, share, mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _gradient(share, grad, ptr, out, rows, width, SEGMENTS: tl.constexpr, ENTRIES: tl.constexpr,
              WIDTH: tl.constexpr):  # fmt: skip
    start, end, column = _segments(ptr, rows, SEGMENTS, WIDTH)
    max_entries = tl.max(end - start)
    mean = tl.zeros((SEGMENTS, WIDTH), tl.float32)
    for step in range(0, max_entries, ENTRIES):
        offset, inside = _entries(start, end, step, column, width, ENTRIES)
        part = tl.load(share + offset, mask=inside, other=0.0)
        mean += tl.sum(part * tl.load(grad + offset, mask=inside, other=0.0), 1)
    for step in range(0, max_entries, ENTRIES):
        offset, inside = _entries(start, end, step, column, width, ENTRIES)
        part = tl.load(share + offset, mask=inside, other=0.0)
        grad_out = tl.load(grad + offset, mask=inside, other=0.0)
        tl.store(out + offset, part * (grad_out - mean[:, None, :]), mask=inside)


def _tile(rows: int, width: int) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return the grid and the tile."""
    segments, wide = (SEGMENTS, 1) if width < ENTRIES else (1, WIDTH)
    return (triton.cdiv(rows, segments), triton.cdiv(width, wide)), (segments, ENTRIES, wide)


def softmax(score: Tensor, ptr: Tensor) -> Tensor:
    """Return the softmax of every segment and column of a matrix."""
    score, out = score.contiguous(), torch.empty_like(score, memory_format=torch.contiguous_format)
    rows, width = len(ptr) - 1, score.size(1)
    grid, tile = _tile(rows, width)
    _softmax[grid](score, ptr, out, rows, width, *tile)
    return out


def gradient(share: Tensor, grad: Tensor, ptr: Tensor) -> Tensor:
    """Return the gradient of the scores, from the shares and their gradient."""
    out, rows, width = torch.empty_like(share), len(ptr) - 1, share.size(1)
    grid, tile = _tile(rows, width)
    _gradient[grid](share, grad.contiguous(), ptr, out, rows, width, *tile)
    return out
