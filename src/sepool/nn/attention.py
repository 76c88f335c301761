"""What nodes see of their neighbours, each as much as attention gives it (Velickovic et al.)."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool.nn.adjacency import Adjacency, attend, edge_softmax
from sepool.nn.gpu import load_kernels
from sepool.nn.ops import has_kernel, rows_like, unpool

SLOPE = 0.2  # of the LeakyReLU below 0
attention_kernels = load_kernels("sepool.nn.attention_kernels")


def attention(a: Adjacency, x: Tensor, scores: Tensor, extra: Tensor | None = None) -> Tensor:
    """``sum_j s_ij x_j`` with ``s_ij = softmax_j(LeakyReLU(t_i + s_j) + e_j)``.

    Args:
        a: who sees whom.
        x: the features of every node; with one row a replica, every replica has its own scores.
        scores: ``t`` and ``s`` of every node.
        extra: ``e`` of every node as a column, which gets no gradient; None for 0.

    Example:
        >>> pair = Adjacency(torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1]), symmetric=True)
        >>> attention(pair, torch.tensor([[1.0], [3.0]]), torch.zeros(2, 2)).flatten()
        tensor([2., 2.])
    """
    if _has_kernel(a, x):
        seen: Tensor = _Attention.apply(  # type: ignore[no-untyped-call]
            x, scores, extra, a.ptr, a.index
        )
        return seen
    target, source = scores.unbind(-1)
    ptr, _, order = a.transpose()
    score = unpool(source, ptr, a.index, order) + unpool(target, a.ptr, a.row)
    score = F.leaky_relu(score, SLOPE)
    if extra is not None:
        score = score + rows_like(extra.index_select(0, a.index), score)
    return attend(a, x, edge_softmax(a, score))


def _has_kernel(a: Adjacency, x: Tensor) -> bool:
    """The gradients are found along the same entries, as whoever is seen sees."""
    known = attention_kernels is not None and a.symmetric and x.dim() == 2
    return known and x.size(1) <= attention_kernels.WIDEST and has_kernel(x, len(a.index))


class _Attention(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, scores: Tensor, extra: Tensor | None, ptr: Tensor, index: Tensor
    ) -> Tensor:
        extra = None if extra is None else extra.to(x.dtype).contiguous()
        given = x.contiguous(), scores.contiguous(), extra, ptr, index
        out: Tensor
        out, norm = attention_kernels.attend(*given, SLOPE)
        ctx.save_for_backward(*given, norm)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        *given, norm = ctx.saved_tensors
        found = attention_kernels.gradients(*given, SLOPE, norm, grad.contiguous())
        return *found, None, None, None
