"""SAGPool(H): after every convolution, another one scores the nodes."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.models.parts.selection import DropModel


class SAGPoolH(DropModel):
    """Lee et al., "Self-attention graph pooling", 2019, the hierarchical architecture.

    ``y = GCN(X, A)``; the nodes of the highest ``y`` stay, multiplied by ``tanh(y)``, and the graph
    between them.
    """

    def make_score(self) -> nn.Module:
        """A convolution to one channel."""
        return self.gcn(self.hidden, 1)

    def score(self, layer: nn.Module, x: Tensor, graph: Operator) -> Tensor:
        """What it gives."""
        out: Tensor = layer(x, graph)
        return out.squeeze(1)
