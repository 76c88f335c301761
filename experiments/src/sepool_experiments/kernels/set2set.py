"""`sepool_experiments.models.parts.set2set_attention` on a GPU, in Triton: one launch forward, one backward."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import LOWEST, tanh
from sepool_experiments.layers.gpu import COUNTS

BLOCK, NODES = 1024, 16


@triton.jit
def _gates(gates, place, width, inside):
    """The input, forget, cell and output gates at some places of the cells."""
    start = gates + place // width * 4 * width + place % width
    enter = tl.sigmoid(tl.load(start, mask=inside, other=0.0))
    forget = tl.sigmoid(tl.load(start + width, mask=inside, other=0.0))
    new = tanh(tl.load(start + 2 * width, mask=inside, other=0.0))
    leave = tl.sigmoid(tl.load(start + 3 * width, mask=inside, other=0.0))
    return enter, forget, new, leave


@triton.jit(do_not_specialize=COUNTS)
def _remember(gates, cell, later, out, rows, width, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place // width < rows
    enter, forget, new, leave = _gates(gates, place, width, inside)
    held = forget * tl.load(cell + place, mask=inside, other=0.0) + enter * new
    tl.store(later + place, held, mask=inside)
    tl.store(out + place, leave * tanh(held), mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _remember_gradient(gates, cell, later, to_later, to_out, to_gates, to_cell, rows, width,
                       BLOCK: tl.constexpr):  # fmt: skip
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place // width < rows
    enter, forget, new, leave = _gates(gates, place, width, inside)
    held = tanh(tl.load(later + place, mask=inside, other=0.0))
    above = tl.load(to_out + place, mask=inside, other=0.0)
    change = tl.load(to_later + place, mask=inside, other=0.0) + above * leave * (1 - held * held)
    before = tl.load(cell + place, mask=inside, other=0.0)
    start = to_gates + place // width * 4 * width + place % width
    tl.store(start, change * new * enter * (1 - enter), mask=inside)
    tl.store(start + width, change * before * forget * (1 - forget), mask=inside)
    tl.store(start + 2 * width, change * enter * (1 - new * new), mask=inside)
    tl.store(start + 3 * width, above * held * leave * (1 - leave), mask=inside)
    tl.store(to_cell + place, change * forget, mask=inside)


@triton.jit
def _recall(x, q, ptr, out, level, width, NODES: tl.constexpr, WIDTH: tl.constexpr):
    """The nodes of a graph, weighted by how they answer; and the logarithm of all answers."""
    graph = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    wide = column < width
    start = tl.load(ptr + graph)
    end = tl.load(ptr + graph + 1)
    asked = tl.load(q + graph * width + column, mask=wide, other=0.0)
    top = LOWEST
    total = 0.0
    seen = tl.zeros((WIDTH,), tl.float32)
    for begin in range(start, end, NODES):
        row = begin + tl.arange(0, NODES)
        inside = (row < end)[:, None] & wide[None, :]
        values = tl.load(x + row[:, None] * width + column[None, :], mask=inside, other=0.0)
        score = tl.where(row < end, tl.sum(values * asked[None, :], 1), LOWEST)
        higher = tl.maximum(top, tl.max(score, 0))
        raised = tl.exp(score - higher)
        fade = tl.exp(top - higher)
        total = total * fade + tl.sum(raised, 0)
        seen = seen * fade + tl.sum(raised[:, None] * values, 0)
        top = higher
    total = tl.where(end > start, total, 1.0)
    tl.store(out + graph * width + column, seen / total, mask=wide)
    tl.store(level + graph, top + tl.log(total))


@triton.jit
def _recall_gradient(x, q, ptr, out, level, grad, to_x, to_q, width, NODES: tl.constexpr,
                     WIDTH: tl.constexpr):  # fmt: skip
    graph = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    wide = column < width
    start = tl.load(ptr + graph)
    end = tl.load(ptr + graph + 1)
    asked = tl.load(q + graph * width + column, mask=wide, other=0.0)
    above = tl.load(grad + graph * width + column, mask=wide, other=0.0)
    mean = tl.sum(above * tl.load(out + graph * width + column, mask=wide, other=0.0), 0)
    log_total = tl.load(level + graph)
    total = tl.zeros((WIDTH,), tl.float32)
    for begin in range(start, end, NODES):
        row = begin + tl.arange(0, NODES)
        place = row[:, None] * width + column[None, :]
        inside = (row < end)[:, None] & wide[None, :]
        values = tl.load(x + place, mask=inside, other=0.0)
        share = tl.exp(tl.sum(values * asked[None, :], 1) - log_total)
        share = tl.where(row < end, share, 0.0)
        slope = share * (tl.sum(values * above[None, :], 1) - mean)
        total += tl.sum(slope[:, None] * values, 0)
        found = share[:, None] * above[None, :] + slope[:, None] * asked[None, :]
        tl.store(to_x + place, found, mask=inside)
    tl.store(to_q + graph * width + column, total, mask=wide)


def remember(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """See `sepool_experiments.models.parts.set2set_attention.remember`."""
    later, out = torch.empty_like(cell), torch.empty_like(cell)
    grid = (triton.cdiv(cell.numel(), BLOCK),)
    _remember[grid](gates, cell, later, out, *cell.shape, BLOCK)
    return later, out


def remember_gradient(
    gates: Tensor, cell: Tensor, later: Tensor, to_later: Tensor, to_out: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of gates and cells."""
    to_gates, to_cell = torch.empty_like(gates), torch.empty_like(cell)
    grid = (triton.cdiv(cell.numel(), BLOCK),)
    above = to_later.contiguous(), to_out.contiguous()
    _remember_gradient[grid](
        gates, cell, later, *above, to_gates, to_cell, *cell.shape, BLOCK
    )  # fmt: skip
    return to_gates, to_cell


def recall(x: Tensor, q: Tensor, ptr: Tensor) -> tuple[Tensor, Tensor]:
    """See `sepool_experiments.models.parts.set2set_attention.recall`; the logarithm of every sum of answers comes along."""
    (graphs, width), out = q.shape, torch.empty_like(q)
    level = torch.empty(graphs, device=x.device)
    tile = NODES, triton.next_power_of_2(width)
    _recall[(graphs,)](x, q, ptr, out, level, width, *tile)
    return out, level


def recall_gradient(
    x: Tensor, q: Tensor, ptr: Tensor, out: Tensor, level: Tensor, grad: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of the nodes and of what was asked."""
    (graphs, width), to_x, to_q = q.shape, torch.empty_like(x), torch.empty_like(q)
    tile = NODES, triton.next_power_of_2(width)
    state = x, q, ptr, out, level, grad.contiguous(), to_x, to_q
    _recall_gradient[(graphs,)](*state, width, *tile)
    return to_x, to_q
