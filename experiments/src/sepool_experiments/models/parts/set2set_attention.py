"""What Set2Set does at every look: an LSTM remembers, and asks the nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool_experiments.layers.gpu import load_kernels
from sepool_experiments.layers.ops import fits_kernels, pool_sum, unpool
from sepool_experiments.layers.softmax import segment_softmax

look_kernels = load_kernels("sepool_experiments.kernels.set2set")


def remember(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The cell of an LSTM and what leaves it.

    Args:
        gates: the input, forget, cell and output gates side by side, before their sigmoids.
        cell: what it held before.
    """
    if _has_kernel(gates):
        held, out = _Remember.apply(gates, cell)  # type: ignore[no-untyped-call]
        return held, out
    enter, forget, new, leave = gates.chunk(4, 1)
    cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return cell, leave.sigmoid() * cell.tanh()


def recall(x: Tensor, q: Tensor, ptr: Tensor, graph: Tensor) -> Tensor:
    """``sum_i softmax_i(x_i . q) x_i`` over the nodes of every graph.

    Args:
        x: the nodes, graph after graph.
        q: what every graph asks.
        ptr: where the nodes of every graph begin.
        graph: the graph of every node.

    Example:
        >>> x, q = torch.tensor([[1.0], [3.0]]), torch.zeros(1, 1)
        >>> recall(x, q, torch.tensor([0, 2]), torch.tensor([0, 0]))
        tensor([[2.]])
    """
    if _has_kernel(x):
        seen: Tensor = _Recall.apply(x, q, ptr)  # type: ignore[no-untyped-call]
        return seen
    score = (x * unpool(q, ptr, graph)).sum(1, keepdim=True)
    return pool_sum(segment_softmax(score, ptr, graph) * x, ptr, graph)


class _Remember(Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, cell: Tensor) -> Any:
        gates, cell = gates.contiguous(), cell.contiguous()
        held, out = look_kernels.remember(gates, cell)
        ctx.save_for_backward(gates, cell, held)
        return held, out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, to_held: Tensor, to_out: Tensor) -> Any:
        return look_kernels.remember_gradient(*ctx.saved_tensors, to_held, to_out)


class _Recall(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, q: Tensor, ptr: Tensor) -> Tensor:
        x, q = x.contiguous(), q.contiguous()
        seen: Tensor
        seen, level = look_kernels.recall(x, q, ptr)
        ctx.save_for_backward(x, q, ptr, seen, level)
        return seen

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        return *look_kernels.recall_gradient(*ctx.saved_tensors, grad), None


def _has_kernel(x: Tensor) -> bool:
    return look_kernels is not None and fits_kernels(x)
