"""APPNP: predictions from the features, propagated by personalised PageRank."""

from __future__ import annotations

from torch import Tensor, nn

from sepool_experiments.layers.adjacency import weighted_propagate
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class APPNP(NodeModel):
    """Klicpera et al., "Predict then propagate: GNNs meet personalized PageRank", 2019.

    ``Z_0 = H = MLP(X)`` and ``Z_{k+1} = (1 - a) S Z_k + a H``, which tends to
    ``a (I - (1 - a) S)^-1 H``. As published: ten steps, ``a = 0.1``, one hidden layer of width 64,
    dropout 0.5 on both layers and on the adjacency of every step, weight decay 5e-3 on the first
    layer, learning rate 0.01.

    Args:
        steps: number of propagations.
        alpha: teleport probability ``a``.
        edge_dropout: dropout rate of the adjacency.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        steps: int = 10,
        alpha: float = 0.1,
        dropout: float = 0.0,
        edge_dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        self.alpha = alpha
        self.first = InputLinear(in_channels, hidden, dropout, bias=False, replicas=replicas)
        self.last = self.linear(hidden, out_channels, bias=False)
        self.drop = Dropout(dropout, 1)
        self.edge_drops = nn.ModuleList(
            Dropout(edge_dropout, 2 + i, "edge_dropout") for i in range(steps)
        )

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the logits of all nodes."""
        x = self.first.sparse_product(graph.sparse).relu()
        start: Tensor = self.last(self.drop(x))
        z = start
        for drop in self.edge_drops:
            assert isinstance(drop, Dropout)
            z = (1 - self.alpha) * spread(graph, z, drop) + self.alpha * start
        return z


def spread(graph: NodeGraph, x: Tensor, drop: Dropout) -> Tensor:
    """Return ``S x``, with dropout on the entries of ``S`` in every replica."""
    a, rate = graph.adjacency, drop.rate
    if not drop.training or (not isinstance(rate, Tensor) and rate == 0):
        return a.propagate(x)
    assert a.weight is not None
    if x.dim() == 2:
        return weighted_propagate(a, x, drop(a.weight.unsqueeze(1)).squeeze(1))
    weight = a.weight.view(-1, 1, 1).expand(-1, x.size(1), -1)
    return weighted_propagate(a, x, drop(weight).squeeze(-1))
