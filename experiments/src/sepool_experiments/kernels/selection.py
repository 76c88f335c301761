"""`sepool_experiments.models.parts.selection` on a GPU, in Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import tanh, tiles
from sepool_experiments.layers.gpu import COUNTS

ROWS, ENTRIES, BLOCK = 16, 16, 1024


@triton.jit(do_not_specialize=COUNTS)
def _scale(weight, ptr, index, nodes, out, rows, ROWS: tl.constexpr, ENTRIES: tl.constexpr):
    """``d^-1/2`` of every node, where only edges between the chosen nodes count."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    chosen = tl.load(nodes + row, mask=inside, other=0) != 0
    start = tl.load(ptr + row, mask=inside, other=0)
    end = tl.where(chosen, tl.load(ptr + row + 1, mask=inside, other=0), start)
    degree = tl.zeros((ROWS,), tl.float32)
    for step in range(0, tl.max(end - start), ENTRIES):
        entry = start[:, None] + step + tl.arange(0, ENTRIES)[None, :]
        there = entry < end[:, None]
        other = tl.load(index + entry, mask=there, other=0)
        edge = tl.load(weight + entry, mask=there, other=0.0) != 0
        edge = edge & (tl.load(nodes + other, mask=there, other=0) != 0)
        degree += tl.sum(edge.to(tl.float32), 1)
    tl.store(out + row, tl.rsqrt(tl.maximum(degree, 1.0)), mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _between(weight, row, index, nodes, scale, out, length, BLOCK: tl.constexpr):
    """The normalised weight of every entry; 0 where one of its ends is not chosen."""
    entry = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = entry < length
    first = tl.load(row + entry, mask=inside, other=0)
    second = tl.load(index + entry, mask=inside, other=0)
    edge = tl.load(weight + entry, mask=inside, other=0.0) != 0
    edge = edge & (tl.load(nodes + first, mask=inside, other=0) != 0)
    edge = edge & (tl.load(nodes + second, mask=inside, other=0) != 0)
    product = tl.load(scale + first, mask=inside) * tl.load(scale + second, mask=inside)
    tl.store(out + entry, tl.where(edge, product, 0.0), mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _gate(x, score, nodes, out, rows, width, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    gate = tanh(tl.load(score + row, mask=row < rows, other=0.0))
    gate = tl.where(tl.load(nodes + row, mask=row < rows, other=0) != 0, gate, 0.0)
    place = row[:, None] * width + column[None, :]
    inside = (row < rows)[:, None] & (column < width)[None, :]
    values = tl.load(x + place, mask=inside, other=0.0)
    tl.store(out + place, values * gate[:, None], mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _gate_gradient(x, score, nodes, grad, to_x, to_score, rows, width, ROWS: tl.constexpr,
                   WIDTH: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < rows
    gate = tanh(tl.load(score + row, mask=inside, other=0.0))
    chosen = tl.load(nodes + row, mask=inside, other=0) != 0
    open = tl.where(chosen, gate, 0.0)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, width, WIDTH):
        column = start + tl.arange(0, WIDTH)
        both = inside[:, None] & (column < width)[None, :]
        place = row[:, None] * width + column[None, :]
        above = tl.load(grad + place, mask=both, other=0.0)
        total += tl.sum(above * tl.load(x + place, mask=both, other=0.0), 1)
        tl.store(to_x + place, above * open[:, None], mask=both)
    tl.store(to_score + row, tl.where(chosen, total * (1 - gate * gate), 0.0), mask=inside)


def between(weight: Tensor, ptr: Tensor, row: Tensor, index: Tensor, nodes: Tensor) -> Tensor:
    """See `sepool_experiments.models.parts.selection.between`: the weights, from the parts of the adjacency."""
    rows, out = len(nodes), torch.empty_like(weight)
    scale = torch.empty(rows, device=weight.device)
    _scale[(triton.cdiv(rows, ROWS),)](weight, ptr, index, nodes, scale, rows, ROWS, ENTRIES)
    grid = (triton.cdiv(len(weight), BLOCK),)
    _between[grid](weight, row, index, nodes, scale, out, len(weight), BLOCK)
    return out


def gate(x: Tensor, score: Tensor, nodes: Tensor) -> Tensor:
    """See `sepool_experiments.models.parts.selection.gate`."""
    out, (rows, width) = torch.empty_like(x), x.shape
    grid, *tile = tiles(rows, width)
    _gate[grid](x, score, nodes, out, rows, width, *tile)
    return out


def gate_gradient(x: Tensor, score: Tensor, nodes: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of the rows and the scores."""
    to_x, to_score, (rows, width) = torch.empty_like(x), torch.empty_like(score), x.shape
    (count, _), *tile = tiles(rows, width)
    _gate_gradient[(count,)](x, score, nodes, grad, to_x, to_score, rows, width, *tile)
    return to_x, to_score
