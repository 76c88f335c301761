"""A step of Adam for many replicas at once, each with its own rate, decay and clipped gradient."""

from __future__ import annotations

from torch import Tensor

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels

adam_kernel = load_kernels("sepool_experiments.kernels.adam")

BETAS, EPSILON, TINY = (0.9, 0.999), 1e-8, 1e-6


def adam_step(
    weights: Tensor,
    gradient: Tensor,
    moments: Tensor,
    steps: Tensor,
    rate: Tensor,
    decay: Tensor,
    norm: Tensor | None,
    clip: float,
    columns: slice,
) -> None:
    """Changes some columns of the weights, one row a replica, and of both moments.

    Args:
        weights: one row a replica.
        gradient: likewise; what it holds afterwards is not said.
        moments: the first and the second, each like the weights.
        steps: how many there were, this one included.
        rate: the learning rate of every replica, as a column.
        decay: the weight decay of every replica, as a column.
        norm: the norm of every replica's gradient, as a column; None where nothing is clipped.
        clip: the largest norm.
        columns: which weights.
    """
    if adam_kernel is not None and fits_kernels(weights):
        state = weights, gradient, moments, steps, rate, decay, norm, clip, columns
        adam_kernel.adam(*state, BETAS, EPSILON, TINY)
        return
    grad, mine = gradient[:, columns], weights[:, columns]
    first, second = moments[:, :, columns]
    if norm is not None:
        grad *= (clip / (norm + TINY)).clamp_(max=1)
    grad.addcmul_(mine, decay)
    first.lerp_(grad, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(grad, grad, value=1 - BETAS[1])
    ones = [1 - beta ** steps.float() for beta in BETAS]
    denominator = (second / ones[1]).sqrt_().add_(EPSILON)
    mine.addcdiv_(first * (-rate / ones[0]), denominator)
