"""Batch normalisation over nodes, separate for every replica."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from sepool_experiments.kernels.registry import load, use_kernel

EPSILON, MOMENTUM = 1e-5, 0.1  # as in PyTorch


class _Norm(nn.Module):
    """Parameters and running statistics."""

    mean: Tensor
    var: Tensor

    def __init__(self, width: int, replicas: int | None = None) -> None:
        super().__init__()
        shape = (width,) if replicas is None else (replicas, width)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))

    def __repr__(self) -> str:
        replicas = "" if self.weight.dim() == 1 else f", replicas={len(self.weight)}"
        return f"{type(self).__name__}({self.weight.size(-1)}{replicas})"


class BatchNorm(_Norm):
    """`torch.nn.BatchNorm1d` of replicas side by side.

    Args:
        width: number of features.
        replicas: number of replicas, for ``x`` of the shape ``(N, R, width)``; None for
            ``(N, width)``.

    Example:
        >>> BatchNorm(1)(torch.tensor([[1.0], [3.0]])).round().flatten().tolist()
        [-1.0, 1.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Normalise by the batch in training, by running statistics otherwise."""
        # In lockstep the statistics of a replica are part of a longer row: these are copies.
        running = self.mean.flatten().clone(), self.var.flatten().clone()
        affine = self.weight.reshape(-1), self.bias.reshape(-1)
        out = F.batch_norm(x.flatten(1), *running, *affine, training=self.training).view_as(x)
        if self.training:
            for old, new in zip((self.mean, self.var), running, strict=True):
                old.copy_(new.view_as(old))
        return out


class NodeNorm(_Norm):
    """`torch.nn.BatchNorm1d` over the nodes of every replica, weighted by their multiplicity.

    Args:
        width: number of features.
        replicas: number of replicas, whose nodes are equal parts of the rows; None for one.

    Example:
        >>> norm = NodeNorm(1)
        >>> x, weight = torch.tensor([[1.0], [3.0], [99.0]]), torch.tensor([1.0, 1.0, 0.0])
        >>> norm(x, weight)[:2].detach().round().flatten().tolist()
        [-1.0, 1.0]
    """

    def forward(self, x: Tensor, row_weight: Tensor | None = None) -> Tensor:
        """Normalise by the batch in training, by running statistics otherwise.

        Args:
            x: features of every node.
            row_weight: multiplicity of every row, 1 by default; 0 for padding, which becomes 0.
        """
        width, padded = x.size(1), row_weight is not None
        row_weight = x.new_ones(len(x)) if row_weight is None else row_weight
        weight, bias, mean, var = (
            t.view(-1, width) for t in (self.weight, self.bias, self.mean, self.var)
        )
        if self.training and use_kernel("norm", x):
            args = x, row_weight, weight, bias, mean, var
            out: Tensor = _Normalise.apply(*args)  # type: ignore[no-untyped-call]
            return out
        dtype = torch.promote_types(x.dtype, torch.float32)  # sums in half precision overflow
        parts = x.view(len(weight), -1, width).to(dtype)
        mean, var = mean.unsqueeze(1), var.unsqueeze(1)
        if self.training:
            counts = row_weight.view(len(weight), -1, 1).to(dtype)
            total = counts.sum(1, keepdim=True).clamp(min=1)
            running_mean, running_var = mean, var
            mean = (parts * counts).sum(1, keepdim=True) / total
            var = ((parts - mean).square() * counts).sum(1, keepdim=True) / total
            with torch.no_grad():
                running_mean.lerp_(mean.to(running_mean.dtype), MOMENTUM)
                unbiased = var * total / (total - 1).clamp(min=1)
                running_var.lerp_(unbiased.to(running_var.dtype), MOMENTUM)
        slope = (var + EPSILON).rsqrt() * weight.unsqueeze(1)
        out = ((parts - mean) * slope + bias.unsqueeze(1)).view_as(x).to(x.dtype)
        return torch.where(row_weight.unsqueeze(1) > 0, out, 0) if padded else out


class _Normalise(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, row_weight: Tensor, *args: Any) -> Tensor:
        x, state = x.contiguous(), load("norm").State(*args, EPSILON, MOMENTUM)
        out: Tensor
        out, statistics = load("norm").normalise(x, row_weight, state)
        ctx.save_for_backward(row_weight, state.weight, statistics, x)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        *rest, x = ctx.saved_tensors
        x_grad, *weight_grads = load("norm").gradient(x, grad.contiguous(), *rest)
        return x_grad, None, *weight_grads, None, None
