"""Normalisation and losses of small dense matrices, one a graph."""

from __future__ import annotations

import torch
from torch import Tensor

TINY = 1e-12


def normalise(a: Tensor, loops: bool) -> Tensor:
    """Return ``D^-1/2 A D^-1/2``, with a loop added to every node or all loops removed.

    Example:
        >>> normalise(torch.tensor([[[5.0, 4.0], [4.0, 0.0]]]), loops=False)
        tensor([[[0., 1.],
                 [1., 0.]]])
    """
    eye = torch.eye(a.size(1), device=a.device)
    a = a + eye if loops else a * (1 - eye)
    scale = a.sum(2, keepdim=True).clamp(min=TINY).rsqrt()
    return scale * a * scale.transpose(1, 2)


def orthogonality_loss(overlap: Tensor) -> Tensor:
    """Return ``| S^T S / |S^T S|_F - I / sqrt(k) |_F`` of every ``S^T S``."""
    k = overlap.size(1)
    even = torch.eye(k, device=overlap.device) / k**0.5
    return _norm(overlap / _norm(overlap).view(-1, 1, 1) - even)


def _norm(matrices: Tensor) -> Tensor:
    """Return the Frobenius norm of every matrix; its gradient is finite at 0."""
    return matrices.square().sum((1, 2)).clamp(min=TINY).sqrt()
