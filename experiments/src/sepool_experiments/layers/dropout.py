"""Dropout whose noise is a function of a key, so that a replica drops what it would drop alone."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels

kernels = load_kernels("sepool_experiments.kernels.rows")

SALT, _MASK = 0x85EBCA6B, 0xFFFFFFFF


class Keyed(nn.Module):
    """A layer whose randomness is a function of keys, one whole number a replica.

    Args:
        salt: a number that no other such layer of the model has.
    """

    def __init__(self, salt: int = 0) -> None:
        super().__init__()
        self.salt = salt
        self.keys: Tensor | None = None


class Dropout(Keyed):
    """Dropout, with a rate for each replica where there are many.

    Without ``keys`` this is the usual dropout. With them, one whole number a replica, what is
    dropped is a hash of the key, of the layer's ``salt`` and of the place: the same on every
    device, and the same for a replica alone as for the same one among many.

    Args:
        rate: the share that is dropped.
        salt: a number that no other such layer of the model has.
        kind: which of the rates of a configuration this is, where there are several.

    Example:
        >>> layer = Dropout(0.5)
        >>> layer.keys = torch.tensor([7])
        >>> first = layer(torch.ones(4, 8))
        >>> bool((first == layer(torch.ones(4, 8))).all()), sorted(set(first.flatten().tolist()))
        (True, [0.0, 2.0])
    """

    def __init__(self, rate: float = 0.0, salt: int = 0, kind: str = "dropout") -> None:
        super().__init__(salt)
        if not 0 <= rate < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {rate}")
        self.rate: float | Tensor = rate
        self.kind = kind

    def forward(self, x: Tensor) -> Tensor:
        """Drops in training, does nothing else."""
        if not self.training or (not isinstance(self.rate, Tensor) and self.rate == 0):
            return x
        if self.keys is None:
            return F.dropout(x, float(self.rate))
        replicas = len(self.keys)
        rate = torch.as_tensor(self.rate, device=x.device, dtype=x.dtype).expand(replicas)
        if kernels is not None and fits_kernels(x):
            dropped: Tensor = _DropRows.apply(  # type: ignore[no-untyped-call]
                x, self.keys, self.salt, rate
            )
            return dropped
        if x.dim() == 3:  # replicas side by side: (rows, replicas, width)
            parts, size = x, len(x) * x.size(2)
            places = torch.arange(size, device=x.device).view(len(x), 1, x.size(2))
        else:
            parts = x.view(replicas, -1)
            places = torch.arange(parts.size(1), device=x.device)
        kept = noise_at(self.keys, places, self.salt) >= rate.unsqueeze(1)
        return (parts * kept * (1 / (1 - rate)).unsqueeze(1)).view_as(x)

    def __repr__(self) -> str:
        return (
            f"Dropout({self.rate if not isinstance(self.rate, Tensor) else 'one rate a replica'})"
        )


class _DropRows(Function):
    """Dropout of replicas in one pass; what is dropped is found again backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, keys: Tensor, salt: int, rate: Tensor) -> Tensor:
        ctx.save_for_backward(keys, rate)
        ctx.salt = salt * SALT & _MASK
        dropped: Tensor = kernels.drop_rows(x, keys, ctx.salt, rate)
        return dropped

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        keys, rate = ctx.saved_tensors
        return kernels.drop_rows(grad, keys, ctx.salt, rate), None, None, None


def noise(keys: Tensor, size: int, salt: int = 0) -> Tensor:
    """``size`` numbers from 0 to 1 for every key, on every device the same."""
    return noise_at(keys, torch.arange(size, device=keys.device), salt)


def noise_at(keys: Tensor, places: Tensor, salt: int = 0) -> Tensor:
    """A number from 0 to 1 for every key (the last axis but one of the result) and place."""
    start = mix(mix(keys + salt * SALT) + (keys >> 32))
    return mix(places * 0x9E3779B1 + start.unsqueeze(1)).float() * 2.0**-32


def mix(x: Tensor) -> Tensor:
    """Spreads whole numbers over 32 bits (the last steps of MurmurHash3)."""
    x = x & _MASK
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & _MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & _MASK
    return x ^ (x >> 16)
