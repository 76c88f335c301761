"""GIN: sums over neighbours and perceptrons."""

from __future__ import annotations

from torch import Tensor

from sepool_experiments.layers import convs
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class GIN(NodeModel):
    """Xu et al., "How powerful are graph neural networks?", 2019: ``MLP(X + A X)``, twice.

    The published figure is that of Wu et al., "Simplifying graph convolutional networks", 2019,
    whose settings are not stated in full. Sums over neighbours overfit with the settings of GCN:
    the grid has more dropout and decay, from which validation chooses.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        self.first = InputLinear(in_channels, hidden, dropout, replicas=replicas)
        self.second = self.linear(hidden, hidden)
        self.drop = Dropout(dropout, 1)
        self.last = convs.GIN(hidden, out_channels, replicas)

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the logits of all nodes."""
        x = self.first.sparse_product(graph.sparse)
        x = self.first.shift(x + graph.plain.propagate(x))  # (X + A X) W + b
        x = self.drop(self.second(x.relu()).relu())
        logits: Tensor = self.last(x, self.last.prepare(graph.plain))
        return logits
