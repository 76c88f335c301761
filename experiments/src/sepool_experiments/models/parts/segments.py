"""Graphs of different sizes side by side, without waiting for the device to tell how large.

All shapes follow from how many rows and graphs there are; every gradient is a gather, so that the
same bits come out of every run.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool.pyg.hierarchy import repeat_each
from sepool_experiments.layers.segments import pool_sum


def rank_in_graph(score: Tensor, ptr: Tensor, graph: Tensor) -> tuple[Tensor, Tensor]:
    """The nodes of every graph by falling score, graph after graph, and the rank of every node.

    Example:
        >>> score, ptr = torch.tensor([1.0, 3.0, 2.0]), torch.tensor([0, 2, 3])
        >>> rank_in_graph(score, ptr, torch.tensor([0, 0, 1]))
        (tensor([1, 0, 2]), tensor([1, 0, 0]))
    """
    order = score.detach().argsort(descending=True, stable=True)
    order = order.index_select(0, graph.index_select(0, order).argsort(stable=True))
    places = torch.arange(len(score), device=score.device)
    rank = places - ptr.index_select(0, graph)  # of the places: nodes lie graph after graph
    return order, torch.empty_like(rank).index_copy_(0, order, rank)


def spread(x: Tensor, source: Tensor, back: Tensor) -> Tensor:
    """Rows of ``x`` put in other places, each once at most.

    ``source`` is the row for every place, ``len(x)`` for zeros; ``back`` the place of every row,
    ``len(source)`` where it is dropped.
    """
    placed: Tensor = _Spread.apply(x, source, back)  # type: ignore[no-untyped-call]
    return placed


class _Spread(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, source: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(source, back)
        return F.pad(x, (0, 0, 0, 1)).index_select(0, source)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        source, back = ctx.saved_tensors
        return spread(grad, back, source), None, None


class Blocks:
    """Graphs cut into blocks of equally many rows, so that sums over a graph are matrix products.

    A graph of ``n`` nodes gets ``ceil(n / size)`` blocks or one more; the rest of them is zeros.
    """

    def __init__(self, ptr: Tensor, graph: Tensor, size: int) -> None:
        rows, graphs, self.size = len(graph), len(ptr) - 1, size
        self.count = rows // size + graphs
        each = torch.arange(graphs + 1, device=ptr.device)
        self.ptr = each + ptr // size  # leaves room for as many as are needed, or one more
        self.graph = repeat_each(self.ptr.diff(), self.count)
        here = torch.arange(rows, device=ptr.device)
        shift = torch.add(ptr, self.ptr, alpha=-size)
        self.place = here - shift.index_select(0, graph)
        empty = torch.full((self.count * size,), rows, device=ptr.device)
        self.source = empty.index_copy_(0, self.place, here)

    def product(self, a: Tensor, b: Tensor, heads: int = 1) -> Tensor:
        """``A^T B`` of every graph: ``(graphs, columns of A, columns of B)``.

        With several heads an axis of heads follows the graphs, each of its part of the columns.
        """
        left, right = (
            spread(x, self.source, self.place).view(self.count, self.size, heads, -1)
            for x in (a, b)
        )
        product = left.permute(0, 2, 3, 1) @ right.transpose(1, 2)
        summed = pool_sum(product.flatten(1), self.ptr, self.graph)
        summed = summed.view(-1, *product.shape[1:])
        return summed.squeeze(1) if heads == 1 else summed


def block_size(nodes: int) -> int:
    """A power of two that holds the average graph, from 16 to 128."""
    return min(max(16, 1 << (max(nodes, 1) - 1).bit_length()), 128)
