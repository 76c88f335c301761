"""What is worked out of small dense matrices, one a graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels

dense_kernels = load_kernels("sepool_experiments.kernels.dense")

TINY = 1e-12


def normalise(a: Tensor, loops: bool) -> Tensor:
    """``D^-1/2 A D^-1/2``, where ``A`` first gets a loop at every node, or loses all it has.

    Example:
        >>> normalise(torch.tensor([[[5.0, 4.0], [4.0, 0.0]]]), loops=False)
        tensor([[[0., 1.],
                 [1., 0.]]])
    """
    if _has_kernel(a):
        scaled: Tensor = _Normalise.apply(a, loops)  # type: ignore[no-untyped-call]
        return scaled
    eye = torch.eye(a.size(1), device=a.device)
    a = a + eye if loops else a * (1 - eye)
    scale = a.sum(2, keepdim=True).clamp(min=TINY).rsqrt()
    return scale * a * scale.transpose(1, 2)


def crowding(overlap: Tensor) -> Tensor:
    """``| S^T S / |S^T S|_F - I / sqrt(k) |_F`` of every ``S^T S``."""
    if _has_kernel(overlap):
        found: Tensor = _Crowding.apply(overlap)  # type: ignore[no-untyped-call]
        return found
    k = overlap.size(1)
    even = torch.eye(k, device=overlap.device) / k**0.5
    return _norm(overlap / _norm(overlap).view(-1, 1, 1) - even)


def _norm(matrices: Tensor) -> Tensor:
    """The Frobenius norm of every matrix, with a gradient even at 0."""
    return matrices.square().sum((1, 2)).clamp(min=TINY).sqrt()


class _Normalise(Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, loops: bool) -> Tensor:
        a = _row_by_row(a)
        ctx.save_for_backward(a)
        ctx.loops = loops
        scaled: Tensor = dense_kernels.normalise(a, loops, TINY)
        return scaled

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        return dense_kernels.normalise_gradient(*ctx.saved_tensors, grad, ctx.loops, TINY), None


class _Crowding(Function):
    @staticmethod
    def forward(ctx: Any, overlap: Tensor) -> Tensor:
        found: Tensor
        found, gradient = dense_kernels.crowding(_row_by_row(overlap), TINY)
        ctx.save_for_backward(gradient)
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (gradient,) = ctx.saved_tensors
        return gradient * grad.view(-1, 1, 1)


def _row_by_row(matrices: Tensor) -> Tensor:
    """The same; parts of wider matrices are left where they are."""
    return matrices if matrices.stride(2) == 1 else matrices.contiguous()


def _has_kernel(x: Tensor) -> bool:
    if dense_kernels is None or not fits_kernels(x):
        return False
    return bool(x.size(1) <= dense_kernels.LARGEST)
