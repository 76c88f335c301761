"""S2GC: a linear model of the mean of the powers of smoothing."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.data import Data

from sepool_experiments.models.nodes.model import NodeGraph
from sepool_experiments.models.nodes.sgc import SGC


class S2GC(SGC):
    """Zhu and Koniusz, "Simple spectral graph convolution", 2021.

    ``softmax((1/K sum over k = 1 .. K of ((1 - a) S^k X + a X)) W + b)``: the mean of the powers
    keeps near and far neighbours. As published: ``K = 16``, ``a = 0.05``, learning rate 0.2; the
    weight decay is searched for.

    Args:
        power: ``K``.
        alpha: ``a``, the share of a node's own features.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        power: int = 16,
        alpha: float = 0.05,
        replicas: int | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, power=power, replicas=replicas)
        self.alpha = alpha

    def prepare(self, data: Data) -> Tensor:
        """Return the mean of the smoothed features."""
        graph = NodeGraph.of(data)
        x, total = graph.x, graph.x.new_zeros(graph.x.shape)
        for _ in range(self.power):
            x = graph.smooth(x)
            total += x
        return (1 - self.alpha) / self.power * total + self.alpha * graph.x
