"""The softmax over segments of rows, the gradient of which is as short as it is itself."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels, segment_max, segment_sum

softmax_kernels = load_kernels("sepool_experiments.kernels.softmax")


def segment_softmax(score: Tensor, ptr: Tensor, row: Tensor) -> Tensor:
    """The softmax over every segment, for every column of a matrix.

    Args:
        score: a matrix, segment after segment.
        ptr: where every segment begins.
        row: the segment of every row.

    Example:
        >>> score, ptr = torch.zeros(3, 1), torch.tensor([0, 2, 3])
        >>> segment_softmax(score, ptr, torch.tensor([0, 0, 1])).flatten()
        tensor([0.5000, 0.5000, 1.0000])
    """
    share: Tensor = _Softmax.apply(score, ptr, row)  # type: ignore[no-untyped-call]
    return share


class _Softmax(Function):
    """``s = exp(x) / sum exp(x)``, backward ``s (g - sum s g)``."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, ptr: Tensor, row: Tensor) -> Tensor:
        if _has_kernel(score):
            share: Tensor = softmax_kernels.softmax(score, ptr)
        else:
            share = (score - segment_max(score, ptr).index_select(0, row)).exp_()
            share /= segment_sum(share, ptr).index_select(0, row)
        ctx.save_for_backward(share, ptr, row)
        return share

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        share, ptr, row = ctx.saved_tensors
        if _has_kernel(share):
            return softmax_kernels.gradient(share, grad, ptr), None, None
        mean = segment_sum(share * grad, ptr).index_select(0, row)
        return share * (grad - mean), None, None


def _has_kernel(x: Tensor) -> bool:
    return softmax_kernels is not None and fits_kernels(x)
