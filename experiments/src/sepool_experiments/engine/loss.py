"""The loss of graph classification, of many replicas."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels

step_kernels = load_kernels("sepool_experiments.kernels.steps")


def losses(logits: Tensor, y: Tensor, there: Tensor) -> Tensor:
    """The cross entropy of every graph, one row a replica; 0 where there is none."""
    flat = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    return flat.view_as(y) * there


def mean_losses(logits: Tensor, y: Tensor, there: Tensor) -> Tensor:
    """The mean cross entropy over the graphs of every replica.

    Args:
        logits: one row a graph, as many for every replica; the last ones may be padding.
        y: the classes, one row a replica, without that padding.
        there: which graphs count, likewise.

    Example:
        >>> y, there = torch.tensor([[0, 1]]), torch.tensor([[True, False]])
        >>> mean_losses(torch.zeros(3, 2), y, there)
        tensor([0.6931])
    """
    if step_kernels is not None and fits_kernels(logits):
        found: Tensor = _MeanLosses.apply(logits, y, there)  # type: ignore[no-untyped-call]
        return found
    by_replica = logits.view(len(y), -1, logits.size(1))[:, : y.size(1)]
    return losses(by_replica, y, there).sum(1) / there.sum(1)


class _MeanLosses(Function):
    """The gradient is found together with the losses."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, y: Tensor, there: Tensor) -> Tensor:
        found: Tensor
        found, gradient = step_kernels.mean_losses(logits.contiguous(), y, there)
        ctx.save_for_backward(gradient)
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (gradient,) = ctx.saved_tensors
        parts = gradient.view(len(grad), -1) * grad.unsqueeze(1)
        return parts.view_as(gradient), None, None
