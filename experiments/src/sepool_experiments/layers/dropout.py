"""Dropout whose noise is a hash of a key, the same for a replica alone and among others."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from sepool_experiments.kernels.registry import load, use_kernel

SALT, _MASK = 0x85EBCA6B, 0xFFFFFFFF


class Keyed(nn.Module):
    """A layer whose randomness is a function of keys, one integer a replica, and of its salt."""

    def __init__(self, salt: int = 0) -> None:
        super().__init__()
        self.salt = salt
        self.keys: Tensor | None = None


class Dropout(Keyed):
    """Dropout with a rate and a key for every replica; the usual dropout without keys.

    The noise is a hash of the key, the layer's ``salt`` and the position, equal on all devices.

    Args:
        rate: dropout rate.
        salt: distinguishes the layers of a model.
        option: option of a configuration that sets the rate.

    Example:
        >>> layer = Dropout(0.5)
        >>> layer.keys = torch.tensor([7])
        >>> first = layer(torch.ones(4, 8))
        >>> bool((first == layer(torch.ones(4, 8))).all()), sorted(set(first.flatten().tolist()))
        (True, [0.0, 2.0])
    """

    def __init__(self, rate: float = 0.0, salt: int = 0, option: str = "dropout") -> None:
        super().__init__(salt)
        if not 0 <= rate < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {rate}")
        self.rate: float | Tensor = rate
        self.option = option

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements in training; return ``x`` otherwise."""
        if not self.training or (not isinstance(self.rate, Tensor) and self.rate == 0):
            return x
        if self.keys is None:
            return F.dropout(x, float(self.rate))
        replicas = len(self.keys)
        rate = torch.as_tensor(self.rate, device=x.device, dtype=x.dtype).expand(replicas)
        if use_kernel("dropout", x):
            out: Tensor = _DropRows.apply(  # type: ignore[no-untyped-call]
                x, self.keys, self.salt, rate
            )
            return out
        if x.dim() == 3:  # replicas side by side: (rows, replicas, width)
            parts, size = x, len(x) * x.size(2)
            position = torch.arange(size, device=x.device).view(len(x), 1, x.size(2))
        else:
            parts = x.view(replicas, -1)
            position = torch.arange(parts.size(1), device=x.device)
        mask = noise_at(self.keys, position, self.salt) >= rate.unsqueeze(1)
        return (parts * mask * (1 / (1 - rate)).unsqueeze(1)).view_as(x)

    def __repr__(self) -> str:
        rate = "one rate a replica" if isinstance(self.rate, Tensor) else self.rate
        return f"Dropout({rate})"


class _DropRows(Function):
    """Dropout of replicas in one pass; backward computes the noise again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, keys: Tensor, salt: int, rate: Tensor) -> Tensor:
        ctx.save_for_backward(keys, rate)
        ctx.salt = salt * SALT & _MASK
        out: Tensor = load("rows").drop_rows(x, keys, ctx.salt, rate)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        keys, rate = ctx.saved_tensors
        return load("rows").drop_rows(grad, keys, ctx.salt, rate), None, None, None


def noise(keys: Tensor, size: int, salt: int = 0) -> Tensor:
    """Return ``size`` numbers in [0, 1] for every key, equal on all devices."""
    return noise_at(keys, torch.arange(size, device=keys.device), salt)


def noise_at(keys: Tensor, position: Tensor, salt: int = 0) -> Tensor:
    """Return a number in [0, 1] for every key (second last axis of the result) and position."""
    start = mix(mix(keys + salt * SALT) + (keys >> 32))
    return mix(position * 0x9E3779B1 + start.unsqueeze(1)).float() * 2.0**-32


def mix(x: Tensor) -> Tensor:
    """Hash integers to 32 bits (the finaliser of MurmurHash3)."""
    x = x & _MASK
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & _MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & _MASK
    return x ^ (x >> 16)
