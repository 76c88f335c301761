"""GCN: a stack of graph convolutions."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class GCN(NodeModel):
    """Kipf and Welling, "Semi-supervised classification with graph convolutional networks", 2017.

    ``softmax(S relu(S X W_1) W_2)`` with ``S = D^-1/2 (A + I) D^-1/2``. As published: two layers of
    width 16, dropout 0.5 before both, weight decay 5e-4 on the first alone, learning rate 0.01.

    Args:
        layers: number of layers.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        layers: int = 2,
        dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        self.first = InputLinear(in_channels, hidden, dropout, replicas=replicas)
        widths = [hidden] * (layers - 2) + [out_channels]
        self.others = nn.ModuleList(self.linear(hidden, width) for width in widths)
        self.drops = nn.ModuleList(Dropout(dropout, 1 + i) for i in range(layers - 1))

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the logits of all nodes."""
        x = self.first.shift(graph.smooth(self.first.sparse_product(graph.sparse)))
        for drop, layer in zip(self.drops, self.others, strict=True):
            assert isinstance(layer, Linear)
            x = layer.shift(graph.smooth(layer.product(drop(x.relu()))))
        return x
