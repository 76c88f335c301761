"""Attention over the entries of an adjacency (Velickovic et al., "Graph attention networks")."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.kernels.registry import load, use_kernel
from sepool_experiments.layers.adjacency import Adjacency, edge_softmax, weighted_propagate
from sepool_experiments.layers.segments import as_factor, unpool

NEGATIVE_SLOPE = 0.2  # of LeakyReLU


def attention(a: Adjacency, x: Tensor, scores: Tensor, score_bias: Tensor | None = None) -> Tensor:
    """``sum_j s_ij x_j`` with ``s_ij = softmax_j(LeakyReLU(t_i + s_j) + b_j)``.

    Args:
        a: adjacency.
        x: features of every node; replicas side by side have scores of their own.
        scores: ``t`` and ``s`` of every node.
        score_bias: ``b`` of every node as a column, without gradient; None for 0.

    Example:
        >>> pair = Adjacency(torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1]), symmetric=True)
        >>> attention(pair, torch.tensor([[1.0], [3.0]]), torch.zeros(2, 2)).flatten()
        tensor([2., 2.])
    """
    if has_attention_kernel(a, x):
        bias = None if score_bias is None else score_bias.to(x.dtype).contiguous()
        args = x.contiguous(), scores.contiguous(), bias, a.ptr, a.index
        out: Tensor = _Attention.apply(*args)  # type: ignore[no-untyped-call]
        return out
    target_score, source_score = scores.unbind(-1)
    ptr, _, order = a.transpose()
    score = unpool(source_score, ptr, a.index, order) + unpool(target_score, a.ptr, a.row)
    score = F.leaky_relu(score, NEGATIVE_SLOPE)
    if score_bias is not None:
        score = score + as_factor(score_bias.index_select(0, a.index), score)
    return weighted_propagate(a, x, edge_softmax(a, score))


def has_attention_kernel(a: Adjacency, x: Tensor) -> bool:
    """Return True if the kernels take features as wide as ``x``.

    Their backward walks the same entries, so that the adjacency must be symmetric.
    """
    if not a.symmetric or x.dim() != 2 or not use_kernel("attention", x, len(a.index)):
        return False
    return bool(x.size(1) <= load("attention").MAX_WIDTH)


class _Attention(Function):
    @staticmethod
    def forward(ctx: Any, *args: Tensor | None) -> Tensor:
        out: Tensor
        out, log_sums = load("attention").attend(load("attention").Inputs(*args), NEGATIVE_SLOPE)
        ctx.save_for_backward(*args, log_sums)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        *args, log_sums = ctx.saved_tensors
        inputs = load("attention").Inputs(*args)
        grads = load("attention").gradients(inputs, NEGATIVE_SLOPE, log_sums, grad.contiguous())
        return *grads, None, None, None
