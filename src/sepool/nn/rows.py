"""Sums and maxima over the compressed rows of a sparse matrix, without derivatives."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor


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


def sum_rows(x: Tensor, rows: SparseRows, reduce: str = "sum") -> Tensor:
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


def maximum(
    x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Maximum of every cluster, and the share of every row in its gradient."""
    rows = SparseRows(ptr, order)
    highest = sum_rows(x, rows, "max")
    attains = (x == highest.index_select(0, assignment)).to(x.dtype)
    # NaNs propagate through the count of maxima.
    count = sum_rows(torch.where(x.isnan(), x, attains), rows).clamp(min=1)
    share = attains / count.index_select(0, assignment)
    return torch.where(count.isnan(), count, highest), share


def saved(x: Tensor, *rest: Tensor | None) -> tuple[Tensor | None, ...]:
    """Tensors for the gradient; only that of learned weights needs ``x``."""
    weight = rest[2]
    return (x if weight is not None and weight.requires_grad else None, *rest)


def weight_gradient(grad: Tensor, x: Tensor, rows: SparseRows) -> Tensor | None:
    """Gradient of the weights of ``rows`` from that of their product with ``x``."""
    weight = rows.weight
    if weight is None:
        return None
    if rows.ptr is not None:
        grad = torch.repeat_interleave(grad, rows.ptr.diff(), 0, output_size=weight.size(0))
    return (grad * _column_of_entry(x, rows)).flatten(1).sum(1).to(weight.dtype)


def column(values: Tensor, x: Tensor) -> Tensor:
    """One value a row, shaped and typed to multiply the rows of ``x``."""
    return values.view(-1, *[1] * (x.dim() - 1)).to(x.dtype)


def row_pointers(row: Tensor, num_rows: int) -> Tensor:
    """Start of every row in a sorted list of rows, and the end of the last."""
    if torch.compiler.is_compiling():  # the other way is compiled anew for every number of rows
        return torch.searchsorted(row, torch.arange(num_rows + 1, device=row.device))
    return torch._convert_indices_from_coo_to_csr(row, num_rows)


def _column_of_entry(x: Tensor, rows: SparseRows) -> Tensor:
    return x if rows.col is None else x.index_select(0, rows.col)
