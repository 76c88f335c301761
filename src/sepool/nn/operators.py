"""Sums and maxima of rows as operators of PyTorch, for torch.compile and torch.export.

A compiled graph calls an operator as it is, at any size; eager code has the transforms of
`torch.func` instead (`sepool.nn.segments`). A program from `torch.export` that is loaded elsewhere
needs ``import sepool.nn.operators`` before. Lengths are ``size(0)`` here: ``len`` makes a constant
of a size that changes between batches.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from sepool.nn.rows import SparseRows, maximum, saved, sum_rows, weight_gradient
from sepool.pyg.pytree import register_hierarchy

_ROWS = "Tensor? {0}ptr, Tensor? {0}col, Tensor? {0}weight"
_SPMM = f"spmm(Tensor x, {_ROWS.format('')}, {_ROWS.format('t_')}) -> Tensor"
_POOL_MAX = "pool_max(Tensor x, Tensor ptr, Tensor assignment, Tensor? order) -> (Tensor, Tensor)"


def traced_spmm(*inputs: Tensor | None) -> Tensor:
    """`sepool.nn.segments.spmm` as an operator; the fields of both matrices follow ``x``."""
    product: Tensor = torch.ops.sepool.spmm.default(*inputs)
    return product


def traced_pool_max(*inputs: Tensor | None) -> tuple[Tensor, Tensor]:
    """`sepool.nn.segments.pool_max` as an operator, with the shares of its gradient."""
    result: tuple[Tensor, Tensor] = torch.ops.sepool.pool_max.default(*inputs)
    return result


def _spmm(x: Tensor, *rows: Tensor | None) -> Tensor:
    return sum_rows(x, SparseRows(*rows[:3]))


def _empty_product(x: Tensor, *rows: Tensor | None) -> Tensor:
    ptr, col, *_ = rows
    if ptr is not None:
        return x.new_empty(ptr.size(0) - 1, *x.shape[1:])
    return x.new_empty(x.shape if col is None else (col.size(0), *x.shape[1:]))


def _save_spmm(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*saved(*inputs))


def _spmm_backward(ctx: Any, grad: Tensor) -> Any:
    x, *rest = ctx.saved_tensors
    to_x = traced_spmm(grad, *rest[3:], *rest[:3]) if ctx.needs_input_grad[0] else None
    rows = SparseRows(*rest[:3])
    to_weight = weight_gradient(grad, x, rows) if ctx.needs_input_grad[3] else None
    return to_x, None, None, to_weight, None, None, None


def _empty_maximum(
    x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
) -> tuple[Tensor, Tensor]:
    return x.new_empty(ptr.size(0) - 1, *x.shape[1:]), torch.empty_like(x)


def _save_maximum(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1], *inputs[1:])


def _maximum_backward(ctx: Any, grad: Tensor, _: Any) -> Any:
    share, ptr, assignment, order = ctx.saved_tensors
    rows, transpose = SparseRows(None, assignment), SparseRows(ptr, order)
    return traced_spmm(grad, *rows, *transpose) * share, None, None, None


def _register() -> Any:
    library: Any = torch.library.Library("sepool", "FRAGMENT")  # type: ignore[no-untyped-call]
    for schema, compute, empty, save, backward in (
        (_SPMM, _spmm, _empty_product, _save_spmm, _spmm_backward),
        (_POOL_MAX, maximum, _empty_maximum, _save_maximum, _maximum_backward),
    ):
        library.define(schema, tags=torch.Tag.pt2_compliant_tag)
        name = schema.split("(")[0]
        library.impl(name, compute, "CompositeExplicitAutograd")
        name = f"sepool::{name}"
        torch.library.register_fake(name, empty, lib=library)
        torch.library.register_autograd(name, backward, setup_context=save, lib=library)
    register_hierarchy()
    return library


# PyTorch before 2.4 cannot register derivatives; SEP is not compiled there.
_LIBRARY = _register() if hasattr(torch.library, "register_autograd") else None
