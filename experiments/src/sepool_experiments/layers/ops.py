"""The sums that every layer here is made of: sorted, without atomics, differentiable.

A sum over sorted segments gives the same bits in every run, on a GPU too. The gradients are such
sums again: what is pooled forward is copied backward, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.gpu import load_kernels

MANY = 1 << 20  # numbers from which on our kernels win where every launch costs the CPU time
_recorded = False  # whether a step is being recorded; nobody else launches anything meanwhile
kernels = load_kernels("sepool_experiments.kernels.rows")


def segment_sum(x: Tensor, ptr: Tensor, index: Tensor | None = None) -> Tensor:
    """Sums the rows ``ptr[i]`` to ``ptr[i + 1]`` of ``x``, or of ``x[index]``, for every ``i``.

    Not differentiable by itself; see `pool_sum`.

    Example:
        >>> segment_sum(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 2, 2, 3]))
        tensor([[3.],
                [0.],
                [4.]])
    """
    return gather_sum(x, ptr, index)


def row_sums(values: Tensor, ptr: Tensor) -> Tensor:
    """`segment_sum` of single numbers."""
    return torch.segment_reduce(values, "sum", offsets=ptr, unsafe=True, initial=0)


def segment_max(x: Tensor, ptr: Tensor, index: Tensor | None = None) -> Tensor:
    """The largest values of the rows that `segment_sum` would add; 0 where there are none."""
    return gather_sum(x, ptr, index, mode="max")


def pool_sum(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """``S x``: the sum of the rows in every cluster.

    Args:
        x: one row for every node of the level below.
        ptr: where the members of every cluster begin.
        assignment: the cluster of every row of ``x``.
        order: the rows sorted by cluster; None where they are sorted already.
    """
    summed: Tensor = _Pool.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return summed


def pool_along(x: Tensor, ptr: Tensor, assignment: Tensor) -> tuple[Tensor, Tensor]:
    """``x`` itself, to go on with, and `pool_sum` of it, of rows that are sorted by cluster.

    The gradients of both are joined in one pass, and have none themselves; what comes out must not
    be changed in place. `pool_sum` is for all who might.
    """
    both: tuple[Tensor, Tensor] = _Along.apply(x, ptr, assignment)  # type: ignore[no-untyped-call]
    return both


def pool_relu(
    x: Tensor,
    ptr: Tensor,
    assignment: Tensor,
    order: Tensor | None = None,
    times: Tensor | None = None,
) -> Tensor:
    """``S relu(x)`` in one pass over ``x``, and one more for its gradient; see `pool_sum`.

    Where it is said, every row counts so many ``times``; they are sorted by cluster then.
    """
    assert times is None or order is None, "rows that count several times are sorted already"
    given = x, ptr, assignment, order, times
    summed: Tensor = _PoolRelu.apply(*given)  # type: ignore[no-untyped-call]
    return summed


def unpool(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """``S^T x``: every row is copied to the members of its cluster; arguments as in `pool_sum`."""
    copied: Tensor = _Unpool.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return copied


def pool_max(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """The largest value in every cluster; members that share it share the gradient."""
    largest: Tensor = _PoolMax.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return largest


class _Pool(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(ptr, assignment, order)
        return gather_sum(x, ptr, order)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, assignment, order = ctx.saved_tensors
        return unpool(grad, ptr, assignment, order), None, None, None


class _PoolMax(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        largest = segment_max(x, ptr, order)
        reached = (x == largest.index_select(0, assignment)).to(x.dtype)
        # What is no number is told by the count of those that reach the largest: it is none either.
        count = segment_sum(torch.where(x.isnan(), x, reached), ptr, order).clamp_(min=1)
        share = reached / count.index_select(0, assignment)
        ctx.save_for_backward(share, ptr, assignment, order)
        return torch.where(count.isnan(), count, largest)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        share, ptr, assignment, order = ctx.saved_tensors
        return unpool(grad, ptr, assignment, order) * share, None, None, None


class _Along(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(assignment)
        return x.view_as(x), gather_sum(x, ptr)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor | None, above: Tensor | None) -> Any:
        (assignment,) = ctx.saved_tensors
        if above is not None:
            grad = take_rows(above, assignment, base=grad)
        return grad, None, None


class _PoolRelu(Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        ptr: Tensor,
        assignment: Tensor,
        order: Tensor | None,
        times: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(x, assignment, times)
        if has_kernel(x):
            summed: Tensor = kernels.sum_rows(_wide(x), ptr, order, times, relu=True)
            return summed.view(-1, *x.shape[1:])
        return gather_sum(x.relu(), ptr, order, times)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, assignment, times = ctx.saved_tensors
        return take_rows(grad, assignment, x, times), None, None, None, None


class _Unpool(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(ptr, assignment, order)
        return take_rows(x, assignment)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, assignment, order = ctx.saved_tensors
        return pool_sum(grad, ptr, assignment, order), None, None, None


def rows_like(values: Tensor | None, x: Tensor) -> Tensor:
    """One value a row, of such a shape and type that it multiplies the rows of ``x``."""
    assert values is not None
    return values.view(-1, *[1] * (x.dim() - 1)).to(x.dtype)


def take_rows(
    x: Tensor,
    index: Tensor,
    gate: Tensor | None = None,
    times: Tensor | None = None,
    base: Tensor | None = None,
) -> Tensor:
    """``base + times x[index]``, the latter 0 wherever the gate is not above 0."""
    if has_kernel(x, len(index)):
        gate, base = (None if tensor is None else _wide(tensor) for tensor in (gate, base))
        taken: Tensor = kernels.copy_rows(_wide(x), index, gate, times, base)
        return taken.view(-1, *x.shape[1:])
    taken = x.index_select(0, index)
    taken = taken if gate is None else taken * (gate > 0)
    taken = taken if times is None else taken * rows_like(times, taken)
    return taken if base is None else taken.add_(base)


def rows_at(x: Features, source: Tensor | None) -> Tensor:
    """``x[source]``, or ``x`` itself where it has a row for every node already."""
    if isinstance(x, FeatureTable):
        assert source is not None, "a table has rows for nodes that are told by their source"
        return x.take(source)
    return x if source is None else take_rows(x, source)


def take_or_zero(x: Tensor, index: Tensor) -> Tensor:
    """``x[index]`` of a matrix, with zeros where the index is ``len(x)``."""
    if has_kernel(x, len(index)):
        taken: Tensor = kernels.copy_rows(x, index)
        return taken
    return F.pad(x, (0, 0, 0, 1)).index_select(0, index)


def dot_rows(left: Tensor, first: Tensor, right: Tensor, second: Tensor) -> Tensor:
    """``left[first] . right[second]``, row by row."""
    if has_kernel(left, len(first)):
        product: Tensor = kernels.dot_rows(_wide(left), first, _wide(right), second)
        return product
    taken = left.index_select(0, first) * right.index_select(0, second)
    return taken.flatten(1).sum(-1)


def _wide(x: Tensor) -> Tensor:
    """``x`` as a matrix with the same rows."""
    return x if x.dim() == 2 else x.unsqueeze(1).flatten(1)


def fits_kernels(x: Tensor) -> bool:
    """Whether kernels of our own can take ``x``: they are for float32 on a GPU."""
    return x.is_cuda and x.dtype == torch.float32


def has_kernel(x: Tensor, rows: int = 0) -> bool:
    """Whether to take our own kernels, for so many rows that are taken of ``x``, or all of it.

    PyTorch's are slow for many short rows. But it takes the CPU longer to launch one of ours, which
    is all that counts where rows are few, unless steps are recorded (`recorded_steps`).
    """
    if kernels is None or not fits_kernels(x):
        return False
    return _recorded or max(rows, len(x)) * x[:1].numel() >= MANY


@contextmanager
def recorded_steps() -> Iterator[None]:
    """Inside, our kernels are taken for few rows too: what is recorded costs no launch later.

    For all threads, because gradients have one of their own.
    """
    global _recorded
    _recorded = True
    try:
        yield
    finally:
        _recorded = False


def gather_sum(
    x: Tensor,
    ptr: Tensor,
    index: Tensor | None = None,
    weight: Tensor | None = None,
    mode: str = "sum",
) -> Tensor:
    """Sums of gathered rows: on the CPU PyTorch's embedding bags do just this."""
    weight = None if weight is None else weight.to(x.dtype)
    if has_kernel(x, 0 if index is None else len(index)):
        summed: Tensor = kernels.sum_rows(_wide(x), ptr, index, weight, mode=mode)
        return summed.view(-1, *x.shape[1:])
    if x.is_cuda:
        taken = x if index is None else x.index_select(0, index)
        taken = taken if weight is None else taken * rows_like(weight, x)
        least = 0 if mode == "sum" else None
        summed = torch.segment_reduce(taken, mode, offsets=ptr, unsafe=True, initial=least)
        return summed if mode == "sum" else summed.masked_fill(rows_like(ptr.diff(), x) == 0, 0)
    if index is None:
        index = torch.arange(len(x), device=x.device)
    if not index.numel():
        return x.new_zeros(len(ptr) - 1, *x.shape[1:])
    wide = _wide(x)
    bags = F.embedding_bag(
        index, wide, ptr, mode=mode, per_sample_weights=weight, include_last_offset=True
    )
    return bags if x.dim() == 2 else bags.view(-1, *x.shape[1:])
