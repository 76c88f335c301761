"""SAGPool(H): top-k pooling after every convolution, scored by another one."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.models.parts.selection import TopKModel


class SAGPoolH(TopKModel):
    """Lee et al., "Self-attention graph pooling", 2019, the hierarchical architecture.

    ``y = GCN(X, A)``; the nodes with the highest ``y`` are selected and multiplied by ``tanh(y)``;
    the pooled graph is the induced subgraph.
    """

    def make_score(self) -> nn.Module:
        """Return a convolution to one channel."""
        return self.gcn(self.hidden, 1)

    def score(self, layer: nn.Module, x: Tensor, graph: Operator) -> Tensor:
        """Return the output of the convolution."""
        out: Tensor = layer(x, graph)
        return out.squeeze(1)
