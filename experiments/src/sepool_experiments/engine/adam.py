"""Adam for many replicas, each with its own rate, decay and clipped gradient."""

from __future__ import annotations

from torch import Tensor

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
    """Update some columns of the weights and of both moments in place; clobbers the gradient.

    Weights and gradient have a row a replica, rate, decay and norm are columns; without a norm
    nothing is clipped. ``steps`` includes this one.
    """
    grad, weight = gradient[:, columns], weights[:, columns]
    first, second = moments[:, :, columns]
    if norm is not None:
        grad *= (clip / (norm + TINY)).clamp_(max=1)
    grad.addcmul_(weight, decay)
    first.lerp_(grad, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(grad, grad, value=1 - BETAS[1])
    corrections = [1 - beta ** steps.float() for beta in BETAS]
    denominator = (second / corrections[1]).sqrt_().add_(EPSILON)
    weight.addcdiv_(first * (-rate / corrections[0]), denominator)
