"""Maximum over the neighbours, on sparse and dense graphs."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.segments import segment_max, segment_sum


def sparse_max(a: Adjacency, x: Tensor) -> Tensor:
    """Return the maximum over the entries of every row; ties share the gradient.

    Example:
        >>> path = Adjacency(torch.tensor([0, 1, 3, 4]), torch.tensor([1, 0, 2, 1]), symmetric=True)
        >>> sparse_max(path, torch.tensor([[1.0], [2.0], [3.0]])).flatten().tolist()
        [2.0, 3.0, 2.0]
    """
    out: Tensor = _SparseMax.apply(  # type: ignore[no-untyped-call]
        x, a.ptr, a.index, a.row, *a.transpose()
    )
    return out


class _SparseMax(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, *rest: Tensor) -> Tensor:
        best = segment_max(x, ptr, index)
        ctx.save_for_backward(x, best, ptr, index, *rest)
        return best

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, best, ptr, index, row, col_ptr, _col, order = ctx.saved_tensors
        attained = (x.index_select(0, index) == best.index_select(0, row)).to(x.dtype)
        share = grad / segment_sum(attained, ptr).clamp(min=1)
        to_x = segment_sum(attained * share.index_select(0, row), col_ptr, order)
        return to_x, *[None] * 6


def dense_max(x: Tensor, near: Tensor, mask: Tensor, max_total: int) -> Tensor:
    """Return the maximum over the neighbours of every node, itself included; ties share gradients.

    Computed on the nodes without padding, one neighbour at a time, without a tensor of all pairs
    times the width.

    Args:
        x: ``(graphs, slots, width)``, 0 in padding.
        near: True for neighbours, ``(graphs, slots, slots)``.
        mask: False for padding, the last slots of a graph.
        max_total: upper bound of the number of nodes of all graphs.
    """
    graphs, slots = mask.shape
    flat, numbers = mask.flatten(), torch.arange(graphs * slots, device=x.device)
    inverse = (flat.cumsum(0) - 1).masked_fill(~flat, max_total)
    index = torch.zeros(max_total + 1, dtype=torch.int64, device=x.device)
    index = index.index_copy_(0, inverse, numbers)[:-1]
    ptr = F.pad(mask.sum(1).cumsum(0), (1, 0))
    out: Tensor = _DenseMax.apply(  # type: ignore[no-untyped-call]
        x, near.flatten(0, 1).index_select(0, index), index, inverse, ptr
    )
    return out


class _DenseMax(Function):
    """Maximum on the nodes without padding; ``near`` has one row for each."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, near: Tensor, index: Tensor, inverse: Tensor, ptr: Tensor
    ) -> Tensor:
        slots, graph = x.size(1), index // x.size(1)
        best = x.flatten(0, 1).index_select(0, index)
        for j in range(slots):
            other = x[:, j].index_select(0, graph)
            best = torch.where(near[:, j, None], torch.maximum(best, other), best)
        ctx.save_for_backward(x, near, index, ptr, best)
        return F.pad(best, (0, 0, 0, 1)).index_select(0, inverse).view_as(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, near, index, ptr, best = ctx.saved_tensors
        slots, graph = x.size(1), index // x.size(1)

        def attained(j: int) -> Tensor:
            hit: Tensor = (best == x[:, j].index_select(0, graph)) & near[:, j, None]
            return hit

        counts = torch.zeros_like(best)
        for j in range(slots):
            counts += attained(j)
        valid = torch.arange(len(index), device=x.device) < ptr[-1]  # False for unused entries
        share = grad.flatten(0, 1).index_select(0, index) * (valid[:, None] / counts.clamp(min=1))
        columns = [segment_sum(attained(j) * share, ptr) for j in range(slots)]
        return torch.stack(columns, 1), None, None, None, None
