"""TopKPool: keeps the nodes that lie farthest along a learned direction."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.parts.selection import DropModel


class TopKPool(DropModel):
    """Gao and Ji, "Graph U-Nets", 2019: ``y = X p / |p|``, the nodes of the highest ``y`` stay.

    Their features are multiplied by ``tanh(y)``, which is how the direction learns.
    """

    def make_score(self) -> nn.Module:
        """The direction."""
        return self.linear(self.hidden, 1, bias=False)

    def score(self, layer: nn.Module, x: Tensor, graph: Operator) -> Tensor:
        """How far every node lies along it."""
        return along(layer, x)


def along(layer: nn.Module, x: Tensor) -> Tensor:
    """``X p / |p|``, replica after replica."""
    assert isinstance(layer, Linear)
    length = layer.weight.norm(dim=-2).view(-1, 1)
    score: Tensor = layer.product(x).view(len(length), -1) / length
    return score.flatten()
