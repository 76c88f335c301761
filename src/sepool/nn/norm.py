"""Batch normalisation over the nodes, for each replica on its own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MOMENTUM, EPSILON = 0.1, 1e-5  # as in PyTorch


class BatchNorm(nn.Module):
    """Batch normalisation over the nodes, as `torch.nn.BatchNorm1d`; for each replica on its own.

    Args:
        width: the number of features.
        replicas: how many replicas; None for one. They stand side by side, ``x`` of the shape
            ``(N, R, width)``, or one behind the other in a matrix of equally many rows a replica.

    Example:
        >>> BatchNorm(1)(torch.tensor([[1.0], [3.0]])).round().flatten().tolist()
        [-1.0, 1.0]
    """

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

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """Normalises by the nodes at hand in training, by those seen in training otherwise.

        Args:
            x: the features of every node.
            real: how many of a replica's rows are nodes, where replicas are one behind the other;
                the rows after them are padding, which counts for nothing and becomes 0.
        """
        if x.dim() == 2 and self.weight.dim() == 2:
            parts = x.view(len(self.weight), -1, x.size(1))
            if real is None:
                real = torch.full((len(parts),), parts.size(1), device=x.device)
            return self._without_padding(parts, real).view_as(x)
        # In lockstep, what belongs to a replica is a part of a longer row, so these are copies.
        seen = self.mean.flatten().clone(), self.var.flatten().clone()
        learned = self.weight.reshape(-1), self.bias.reshape(-1)
        out = F.batch_norm(x.flatten(1), *seen, *learned, training=self.training).view_as(x)
        if self.training:
            for old, new in zip((self.mean, self.var), seen, strict=True):
                old.copy_(new.view_as(old))
        return out

    def _without_padding(self, parts: Tensor, real: Tensor) -> Tensor:
        rows = torch.arange(parts.size(1), device=parts.device)
        there = (rows < real.unsqueeze(1)).unsqueeze(2)
        mean, var = self.mean, self.var
        if self.training:
            count = real.unsqueeze(1)
            mean = torch.where(there, parts, 0).sum(1) / count
        far = torch.where(there, parts - mean.unsqueeze(1), 0)
        if self.training:
            var = far.square().sum(1) / count
            with torch.no_grad():
                self.mean.lerp_(mean, MOMENTUM)
                self.var.lerp_(var * count / (count - 1).clamp(min=1), MOMENTUM)
        scale = self.weight * (var + EPSILON).rsqrt()
        out = torch.addcmul(self.bias.unsqueeze(1), far, scale.unsqueeze(1))
        return torch.where(there, out, 0)

    def __repr__(self) -> str:
        replicas = "" if self.weight.dim() == 1 else f", replicas={len(self.weight)}"
        return f"BatchNorm({self.weight.size(-1)}{replicas})"
