"""Batch normalisation over the nodes, for each replica on its own."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels

norm_kernels = load_kernels("sepool_experiments.kernels.norm")

EPSILON, MOMENTUM = 1e-5, 0.1  # as in PyTorch


class _Norm(nn.Module):
    """What both have: what is learned, and what training has seen."""

    mean: Tensor
    var: Tensor

    def __init__(self, width: int, replicas: int | None = None) -> None:
        super().__init__()
        shape = (width,) if replicas is None else (replicas, width)
        self.weight, self.bias = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.zeros(shape))
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("var", torch.ones(shape))

    def reset_parameters(self) -> None:
        """Forgets what was seen and learned."""
        for zero in (self.bias, self.mean):
            nn.init.zeros_(zero)
        for one in (self.weight, self.var):
            nn.init.ones_(one)

    def __repr__(self) -> str:
        replicas = "" if self.weight.dim() == 1 else f", replicas={len(self.weight)}"
        return f"{type(self).__name__}({self.weight.size(-1)}{replicas})"


class BatchNorm(_Norm):
    """Batch normalisation over the nodes, as `torch.nn.BatchNorm1d`; for each replica on its own.

    Args:
        width: the number of features.
        replicas: how many replicas stand side by side, ``x`` of the shape ``(N, R, width)``; None
            for ``x`` of the shape ``(N, width)``.

    Example:
        >>> BatchNorm(1)(torch.tensor([[1.0], [3.0]])).round().flatten().tolist()
        [-1.0, 1.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        """Normalises by the nodes at hand in training, by those seen in training otherwise."""
        # In lockstep, what belongs to a replica is a part of a longer row, so these are copies.
        seen = self.mean.flatten().clone(), self.var.flatten().clone()
        learned = self.weight.reshape(-1), self.bias.reshape(-1)
        out = F.batch_norm(x.flatten(1), *seen, *learned, training=self.training).view_as(x)
        if self.training:
            for old, new in zip((self.mean, self.var), seen, strict=True):
                old.copy_(new.view_as(old))
        return out


class NodeNorm(_Norm):
    """`torch.nn.BatchNorm1d` over the nodes of every replica, each as often as it counts.

    Args:
        width: the number of features.
        replicas: how many replicas, whose nodes are equal parts of the rows; None for one.
        relu: whether a ReLU follows.

    Example:
        >>> norm = NodeNorm(1)
        >>> x, times = torch.tensor([[1.0], [3.0], [99.0]]), torch.tensor([1.0, 1.0, 0.0])
        >>> norm(x, times)[:2].detach().round().flatten().tolist()
        [-1.0, 1.0]
    """

    def __init__(self, width: int, replicas: int | None = None, relu: bool = False) -> None:
        super().__init__(width, replicas)
        self.relu = relu

    def by_replica(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Weight, bias, mean and variance, one row a replica."""
        width = self.weight.size(-1)
        weight, bias = self.weight.view(-1, width), self.bias.view(-1, width)
        return weight, bias, self.mean.view(-1, width), self.var.view(-1, width)

    def has_kernel(self, x: Tensor) -> bool:
        """Whether kernels of our own normalise; they are for training."""
        return norm_kernels is not None and self.training and fits_kernels(x)

    def forward(self, x: Tensor, times: Tensor | None = None) -> Tensor:
        """Normalises by the nodes at hand in training, by those seen in training otherwise.

        Args:
            x: the features of every node.
            times: how often every row counts, once if this is left out; 0 for padding, which
                becomes 0.
        """
        width, padded = x.size(1), times is not None
        times = x.new_ones(len(x)) if times is None else times
        weight, bias, mean, var = self.by_replica()
        if self.has_kernel(x):
            out: Tensor = _Normalise.apply(  # type: ignore[no-untyped-call]
                x, times, weight, bias, mean, var, self.relu
            )
            return out
        many = torch.promote_types(x.dtype, torch.float32)  # sums of half precision are none
        parts = x.view(len(weight), -1, width).to(many)
        mean, var = mean.unsqueeze(1), var.unsqueeze(1)
        if self.training:
            counts = times.view(len(weight), -1, 1).to(many)
            total = counts.sum(1, keepdim=True).clamp(min=1)
            seen_mean, seen_var = mean, var
            mean = (parts * counts).sum(1, keepdim=True) / total
            var = ((parts - mean).square() * counts).sum(1, keepdim=True) / total
            with torch.no_grad():
                seen_mean.lerp_(mean.to(seen_mean.dtype), MOMENTUM)
                unbiased = var * total / (total - 1).clamp(min=1)
                seen_var.lerp_(unbiased.to(seen_var.dtype), MOMENTUM)
        slope = (var + EPSILON).rsqrt() * weight.unsqueeze(1)
        out = ((parts - mean) * slope + bias.unsqueeze(1)).view_as(x).to(x.dtype)
        if padded:
            out = torch.where(times.unsqueeze(1) > 0, out, 0)
        return out.relu() if self.relu else out


class _Normalise(Function):
    """Normalisation in training, by our kernels."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, times: Tensor, *others: Any) -> Tensor:
        *state, ctx.relu = others
        x, law = x.contiguous(), norm_kernels.Law(*state, EPSILON, MOMENTUM)
        out: Tensor
        out, known = norm_kernels.normalise(x, times, law, ctx.relu)
        ctx.save_for_backward(x, times, law.weight, law.bias, known)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, *rest = ctx.saved_tensors
        to_x, *to_weights = norm_kernels.gradient(x, grad.contiguous(), *rest, ctx.relu)
        return to_x, None, *to_weights, None, None, None
