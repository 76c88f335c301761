"""What nodes see of their neighbours, each as much as attention gives it (Velickovic et al.)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.adjacency import Adjacency, attend, edge_softmax
from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import gather_sum, has_kernel, pool_relu, rows_like, unpool

SLOPE = 0.2  # of the LeakyReLU below 0
attention_kernels = load_kernels("sepool_experiments.kernels.attention")


class Table(NamedTuple):
    """Features and scores of which many nodes have the same.

    Attributes:
        x: a line of features for every kind of node.
        scores: likewise.
        place: the line of every node; None where each has its own.
    """

    x: Tensor
    scores: Tensor
    place: Tensor | None = None


def attention(
    a: Adjacency,
    x: Tensor,
    scores: Tensor,
    extra: Tensor | None = None,
    table: Table | None = None,
) -> Tensor:
    """``sum_j s_ij x_j`` with ``s_ij = softmax_j(LeakyReLU(t_i + s_j) + e_j)``.

    Args:
        a: who sees whom.
        x: the features of every node; with one row a replica, every replica has its own scores.
        scores: ``t`` and ``s`` of every node.
        extra: ``e`` of every node as a column, which gets no gradient; None for 0.
        table: where ``x`` and ``scores`` are looked up, where `sees_by_kernels`; what stands in
            them is not read then, but they get the gradients of all nodes.

    Example:
        >>> pair = Adjacency(torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1]), symmetric=True)
        >>> attention(pair, torch.tensor([[1.0], [3.0]]), torch.zeros(2, 2)).flatten()
        tensor([2., 2.])
    """
    if sees_by_kernels(a, x):
        return _by_kernels(a, x, scores, extra, table)
    assert table is None, "a table is for kernels"
    target, source = scores.unbind(-1)
    ptr, _, order = a.transpose()
    score = unpool(source, ptr, a.index, order) + unpool(target, a.ptr, a.row)
    score = F.leaky_relu(score, SLOPE)
    if extra is not None:
        score = score + rows_like(extra.index_select(0, a.index), score)
    return attend(a, x, edge_softmax(a, score))


def attention_pool(
    a: Adjacency,
    x: Tensor,
    scores: Tensor,
    extra: Tensor | None,
    ptr: Tensor,
    assignment: Tensor,
    times: Tensor | None = None,
    table: Table | None = None,
) -> Tensor:
    """``S relu(attention)``, whose gradient kernels read from the clusters.

    Args:
        a: as in `attention`, like all that is not said here.
        x: the features.
        scores: the scores.
        extra: what is added to them.
        ptr: where the members of every cluster begin; they are neighbours.
        assignment: the cluster of every node.
        times: how often every node counts; None for once.
        table: where features and scores are looked up.
    """
    if sees_by_kernels(a, x):
        return _by_kernels(a, x, scores, extra, table, ptr, assignment, times)
    return pool_relu(attention(a, x, scores, extra, table), ptr, assignment, times=times)


def sees_by_kernels(a: Adjacency, x: Tensor) -> bool:
    """Whether kernels are taken, for as wide rows as those of ``x``.

    They find gradients along the same entries, as whoever is seen sees.
    """
    known = attention_kernels is not None and a.symmetric and x.dim() == 2
    return known and x.size(1) <= attention_kernels.WIDEST and has_kernel(x, len(a.index))


def _by_kernels(
    a: Adjacency,
    x: Tensor,
    scores: Tensor,
    extra: Tensor | None,
    table: Table | None,
    ptr: Tensor | None = None,
    assignment: Tensor | None = None,
    times: Tensor | None = None,
) -> Tensor:
    extra, times = (
        None if values is None else values.to(x.dtype).contiguous() for values in (extra, times)
    )
    lines = Table(x, scores) if table is None else table
    read = [tensor.detach().contiguous() for tensor in lines[:2]]
    given = *read, lines.place, extra, a.ptr, a.index, assignment, times
    seen: Tensor = _Attention.apply(x, scores, ptr, *given)  # type: ignore[no-untyped-call]
    return seen


class _Attention(Function):
    """What nodes see, or its ReLU summed to clusters, where some begin at ``ptr``."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, scores: Tensor, ptr: Tensor | None, *given: Tensor | None
    ) -> Tensor:
        told = attention_kernels.Given(*given)
        out: Tensor
        out, norm, gate = attention_kernels.attend(told, SLOPE)
        ctx.save_for_backward(*given, norm, gate)
        return out if ptr is None else gather_sum(out, ptr, weight=told.times)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        *given, norm, gate = ctx.saved_tensors
        found = attention_kernels.gradients(
            attention_kernels.Given(*given), SLOPE, norm, gate, grad.contiguous()
        )
        return *found, *[None] * 9
