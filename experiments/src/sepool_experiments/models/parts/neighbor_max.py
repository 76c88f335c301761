"""The largest values among the neighbours, in sparse graphs and in dense ones."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.segments import segment_max, segment_sum


def sparse_max(a: Adjacency, x: Tensor) -> Tensor:
    """The largest values among the entries of every row; those that share it share the gradient.

    Example:
        >>> path = Adjacency(torch.tensor([0, 1, 3, 4]), torch.tensor([1, 0, 2, 1]), symmetric=True)
        >>> sparse_max(path, torch.tensor([[1.0], [2.0], [3.0]])).flatten().tolist()
        [2.0, 3.0, 2.0]
    """
    found: Tensor = _SparseMax.apply(  # type: ignore[no-untyped-call]
        x, a.ptr, a.index, a.row, *a.transpose()
    )
    return found


class _SparseMax(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, *rest: Tensor) -> Tensor:
        best = segment_max(x, ptr, index)
        ctx.save_for_backward(x, best, ptr, index, *rest)
        return best

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, best, ptr, index, row, turned, _col, order = ctx.saved_tensors
        reached = (x.index_select(0, index) == best.index_select(0, row)).to(x.dtype)
        share = grad / segment_sum(reached, ptr).clamp(min=1)
        to_x = segment_sum(reached * share.index_select(0, row), turned, order)
        return to_x, *[None] * 6


def dense_max(x: Tensor, near: Tensor, there: Tensor, most: int) -> Tensor:
    """The largest values among the neighbours, of which every node is one itself.

    Those that share it share the gradient. Works on the ``most`` nodes that exist, one neighbour
    after the other: most room is empty, and all of it times the width would be large. Nodes that
    are not ``there`` are 0 in ``x``, and behind the others of their graph.
    """
    graphs, room = there.shape
    flat, slots = there.flatten(), torch.arange(graphs * room, device=x.device)
    place = (flat.cumsum(0) - 1).masked_fill(~flat, most)
    source = torch.zeros(most + 1, dtype=torch.int64, device=x.device)
    source = source.index_copy_(0, place, slots)[:-1]
    ptr = F.pad(there.sum(1).cumsum(0), (1, 0))
    largest: Tensor = _DenseMax.apply(  # type: ignore[no-untyped-call]
        x, near.flatten(0, 1).index_select(0, source), source, place, ptr
    )
    return largest


class _DenseMax(Function):
    """Over a list of the nodes that exist; ``near`` has a row for each."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, near: Tensor, source: Tensor, place: Tensor, ptr: Tensor
    ) -> Tensor:
        room, graph = x.size(1), source // x.size(1)
        best = x.flatten(0, 1).index_select(0, source)
        for j in range(room):
            other = x[:, j].index_select(0, graph)
            best = torch.where(near[:, j, None], torch.maximum(best, other), best)
        ctx.save_for_backward(x, near, source, ptr, best)
        return F.pad(best, (0, 0, 0, 1)).index_select(0, place).view_as(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, near, source, ptr, best = ctx.saved_tensors
        room, graph = x.size(1), source // x.size(1)

        def reached(j: int) -> Tensor:
            hit: Tensor = (best == x[:, j].index_select(0, graph)) & near[:, j, None]
            return hit

        times = torch.zeros_like(best)
        for j in range(room):
            times += reached(j)
        real = torch.arange(len(source), device=x.device) < ptr[-1]  # the rest of the list is empty
        share = grad.flatten(0, 1).index_select(0, source) * (real[:, None] / times.clamp(min=1))
        columns = [segment_sum(reached(j) * share, ptr) for j in range(room)]
        return torch.stack(columns, 1), None, None, None, None
