"""What Set2Set does at every look: an LSTM remembers, and asks the nodes."""

from __future__ import annotations

from torch import Tensor

from sepool_experiments.layers.segments import pool_sum, unpool
from sepool_experiments.layers.softmax import segment_softmax


def remember(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The cell of an LSTM and what leaves it.

    Args:
        gates: the input, forget, cell and output gates side by side, before their sigmoids.
        cell: what it held before.
    """
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
        >>> import torch
        >>> x, q = torch.tensor([[1.0], [3.0]]), torch.zeros(1, 1)
        >>> recall(x, q, torch.tensor([0, 2]), torch.tensor([0, 0]))
        tensor([[2.]])
    """
    score = (x * unpool(q, ptr, graph)).sum(1, keepdim=True)
    return pool_sum(segment_softmax(score, ptr, graph) * x, ptr, graph)
