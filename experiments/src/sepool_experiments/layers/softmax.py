"""Softmax over segments of rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.segments import segment_max, segment_sum


def segment_softmax(score: Tensor, ptr: Tensor, segment: Tensor) -> Tensor:
    """Softmax over every segment of the rows of a matrix, column by column.

    Example:
        >>> score, ptr = torch.zeros(3, 1), torch.tensor([0, 2, 3])
        >>> segment_softmax(score, ptr, torch.tensor([0, 0, 1])).flatten()
        tensor([0.5000, 0.5000, 1.0000])
    """
    out: Tensor = _Softmax.apply(score, ptr, segment)  # type: ignore[no-untyped-call]
    return out


class _Softmax(Function):
    """``s = exp(x) / sum exp(x)``, backward ``s (g - sum s g)``."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, ptr: Tensor, segment: Tensor) -> Tensor:
        out = (score - segment_max(score, ptr).index_select(0, segment)).exp_()
        out /= segment_sum(out, ptr).index_select(0, segment)
        ctx.save_for_backward(out, ptr, segment)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        out, ptr, segment = ctx.saved_tensors
        mean = segment_sum(out * grad, ptr).index_select(0, segment)
        return out * (grad - mean), None, None
