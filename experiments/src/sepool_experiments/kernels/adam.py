"""`sepool_experiments.engine.adam` on a GPU, in Triton: every number is read and written once."""

from __future__ import annotations

import math

import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024


@triton.jit
def _adam(weights, gradient, first, second, steps, rate, decay, norm, start, end, width, clip,
          CLIP: tl.constexpr, BLOCK: tl.constexpr, BETA: tl.constexpr, BETA2: tl.constexpr,
          LOG: tl.constexpr, LOG2: tl.constexpr, EPSILON: tl.constexpr,
          TINY: tl.constexpr):  # fmt: skip
    row = tl.program_id(1).to(tl.int64)
    column = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = column < end
    place = row * width + column
    now = tl.load(steps).to(tl.float32)
    grad = tl.load(gradient + place, mask=inside)
    if CLIP:
        grad *= tl.minimum(clip / (tl.load(norm + row) + TINY), 1.0)
    weight = tl.load(weights + place, mask=inside)
    grad += tl.load(decay + row) * weight
    mean = tl.load(first + place, mask=inside)
    mean += (1 - BETA) * (grad - mean)
    square = BETA2 * tl.load(second + place, mask=inside) + (1 - BETA2) * grad * grad
    speed = tl.load(rate + row) / (1 - tl.exp2(now * LOG))
    scale = tl.sqrt(square / (1 - tl.exp2(now * LOG2))) + EPSILON
    tl.store(first + place, mean, mask=inside)
    tl.store(second + place, square, mask=inside)
    tl.store(weights + place, weight - speed * mean / scale, mask=inside)


def adam(
    weights: Tensor,
    gradient: Tensor,
    moments: Tensor,
    steps: Tensor,
    rate: Tensor,
    decay: Tensor,
    norm: Tensor | None,
    clip: float,
    columns: slice,
    betas: tuple[float, float],
    epsilon: float,
    tiny: float,
) -> None:
    """See `sepool_experiments.engine.adam.adam_step`, which has the constants."""
    replicas, width = weights.shape
    start, end, _ = columns.indices(width)
    first, second = moments
    numbers = (start, end, width, clip if norm is not None else 0.0)
    _adam[(triton.cdiv(end - start, BLOCK), replicas)](
        weights, gradient, first, second, steps, rate.contiguous(), decay.contiguous(),
        weights if norm is None else norm, *numbers, norm is not None, BLOCK,
        *betas, *map(math.log2, betas), epsilon, tiny,
    )  # fmt: skip
