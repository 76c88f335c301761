"""Batch normalisation of replicas, over the nodes that are real."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from sepool.nn.ops import fits_kernels

norm_kernels: Any = None
if torch.version.cuda is not None:
    with suppress(ImportError):  # builds for GPUs bring Triton along, but need not
        from sepool.baselines import norm_kernels

EPSILON, MOMENTUM = 1e-5, 0.1


class NodeNorm(nn.Module):
    """`torch.nn.BatchNorm1d` over the nodes of every replica, padding left out.

    Args:
        width: the number of features.
        replicas: how many replicas, whose nodes are equal parts of the rows; None for one.
        relu: whether a ReLU follows.

    Example:
        >>> norm = NodeNorm(1)
        >>> x, real = torch.tensor([[1.0], [3.0], [99.0]]), torch.tensor([True, True, False])
        >>> norm(x, real)[:2].detach().round().flatten().tolist()
        [-1.0, 1.0]
    """

    mean: Tensor
    var: Tensor

    def __init__(self, width: int, replicas: int | None = None, relu: bool = False) -> None:
        super().__init__()
        shape = (width,) if replicas is None else (replicas, width)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))
        self.relu = relu

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """Normalises by the nodes at hand in training, by those seen in training otherwise."""
        width = x.size(1)
        weight, bias, mean, var = (
            t.view(-1, width) for t in (self.weight, self.bias, self.mean, self.var)
        )
        if norm_kernels is not None and self.training and fits_kernels(x):
            out: Tensor = _Normalise.apply(  # type: ignore[no-untyped-call]
                x, real, weight, bias, mean, var, self.relu
            )
            return out
        parts, (mean, var) = x.view(len(weight), -1, width), (mean.unsqueeze(1), var.unsqueeze(1))
        if self.training:
            counts = real.view(len(weight), -1, 1).to(x.dtype)
            total = counts.sum(1, keepdim=True).clamp(min=1)
            seen_mean, seen_var = mean, var
            mean = (parts * counts).sum(1, keepdim=True) / total
            var = ((parts - mean).square() * counts).sum(1, keepdim=True) / total
            with torch.no_grad():
                seen_mean.lerp_(mean, MOMENTUM)
                seen_var.lerp_(var * total / (total - 1).clamp(min=1), MOMENTUM)
        slope = (var + EPSILON).rsqrt() * weight.unsqueeze(1)
        out = ((parts - mean) * slope + bias.unsqueeze(1)).view_as(x)
        return out.relu() if self.relu else out


class _Normalise(Function):
    """Normalisation in training, by our kernels."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, real: Tensor, weight: Tensor, *others: Any) -> Tensor:
        *state, ctx.relu = others
        x = x.contiguous()
        out: Tensor
        out, known = norm_kernels.normalise(
            x, real, weight, *state, EPSILON, MOMENTUM, relu=ctx.relu
        )
        ctx.save_for_backward(x, out, real, weight, known)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, out, *rest = ctx.saved_tensors
        to_x, *to_weights = norm_kernels.gradient(x, out, grad.contiguous(), *rest, ctx.relu)
        return to_x, None, *to_weights, None, None, None
