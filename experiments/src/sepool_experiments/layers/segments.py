"""Sums, maxima and copies over segments of rows: sorted, without atomics, differentiable.

A sum over sorted segments is reproducible bit for bit, also on a GPU. Gradients are such sums
again: the backward of a sum is a copy and vice versa.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.kernels.registry import load, use_kernel
from sepool_experiments.layers.feature_table import Features, FeatureTable


def segment_sum(x: Tensor, ptr: Tensor, index: Tensor | None = None) -> Tensor:
    """Sum rows ``ptr[i]`` to ``ptr[i + 1]`` of ``x``, or of ``x[index]``, for every ``i``.

    Not differentiable by itself; see `pool_sum`.

    Example:
        >>> segment_sum(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 2, 2, 3]))
        tensor([[3.],
                [0.],
                [4.]])
    """
    return gather_sum(x, ptr, index)


def scalar_segment_sum(values: Tensor, ptr: Tensor) -> Tensor:
    """`segment_sum` of a vector."""
    return torch.segment_reduce(values, "sum", offsets=ptr, unsafe=True, initial=0)


def segment_max(x: Tensor, ptr: Tensor, index: Tensor | None = None) -> Tensor:
    """Maximum of the rows that `segment_sum` would add; 0 for empty segments."""
    return gather_sum(x, ptr, index, mode="max")


def pool_sum(
    x: Tensor,
    ptr: Tensor,
    assignment: Tensor,
    order: Tensor | None = None,
    row_weight: Tensor | None = None,
) -> Tensor:
    """``S x``: sum of the rows of every cluster.

    Args:
        x: one row a node of the level below.
        ptr: start of the members of every cluster.
        assignment: cluster of every row of ``x``.
        order: rows sorted by cluster; None if they are sorted.
        row_weight: factor of every row, which must be sorted by cluster then; None for 1.
    """
    assert row_weight is None or order is None, "weighted rows must be sorted by cluster"
    args = x, ptr, assignment, order, row_weight
    out: Tensor = _Pool.apply(*args)  # type: ignore[no-untyped-call]
    return out


def unpool(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """``S^T x``: copy every row to the members of its cluster; arguments as in `pool_sum`."""
    out: Tensor = _Unpool.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return out


def pool_max(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """Maximum of every cluster; members that attain it share the gradient."""
    out: Tensor = _PoolMax.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return out


class _Pool(Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        ptr: Tensor,
        assignment: Tensor,
        order: Tensor | None,
        row_weight: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(ptr, assignment, order, row_weight)
        return gather_sum(x, ptr, order, row_weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, assignment, order, row_weight = ctx.saved_tensors
        grad = unpool(grad, ptr, assignment, order)
        grad = grad if row_weight is None else grad * as_factor(row_weight, grad)
        return grad, None, None, None, None


class _PoolMax(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        maximum = segment_max(x, ptr, order)
        attained = (x == maximum.index_select(0, assignment)).to(x.dtype)
        # NaNs propagate through the count of maxima.
        count = segment_sum(torch.where(x.isnan(), x, attained), ptr, order).clamp_(min=1)
        share = attained / count.index_select(0, assignment)
        ctx.save_for_backward(share, ptr, assignment, order)
        return torch.where(count.isnan(), count, maximum)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        share, ptr, assignment, order = ctx.saved_tensors
        return unpool(grad, ptr, assignment, order) * share, None, None, None


class _Unpool(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(ptr, assignment, order)
        return x.index_select(0, assignment)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, assignment, order = ctx.saved_tensors
        return pool_sum(grad, ptr, assignment, order), None, None, None


def as_factor(values: Tensor, x: Tensor) -> Tensor:
    """Reshape and cast one value a row so that it multiplies the rows of ``x``."""
    return values.view(-1, *[1] * (x.dim() - 1)).to(x.dtype)


def rows_at(x: Features, row_index: Tensor | None) -> Tensor:
    """``x[row_index]``, or ``x`` itself if it has a row for every node."""
    if isinstance(x, FeatureTable):
        assert row_index is not None, "a feature table needs the row index of every node"
        return x.take(row_index)
    return x if row_index is None else x.index_select(0, row_index)


def dot_rows(left: Tensor, left_index: Tensor, right: Tensor, right_index: Tensor) -> Tensor:
    """``left[left_index] . right[right_index]``, row by row."""
    products = left.index_select(0, left_index) * right.index_select(0, right_index)
    return products.flatten(1).sum(-1)


def gather_sum(
    x: Tensor,
    ptr: Tensor,
    index: Tensor | None = None,
    weight: Tensor | None = None,
    mode: str = "sum",
) -> Tensor:
    """Sum ``weight * x[index]`` over segments; their maximum with ``mode="max"``."""
    weight = None if weight is None else weight.to(x.dtype)
    if use_kernel("segment_sum", x, 0 if index is None else len(index)):
        out: Tensor = load("rows").sum_rows(_matrix(x), ptr, index, weight, mode=mode)
        return out.view(-1, *x.shape[1:])
    if x.is_cuda:
        taken = x if index is None else x.index_select(0, index)
        taken = taken if weight is None else taken * as_factor(weight, x)
        initial = 0 if mode == "sum" else None
        out = torch.segment_reduce(taken, mode, offsets=ptr, unsafe=True, initial=initial)
        return out if mode == "sum" else out.masked_fill(as_factor(ptr.diff(), x) == 0, 0)
    if index is None:
        index = torch.arange(len(x), device=x.device)
    if not index.numel():
        return x.new_zeros(len(ptr) - 1, *x.shape[1:])
    bags = F.embedding_bag(  # the fastest such sum on a CPU
        index, _matrix(x), ptr, mode=mode, per_sample_weights=weight, include_last_offset=True
    )
    return bags if x.dim() == 2 else bags.view(-1, *x.shape[1:])


def _matrix(x: Tensor) -> Tensor:
    """Flatten the rows of ``x``."""
    return x if x.dim() == 2 else x.unsqueeze(1).flatten(1)
