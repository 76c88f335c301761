"""What depends on the step alone: learning rates, and the keys of what is random."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sepool_experiments.layers.dropout import mix
from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels

step_kernels = load_kernels("sepool_experiments.kernels.steps")


def keys_at(keys: Tensor, steps: Tensor) -> Tensor:
    """The keys of every replica at a step, from those of its training."""
    if step_kernels is not None and keys.is_cuda:
        found: Tensor = step_kernels.keys_at(keys, steps)
        return found
    return mix(keys + steps * 0x9E3779B1)


def rates_at(
    steps: Tensor, highest: Tensor, cosine: Tensor, epoch: float, warm: float, epochs: float
) -> Tensor:
    """The learning rates: constant, or up to the highest and down in half a cosine.

    Args:
        steps: how many there were, the next one included.
        highest: the rates of all replicas.
        cosine: which of them are not constant.
        epoch: the steps of an epoch.
        warm: for how many epochs rates go up.
        epochs: how many there are.

    Example:
        >>> rate, cosine = torch.tensor([1.0, 1.0]), torch.tensor([True, False])
        >>> rates_at(torch.tensor(31), rate, cosine, epoch=10, warm=2, epochs=4)
        tensor([0.5000, 1.0000])
    """
    if step_kernels is not None and fits_kernels(highest):
        found: Tensor = step_kernels.rates_at(steps, highest, cosine, epoch, warm, epochs)
        return found
    done = (steps - 1) / epoch
    rest = ((done - warm) / (epochs - warm)).clamp(0, 1)
    wave = torch.where(done < warm, done / warm, (1 + torch.cos(math.pi * rest)) / 2)
    return torch.where(cosine, highest * wave, highest)
