"""FastGCN: a graph convolution estimated by importance sampling of the nodes."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from sepool_experiments.layers.dropout import Dropout, Keyed, noise
from sepool_experiments.models.nodes.model import NodeGraph, NodeModel


class Smoothed(NamedTuple):
    """A graph, its features after the first aggregation, and the probability of every node."""

    graph: NodeGraph
    x: Tensor
    probability: Tensor


class Sampler(Keyed):
    """Sampling of nodes with replacement, weighted for unbiased sums over all nodes.

    Node ``u`` has probability ``q(u)``; drawn ``c(u)`` of ``t`` times, it has the weight
    ``c(u) / (t q(u))``, the mean of which is 1. ``q(u)`` proportional to the squared length of
    column ``u`` of ``S`` minimises the variance as far as it is computable before training.

    Example:
        >>> sampler = Sampler(1000)
        >>> sampler.keys = torch.arange(100)
        >>> sampler(torch.tensor([0.1, 0.2, 0.7])).mean(1).round(decimals=1)
        tensor([1., 1., 1.])
    """

    def __init__(self, samples: int, salt: int = 0) -> None:
        super().__init__(salt)
        self.samples = samples

    def forward(self, probability: Tensor) -> Tensor:
        """Return the weight of every node, one column a replica."""
        if self.keys is None:
            draws = torch.rand(1, self.samples, device=probability.device)
        else:
            draws = noise(self.keys, self.samples, self.salt)
        ends = probability.cumsum(0) / probability.sum()
        index = torch.searchsorted(ends, draws).clamp_(max=len(probability) - 1)
        counts = torch.zeros(len(draws), len(probability), device=probability.device)
        counts.scatter_add_(1, index, torch.ones_like(draws))
        return (counts / (self.samples * probability)).t()


class FastGCN(NodeModel):
    """Chen et al., "FastGCN", 2018.

    A GCN of two layers, the second estimated in training from ``samples`` nodes. As in the authors'
    code the input of the first layer is the precomputed ``S X``, and prediction uses all nodes.
    Here nodes that are not drawn are multiplied by zero: the estimate is the same, without the gain
    in speed, which is negligible on graphs of this size. The published figures are for the public
    split, for which the authors give no settings; here those of GCN and 400 nodes.

    Args:
        samples: number of nodes drawn in a step.
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
        """Return the graph, ``S X`` and the probabilities."""
        graph = NodeGraph.of(data)
        return Smoothed(graph, graph.smooth(graph.x), importance(graph))

    def forward(self, graph: Smoothed) -> Tensor:
        """Return the logits of all nodes; estimates in training."""
        x = self.last.product(self.drop(self.first(self.shared(graph.x)).relu()))
        if self.training:
            weight = self.sampler(graph.probability)
            x = x * (weight if x.dim() == 2 else weight.unsqueeze(-1))
        return self.last.shift(graph.graph.smooth(x))


def importance(graph: NodeGraph) -> Tensor:
    """Return the squared lengths of the columns of ``S``, normalised; ``S`` is symmetric."""
    a = graph.adjacency
    assert a.weight is not None
    length = a.weighted(a.weight.square()).degree()
    return length / length.sum()
