"""Sorting and products within graphs of different sizes, without host synchronisation.

Shapes depend on the numbers of rows and graphs alone; every gradient is a gather, so that results
are reproducible bit for bit.
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
    """Return the nodes of every graph by descending score, and the rank of every node.

    Example:
        >>> score, ptr = torch.tensor([1.0, 3.0, 2.0]), torch.tensor([0, 2, 3])
        >>> rank_in_graph(score, ptr, torch.tensor([0, 0, 1]))
        (tensor([1, 0, 2]), tensor([1, 0, 0]))
    """
    order = score.detach().argsort(descending=True, stable=True)
    order = order.index_select(0, graph.index_select(0, order).argsort(stable=True))
    places = torch.arange(len(score), device=score.device)
    rank = places - ptr.index_select(0, graph)  # of a position in its graph
    return order, torch.empty_like(rank).index_copy_(0, order, rank)


def permute_rows(x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
    """Return ``x[index]``, for an index without repeated rows.

    Args:
        x: input rows.
        index: input row of every output row, ``len(x)`` for zeros.
        inverse: output row of every input row, ``len(index)`` if it is dropped.
    """
    out: Tensor = _PermuteRows.apply(x, index, inverse)  # type: ignore[no-untyped-call]
    return out


class _PermuteRows(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(index, inverse)
        return F.pad(x, (0, 0, 0, 1)).index_select(0, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        index, inverse = ctx.saved_tensors
        return permute_rows(grad, inverse, index), None, None


class Blocks:
    """Graphs divided into blocks of equal size, so that sums over a graph are matrix products.

    A graph of ``n`` nodes has ``ceil(n / size)`` blocks or one more, padded with zeros.
    """

    def __init__(self, ptr: Tensor, graph: Tensor, size: int) -> None:
        rows, graphs, self.size = len(graph), len(ptr) - 1, size
        self.count = rows // size + graphs
        each = torch.arange(graphs + 1, device=ptr.device)
        self.ptr = each + ptr // size  # a bound: at most one block too many a graph
        self.graph = repeat_each(self.ptr.diff(), self.count)
        nodes = torch.arange(rows, device=ptr.device)
        shift = torch.add(ptr, self.ptr, alpha=-size)
        self.inverse = nodes - shift.index_select(0, graph)
        empty = torch.full((self.count * size,), rows, device=ptr.device)
        self.index = empty.index_copy_(0, self.inverse, nodes)

    def product(self, a: Tensor, b: Tensor, heads: int = 1) -> Tensor:
        """Return ``A^T B`` of every graph: ``(graphs, columns of A, columns of B)``.

        With several heads the second axis is the heads; each has an equal part of the columns.
        """
        left, right = (
            permute_rows(x, self.index, self.inverse).view(self.count, self.size, heads, -1)
            for x in (a, b)
        )
        product = left.permute(0, 2, 3, 1) @ right.transpose(1, 2)
        summed = pool_sum(product.flatten(1), self.ptr, self.graph)
        summed = summed.view(-1, *product.shape[1:])
        return summed.squeeze(1) if heads == 1 else summed


def block_size(nodes: int) -> int:
    """Return the power of two, from 16 to 128, that holds the average graph."""
    return min(max(16, 1 << (max(nodes, 1) - 1).bit_length()), 128)
