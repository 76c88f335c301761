"""Sums over sorted segments: the same bits in every run, differentiable to any order.

A sum over sorted rows needs no atomics, so two runs agree on a GPU too. Each sum here is the
product of a sparse matrix, given by its compressed rows, with a dense one; its gradient is the
product with the transpose.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool.nn.operators import traced_pool_max, traced_spmm
from sepool.nn.rows import SparseRows, column, maximum, saved, sum_rows, weight_gradient

__all__ = ["SparseRows", "column", "pool_max", "pool_sum", "spmm", "unpool"]


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
    function: Any = traced_spmm if torch.compiler.is_compiling() else _SpMM.apply
    product: Tensor = function(x, *rows, *transpose)
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
    function: Any = traced_pool_max if torch.compiler.is_compiling() else _PoolMax.apply
    result: Tensor = function(x, ptr, assignment, order)[0]
    return result


class _SpMM(Function):
    """`spmm` outside of torch.compile, also under the transforms of `torch.func`."""

    @staticmethod
    def forward(x: Tensor, *rows: Tensor | None) -> Tensor:
        return sum_rows(x, SparseRows(*rows[:3]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*saved(*inputs))
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
        x, *rest = ctx.saved_tensors
        rows, transpose = SparseRows(*rest[:3]), SparseRows(*rest[3:])
        terms = []
        if tangents[0] is not None:
            terms.append(spmm(rows, transpose, tangents[0]))
        if rows.weight is not None and tangents[3] is not None:
            rows, transpose = (
                part._replace(weight=change)
                for part, change in zip((rows, transpose), tangents[3::3], strict=True)
            )
            terms.append(spmm(rows, transpose, x))
        return sum(terms[1:], terms[0])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, *rest = ctx.saved_tensors
        rows, transpose = SparseRows(*rest[:3]), SparseRows(*rest[3:])
        to_x = spmm(transpose, rows, grad) if ctx.needs_input_grad[0] else None
        to_weight = weight_gradient(grad, x, rows) if ctx.needs_input_grad[3] else None
        return to_x, None, None, to_weight, None, None, None


class _PoolMax(Function):
    """`pool_max` and the shares of its gradient, also under the transforms of `torch.func`."""

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        return maximum(*inputs)

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

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Any) -> Any:
        share, *members = ctx.saved_tensors
        return unpool(grad, *members) * share, None, None, None
