"""TopKPool: top-k pooling by the projection on a learned direction."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.parts.selection import TopKModel


class TopKPool(TopKModel):
    """Gao and Ji, "Graph U-Nets", 2019: ``y = X p / |p|``, top-k by ``y``.

    Features are multiplied by ``tanh(y)``, which gives the direction ``p`` a gradient.
    """

    def make_score(self) -> nn.Module:
        """Return the direction as a linear layer."""
        return self.linear(self.hidden, 1, bias=False)

    def score(self, layer: nn.Module, x: Tensor, graph: Operator) -> Tensor:
        """Return the projection of every node on the direction."""
        return project(layer, x)


def project(layer: nn.Module, x: Tensor) -> Tensor:
    """Return ``X p / |p|``, replica after replica."""
    assert isinstance(layer, Linear)
    length = layer.weight.norm(dim=-2).view(-1, 1)
    score: Tensor = layer.product(x).view(len(length), -1) / length
    return score.flatten()
