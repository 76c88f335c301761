"""Batch normalisation over the nodes of one graph, for each replica on its own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BatchNorm(nn.Module):
    """Batch normalisation over the nodes, as `torch.nn.BatchNorm1d`; for each replica on its own.

    Args:
        width: the number of features.
        replicas: how many replicas stand side by side, ``x`` of the shape ``(N, R, width)``; None
            for ``x`` of the shape ``(N, width)``.

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

    def __repr__(self) -> str:
        replicas = "" if self.weight.dim() == 1 else f", replicas={len(self.weight)}"
        return f"BatchNorm({self.weight.size(-1)}{replicas})"
