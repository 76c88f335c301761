"""SGC: a linear model of smoothed features."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Data

from sepool_experiments.models.nodes.model import NodeGraph, NodeModel


class SGC(NodeModel):
    """Wu et al., "Simplifying graph convolutional networks", 2019: ``softmax(S^K X W + b)``.

    As published: ``K = 2``, learning rate 0.2; the weight decay is searched for.

    Args:
        power: ``K``.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, power: int = 2, replicas: int | None = None
    ) -> None:
        super().__init__(replicas)
        self.power = power
        self.first = self.linear(in_channels, out_channels)

    def prepare(self, data: Data) -> Tensor:
        """Return the smoothed features."""
        graph = NodeGraph.of(data)
        return graph.smooth(graph.x, self.power)

    def forward(self, graph: Tensor) -> Tensor:
        """Return the logits of all nodes."""
        logits: Tensor = self.first(self.shared(graph))
        return logits
