"""Nodes beside what they gather: the two halves of the rows that GraphSAGE and ChebNet multiply."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import has_kernel, rows_like

beside_kernels = load_kernels("sepool_experiments.kernels.concat_neighbors")


class Gathered(NamedTuple):
    """What is gathered, and on which side of the rows it stands.

    Attributes:
        ptr: where the entries of every row begin.
        neighbours: the row that each of them takes.
        weight: how much of it; None where it is all.
        scale: what the sum of every row is multiplied by; None where it is not.
        first: whether sums stand before the node itself.
    """

    ptr: Tensor
    neighbours: Tensor
    weight: Tensor | None
    scale: Tensor | None
    first: bool


def beside(a: Adjacency, x: Tensor, scale: Tensor | None = None, first: bool = False) -> Tensor:
    """``[x, s A x]``, or ``[s A x, x]`` where sums come ``first``; ``s``: a number for every node.

    On a GPU in one pass, where the adjacency is its own transpose, and its gradient in another.

    Example:
        >>> path = Adjacency(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), symmetric=True)
        >>> beside(path, torch.tensor([[1.0], [3.0]]))
        tensor([[1., 3.],
                [3., 1.]])
    """
    if _has_kernel(a, x, scale):
        scale = None if scale is None else scale.to(x.dtype).contiguous()
        weight = None if a.weight is None else a.weight.to(x.dtype).contiguous()
        told = Gathered(a.ptr, a.index, weight, scale, first)
        both: Tensor = _Beside.apply(x, False, *told)  # type: ignore[no-untyped-call]
        return both
    seen = a.propagate(x)
    seen = seen if scale is None else rows_like(scale, x) * seen
    return torch.cat([seen, x] if first else [x, seen], -1)


def _has_kernel(a: Adjacency, x: Tensor, scale: Tensor | None) -> bool:
    learned = any(t is not None and t.requires_grad for t in (a.weight, scale))
    known = beside_kernels is not None and a.symmetric and not learned and x.dim() == 2
    return known and has_kernel(x, len(a.index))


class _Beside(Function):
    """Puts nodes beside what they gather; turned, joins the halves.

    Both are linear, and each is the gradient of the other.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, turned: bool, *told: Any) -> Tensor:
        *tensors, ctx.first = told
        ctx.turned = turned
        ctx.save_for_backward(*tensors)
        kernel = beside_kernels.join if turned else beside_kernels.put_beside
        out: Tensor = kernel(x, Gathered(*told))
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        told = not ctx.turned, *ctx.saved_tensors, ctx.first
        return _Beside.apply(grad, *told), *[None] * 6  # type: ignore[no-untyped-call]
