"""Sums over sorted segments: the same bits in every run, differentiable to any order.

A sum over sorted rows needs no atomics, so two runs agree on a GPU too. Each sum here is the
product of a sparse matrix, given by its compressed rows, with a dense one; its gradient is the
product with the transpose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function


class SparseRows(NamedTuple):
    """Compressed rows of a sparse matrix.

    Attributes:
        ptr: start of every row, and the end of the last; None: every row has one entry.
        col: column of every entry; None: 0, 1, 2, ...
        weight: value of every entry; None: 1.
    """

    ptr: Tensor | None
    col: Tensor | None
    weight: Tensor | None = None


def spmm(rows: SparseRows, transpose: SparseRows, x: Tensor) -> Tensor:
    """Product of a sparse matrix with ``x``, differentiable in ``x`` and the weights.

    Args:
        rows: the matrix.
        transpose: its transpose, which the gradient needs; weights included.
        x: one row a column of the matrix, of any shape.

    Example:
        >>> rows = SparseRows(torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1]))
        >>> transpose = SparseRows(torch.tensor([0, 1, 3]), torch.tensor([0, 0, 1]))
        >>> spmm(rows, transpose, torch.tensor([[1.0], [2.0]]))
        tensor([[3.],
                [2.]])
    """
    function: Any = _TracedSpMM if torch.compiler.is_compiling() else _SpMM
    product: Tensor = function.apply(x, *rows, *transpose)
    return product


def pool_sum(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """Sum of the rows in every cluster: ``S x``.

    Args:
        x: one row for every node of the level below.
        ptr: start of the members of every cluster, and the end of the last.
        assignment: cluster of every row of ``x``.
        order: rows sorted by cluster; None: sorted already.

    Example:
        >>> x = torch.tensor([[1.0], [2.0], [4.0]])
        >>> pool_sum(x, torch.tensor([0, 2, 3]), torch.tensor([0, 0, 1])).flatten()
        tensor([3., 4.])
    """
    return spmm(SparseRows(ptr, order), SparseRows(None, assignment), x)


def unpool(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """Copy of a cluster's row for each of its members: ``S^T x``; arguments as in `pool_sum`."""
    return spmm(SparseRows(None, assignment), SparseRows(ptr, order), x)


