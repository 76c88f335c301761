"""Attention over the entries of an adjacency (Velickovic et al., "Graph attention networks")."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.kernels.registry import load, use_kernel
from sepool_experiments.layers.adjacency import Adjacency, edge_softmax, weighted_propagate
from sepool_experiments.layers.segments import as_factor, gather_sum, pool_relu, unpool

NEGATIVE_SLOPE = 0.2  # of LeakyReLU


class Lookup(NamedTuple):
    """Features and scores of distinct nodes, and the index of every node among them.

    Attributes:
        x: features.
        scores: scores.
        row_index: row of every node; None if every node has its own.
    """

    x: Tensor
    scores: Tensor
    row_index: Tensor | None = None


def attention(
    a: Adjacency,
    x: Tensor,
    scores: Tensor,
    score_bias: Tensor | None = None,
    lookup: Lookup | None = None,
) -> Tensor:
    """``sum_j s_ij x_j`` with ``s_ij = softmax_j(LeakyReLU(t_i + s_j) + b_j)``.

    Args:
        a: adjacency.
        x: features of every node; replicas side by side have scores of their own.
        scores: ``t`` and ``s`` of every node.
        score_bias: ``b`` of every node as a column, without gradient; None for 0.
        lookup: values of ``x`` and ``scores``, if `has_attention_kernel`; ``x`` and ``scores`` only
            receive gradients then.

    Example:
        >>> pair = Adjacency(torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1]), symmetric=True)
        >>> attention(pair, torch.tensor([[1.0], [3.0]]), torch.zeros(2, 2)).flatten()
        tensor([2., 2.])
    """
    if has_attention_kernel(a, x):
        return _kernel_attention(a, x, scores, score_bias, lookup)
    assert lookup is None, "only the kernels take a lookup"
    target, source = scores.unbind(-1)
    ptr, _, order = a.transpose()
    score = unpool(source, ptr, a.index, order) + unpool(target, a.ptr, a.row)
    score = F.leaky_relu(score, NEGATIVE_SLOPE)
    if score_bias is not None:
        score = score + as_factor(score_bias.index_select(0, a.index), score)
    return weighted_propagate(a, x, edge_softmax(a, score))


def pooled_attention(
    a: Adjacency,
    x: Tensor,
    scores: Tensor,
    score_bias: Tensor | None,
    ptr: Tensor,
    assignment: Tensor,
    row_weight: Tensor | None = None,
    lookup: Lookup | None = None,
) -> Tensor:
    """``S relu(attention)``; other arguments as in `attention`.

    Args:
        a: adjacency.
        x: features.
        scores: scores.
        score_bias: bias of the scores.
        ptr: start of the members of every cluster, which are consecutive.
        assignment: cluster of every node.
        row_weight: factor of every node in the sum; None for 1.
        lookup: values of features and scores.
    """
    if has_attention_kernel(a, x):
        return _kernel_attention(a, x, scores, score_bias, lookup, ptr, assignment, row_weight)
    out = attention(a, x, scores, score_bias, lookup)
    return pool_relu(out, ptr, assignment, row_weight=row_weight)


def has_attention_kernel(a: Adjacency, x: Tensor) -> bool:
    """Return True if the kernels take features as wide as ``x``.

    Their backward walks the same entries, so that the adjacency must be symmetric.
    """
    if not a.symmetric or x.dim() != 2 or not use_kernel("attention", x, len(a.index)):
        return False
    return bool(x.size(1) <= load("attention").MAX_WIDTH)


def _kernel_attention(
    a: Adjacency,
    x: Tensor,
    scores: Tensor,
    score_bias: Tensor | None,
    lookup: Lookup | None,
    ptr: Tensor | None = None,
    assignment: Tensor | None = None,
    row_weight: Tensor | None = None,
) -> Tensor:
    score_bias, row_weight = (
        None if values is None else values.to(x.dtype).contiguous()
        for values in (score_bias, row_weight)
    )
    values = Lookup(x, scores) if lookup is None else lookup
    tensors = [tensor.detach().contiguous() for tensor in values[:2]]
    args = *tensors, values.row_index, score_bias, a.ptr, a.index, assignment, row_weight
    out: Tensor = _Attention.apply(x, scores, ptr, *args)  # type: ignore[no-untyped-call]
    return out


class _Attention(Function):
    """`attention`, or `pooled_attention` with the clusters' ``ptr``."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, scores: Tensor, ptr: Tensor | None, *args: Tensor | None
    ) -> Tensor:
        inputs = load("attention").Inputs(*args)
        out: Tensor
        out, log_sums, positive = load("attention").attend(inputs, NEGATIVE_SLOPE)
        ctx.save_for_backward(*args, log_sums, positive)
        return out if ptr is None else gather_sum(out, ptr, weight=inputs.row_weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        *args, log_sums, positive = ctx.saved_tensors
        grads = load("attention").gradients(
            load("attention").Inputs(*args), NEGATIVE_SLOPE, log_sums, positive, grad.contiguous()
        )
        return *grads, *[None] * 9
