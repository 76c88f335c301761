"""FastGCN: a graph convolution estimated from nodes drawn by their importance."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from sepool_experiments.layers.dropout import Dropout, Keyed, noise
from sepool_experiments.models.nodes.model import NodeGraph, NodeModel


class Smoothed(NamedTuple):
    """A graph, what the first layer gathers, and how important every node is."""

    graph: NodeGraph
    x: Tensor
    chance: Tensor


class Sampler(Keyed):
    """Draws nodes with replacement, and weighs them so that sums over all nodes are unbiased.

    Node ``u`` is drawn with probability ``q(u)``; drawn ``c(u)`` of ``t`` times, it counts
    ``c(u) / (t q(u))``, the mean of which is 1. With ``q(u)`` in proportion to the squared length
    of column ``u`` of ``S`` the variance is least, as far as it is known before training.

    Example:
        >>> sampler = Sampler(1000)
        >>> sampler.keys = torch.arange(100)
        >>> sampler(torch.tensor([0.1, 0.2, 0.7])).mean(1).round(decimals=1)
        tensor([1., 1., 1.])
    """

    def __init__(self, samples: int, salt: int = 0) -> None:
        super().__init__(salt)
        self.samples = samples

    def forward(self, chance: Tensor) -> Tensor:
        """How much every node counts, one column a replica."""
        if self.keys is None:
            draws = torch.rand(1, self.samples, device=chance.device)
        else:
            draws = noise(self.keys, self.samples, self.salt)
        ends = chance.cumsum(0) / chance.sum()
        found = torch.searchsorted(ends, draws).clamp_(max=len(chance) - 1)
        counts = torch.zeros(len(draws), len(chance), device=chance.device)
        counts.scatter_add_(1, found, torch.ones_like(draws))
        return (counts / (self.samples * chance)).t()


class FastGCN(NodeModel):
    """Chen et al., "FastGCN", 2018.

    A GCN of two layers, the second estimated in training from ``samples`` nodes. As in the authors'
    code the first layer sees ``S X``, which is known beforehand, and prediction uses all nodes.
    Here nodes that were not drawn are multiplied by zero rather than left out: the estimate is the
    same, the time is not, which on graphs of this size nobody would notice. The published figures
    are for the public split, for which the authors give no settings: those of GCN, 400 nodes.

    Args:
        samples: how many nodes are drawn in a step.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        samples: int = 400,
        dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        self.first, self.last = self.linear(in_channels, hidden), self.linear(hidden, out_channels)
        self.drop, self.sampler = Dropout(dropout, 1), Sampler(samples, 2)

    def prepare(self, data: Data) -> Smoothed:
        """The graph, ``S X`` and the probabilities."""
        graph = NodeGraph.of(data)
        return Smoothed(graph, graph.smooth(graph.x), importance(graph))

    def forward(self, graph: Smoothed) -> Tensor:
        """The logits of all nodes; in training, estimates."""
        x = self.last.product(self.drop(self.first(self.shared(graph.x)).relu()))
        if self.training:
            count = self.sampler(graph.chance)
            x = x * (count if x.dim() == 2 else count.unsqueeze(-1))
        return self.last.shift(graph.graph.smooth(x))


def importance(graph: NodeGraph) -> Tensor:
    """The squared length of every column of ``S``, in proportion; ``S`` is symmetric."""
    a = graph.adjacency
    assert a.weight is not None
    length = a.weighted(a.weight.square()).degree()
    return length / length.sum()
