"""Functions of the step: learning rates and the keys of random numbers."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sepool_experiments.layers.dropout import mix


def keys_at(keys: Tensor, steps: Tensor) -> Tensor:
    """Return the keys of every replica at a step, from those of its training."""
    return mix(keys + steps * 0x9E3779B1)


def rates_at(
    steps: Tensor, highest: Tensor, cosine: Tensor, epoch: float, warm_up: float, epochs: float
) -> Tensor:
    """Return the learning rates: constant, or a linear warm-up and half a cosine.

    Args:
        steps: number of steps including the next one.
        highest: highest rate of every replica.
        cosine: True for replicas with the cosine.
        epoch: steps an epoch.
        warm_up: epochs of warm-up.
        epochs: epochs in total.

    Example:
        >>> rate, cosine = torch.tensor([1.0, 1.0]), torch.tensor([True, False])
        >>> rates_at(torch.tensor(31), rate, cosine, epoch=10, warm_up=2, epochs=4)
        tensor([0.5000, 1.0000])
    """
    done = (steps - 1) / epoch
    progress = ((done - warm_up) / (epochs - warm_up)).clamp(0, 1)
    factor = torch.where(done < warm_up, done / warm_up, (1 + torch.cos(math.pi * progress)) / 2)
    return torch.where(cosine, highest * factor, highest)
