"""What happens once a step, on a GPU, in Triton: small things that would take a launch each."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from sepool_experiments.kernels.rows import _mix
from sepool_experiments.layers.gpu import COUNTS

BLOCK, ROWS = 128, 16


@triton.jit(do_not_specialize=COUNTS)
def _keys(keys, steps, out, replicas, BLOCK: tl.constexpr):
    replica = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + replica, mask=replica < replicas, other=0)
    key += tl.load(steps) * 0x9E3779B1
    tl.store(out + replica, _mix(key.to(tl.uint32)).to(tl.int64), mask=replica < replicas)


@triton.jit(do_not_specialize=COUNTS)
def _rates(highest, cosine, steps, out, replicas, epoch, warm, epochs, BLOCK: tl.constexpr):
    replica = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = replica < replicas
    done = (tl.load(steps) - 1).to(tl.float32) / epoch
    rest = tl.minimum(tl.maximum((done - warm) / (epochs - warm), 0.0), 1.0)
    wave = tl.where(done < warm, done / warm, (1 + tl.cos(3.141592653589793 * rest)) / 2)
    rate = tl.load(highest + replica, mask=inside, other=0.0)
    waves = tl.load(cosine + replica, mask=inside, other=0) != 0
    tl.store(out + replica, tl.where(waves, rate * wave, rate), mask=inside)


@triton.jit(do_not_specialize=COUNTS)
def _losses(logits, y, there, out, gradient, rows, graphs, width, ROWS: tl.constexpr,
            WIDTH: tl.constexpr):  # fmt: skip
    """The mean loss of a replica, and its gradient, whose rows beyond the graphs are 0."""
    replica = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    wide = (column < width)[None, :]
    count = 0.0
    for begin in range(0, graphs, ROWS):
        row = begin + tl.arange(0, ROWS)
        real = tl.load(there + replica * graphs + row, mask=row < graphs, other=0) != 0
        count += tl.sum(real.to(tl.float32), 0)
    total = 0.0
    for begin in range(0, rows, ROWS):
        row = begin + tl.arange(0, ROWS)
        place = (replica * rows + row)[:, None] * width + column[None, :]
        inside = (row < rows)[:, None] & wide
        label = tl.load(y + replica * graphs + row, mask=row < graphs, other=0)
        real = tl.load(there + replica * graphs + row, mask=row < graphs, other=0) != 0
        values = tl.load(logits + place, mask=inside, other=0.0)
        values -= tl.max(tl.where(wide, values, float("-inf")), 1)[:, None]
        raised = tl.where(wide, tl.exp(values), 0.0)
        summed = tl.sum(raised, 1)
        hit = column[None, :] == label[:, None]
        loss = tl.log(summed) - tl.sum(tl.where(hit, values, 0.0), 1)
        total += tl.sum(tl.where(real, loss, 0.0), 0)
        slope = (raised / summed[:, None] - hit.to(tl.float32)) / count
        tl.store(gradient + place, tl.where(real[:, None], slope, 0.0), mask=inside)
    tl.store(out + replica, total / count)


def keys_at(keys: Tensor, steps: Tensor) -> Tensor:
    """See `sepool_experiments.engine.schedule.keys_at`."""
    out = torch.empty_like(keys)
    _keys[(triton.cdiv(len(keys), BLOCK),)](keys, steps, out, len(keys), BLOCK)
    return out


def rates_at(
    steps: Tensor, highest: Tensor, cosine: Tensor, epoch: float, warm: float, epochs: float
) -> Tensor:
    """See `sepool_experiments.engine.schedule.rates_at`."""
    out, replicas = torch.empty_like(highest), len(highest)
    state = highest.contiguous(), cosine.contiguous(), steps, out, replicas
    _rates[(triton.cdiv(replicas, BLOCK),)](*state, float(epoch), float(warm), float(epochs), BLOCK)
    return out


def mean_losses(logits: Tensor, y: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
    """See `sepool_experiments.engine.loss.mean_losses`; the gradient comes along."""
    (replicas, graphs), width = y.shape, logits.size(1)
    out, gradient = torch.empty(replicas, device=logits.device), torch.empty_like(logits)
    state = logits, y.contiguous(), there.contiguous(), out, gradient
    numbers = len(logits) // replicas, graphs, width
    _losses[(replicas,)](*state, *numbers, ROWS, triton.next_power_of_2(width))
    return out, gradient