def pool_max(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """Maximum of every cluster; members that attain it share the gradient; as `pool_sum`."""
    function: Any = _TracedPoolMax if torch.compiler.is_compiling() else _PoolMax
    maximum: Tensor = function.apply(x, ptr, assignment, order)[0]
    return maximum


def column(values: Tensor, x: Tensor) -> Tensor:
    """One value a row, shaped and typed to multiply the rows of ``x``."""
    return values.view(-1, *[1] * (x.dim() - 1)).to(x.dtype)


def _spmm_backward(ctx: Any, grad: Tensor) -> Any:
    x, *rest = ctx.saved_tensors
    rows, transpose = SparseRows(*rest[:3]), SparseRows(*rest[3:])
    to_x = spmm(transpose, rows, grad) if ctx.needs_input_grad[0] else None
    to_weight = None
    if rows.weight is not None and ctx.needs_input_grad[3]:
        to_weight = (_row_of_entry(grad, rows) * _column_of_entry(x, rows)).flatten(1).sum(1)
        to_weight = to_weight.to(rows.weight.dtype)
    return to_x, None, None, to_weight, None, None, None


def _saved(x: Tensor, *rest: Tensor | None) -> tuple[Tensor | None, ...]:
    """Tensors for the gradient; only that of learned weights needs ``x``."""
    weight = rest[2]
    return (x if weight is not None and weight.requires_grad else None, *rest)


class _SpMM(Function):
    """`spmm`, also under the transforms of `torch.func`."""

    @staticmethod
    def forward(x: Tensor, *rows: Tensor | None) -> Tensor:
        return _sum_rows(x, SparseRows(*rows[:3]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*_saved(*inputs))
        ctx.save_for_forward(*inputs)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        if all(dim is None for dim in in_dims[1:]):  # the batch becomes an axis of every row
            x = inputs[0].movedim(in_dims[0], 1)
            return _SpMM.apply(x, *inputs[1:]), 1  # type: ignore[no-untyped-call]
        pairs = list(zip(inputs, in_dims, strict=True))
        products = [
            _SpMM.apply(  # type: ignore[no-untyped-call]
                *(value if dim is None else value.select(dim, i) for value, dim in pairs)
            )
            for i in range(info.batch_size)
        ]
        return torch.stack(products), 0

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        x, ptr, col, weight, *_ = ctx.saved_tensors
        terms = []
        if tangents[0] is not None:
            terms.append(_sum_rows(tangents[0], SparseRows(ptr, col, weight)))
        if weight is not None and tangents[3] is not None:
            terms.append(_sum_rows(x, SparseRows(ptr, col, tangents[3])))
        return sum(terms[1:], terms[0])

    backward = staticmethod(_spmm_backward)


class _TracedSpMM(Function):
    """`spmm` for torch.compile, which traces neither ``setup_context`` nor ``vmap`` and ``jvp``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *rows: Tensor | None) -> Tensor:
        ctx.save_for_backward(*_saved(x, *rows))
        return _sum_rows(x, SparseRows(*rows[:3]))

    backward = staticmethod(_spmm_backward)


def _maximum(
    x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Maximum of every cluster, and the share of every row in its gradient."""
    rows = SparseRows(ptr, order)
    maximum = _sum_rows(x, rows, "max")
    attains = (x == maximum.index_select(0, assignment)).to(x.dtype)
    # NaNs propagate through the count of maxima.
    count = _sum_rows(torch.where(x.isnan(), x, attains), rows).clamp(min=1)
    share = attains / count.index_select(0, assignment)
    return torch.where(count.isnan(), count, maximum), share


def _maximum_backward(ctx: Any, grad: Tensor, _: Any) -> Any:
    share, *members = ctx.saved_tensors
    return unpool(grad, *members) * share, None, None, None


class _PoolMax(Function):
    """`pool_max` and the shares of its gradient, also under the transforms of `torch.func`."""

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        return _maximum(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1], *inputs[1:])
        ctx.save_for_forward(output[1], *inputs[1:])

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        x = inputs[0].movedim(in_dims[0], 1)
        return _PoolMax.apply(x, *inputs[1:]), (1, 1)  # type: ignore[no-untyped-call]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        share, *members = ctx.saved_tensors
        return pool_sum(tangents[0] * share, *members), None

    backward = staticmethod(_maximum_backward)


class _TracedPoolMax(Function):
    """`pool_max` for torch.compile."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        maximum, share = _maximum(*inputs)
        ctx.mark_non_differentiable(share)
        ctx.save_for_backward(share, *inputs[1:])
        return maximum, share

    backward = staticmethod(_maximum_backward)


def _sum_rows(x: Tensor, rows: SparseRows, reduce: str = "sum") -> Tensor:
    """Sums, or maxima, of the entries' rows of ``x``; empty rows give 0."""
    ptr, col, weight = rows
    if x.is_cuda or ptr is None:
        taken = _column_of_entry(x, rows)
        taken = taken if weight is None else taken * column(weight, x)
        if ptr is None:
            return taken
        initial = 0 if reduce == "sum" else None
        out = torch.segment_reduce(taken, reduce, offsets=ptr, unsafe=True, initial=initial)
        return out if reduce == "sum" else out.masked_fill(column(ptr.diff() == 0, x) > 0, 0)
    if col is None:
        col = torch.arange(len(x), device=x.device)
    if not col.numel():
        return x.new_zeros(len(ptr) - 1, *x.shape[1:])
    weight = None if weight is None else weight.to(x.dtype)
    # PyTorch's embedding bags are sums of gathered rows, in one pass.
    table = x if x.dim() == 2 else x.unsqueeze(1).flatten(1)
    bags = F.embedding_bag(
        col, table, ptr, mode=reduce, per_sample_weights=weight, include_last_offset=True
    )
    return bags if x.dim() == 2 else bags.view(-1, *x.shape[1:])


def _column_of_entry(x: Tensor, rows: SparseRows) -> Tensor:
    return x if rows.col is None else x.index_select(0, rows.col)


def _row_of_entry(x: Tensor, rows: SparseRows) -> Tensor:
    return x if rows.ptr is None else torch.repeat_interleave(x, rows.ptr.diff(), 0)
