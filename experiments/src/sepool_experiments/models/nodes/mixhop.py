"""MixHop: concatenated powers of the adjacency."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.norm import BatchNorm
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel

POWERS = (0, 1, 2)


class MixHop(NodeModel):
    """Abu-El-Haija et al., "MixHop: higher-order graph convolutional architectures", 2019.

    A layer concatenates ``S^j H W_j`` for ``j = 0, 1, 2``, without bias. As in the authors' code
    for their tables: one hidden layer with 20 columns a power, batch normalisation, ReLU; a second
    layer, whose parts are added up, weighted by a learned softmax. Dropout 0.5 on the input and 0.9
    in between. The authors train by gradient descent at a rate of 0.25 to 1 with decay on all
    weights; here it is Adam with decay on the first layer, which is scale-free by normalisation.

    Args:
        hidden: columns a power.
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
        wide = len(POWERS) * hidden
        self.first = InputLinear(in_channels, wide, dropout, bias=False, replicas=replicas)
        self.norm = BatchNorm(wide, replicas)
        self.drop = Dropout(dropout, 1)
        self.last = self.linear(wide, len(POWERS) * out_channels, bias=False)
        lead = () if replicas is None else (replicas,)
        self.share = nn.Parameter(torch.zeros(*lead, len(POWERS)))

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the logits of all nodes."""
        x = self.norm(mix_powers(graph, self.first.sparse_product(graph.sparse))).relu()
        x = mix_powers(graph, self.last.product(self.drop(x)))
        parts = x.view(*x.shape[:-1], len(POWERS), -1)
        return (parts * self.share.softmax(-1).unsqueeze(-1)).sum(-2)


def mix_powers(graph: NodeGraph, x: Tensor) -> Tensor:
    """Return ``[S^j x_j]`` of the equal parts ``x_j`` of the columns."""
    own, near, far = x.chunk(len(POWERS), -1)
    near, far = graph.smooth(torch.cat([near, far], -1)).chunk(2, -1)
    return torch.cat([own, near, graph.smooth(far.contiguous())], -1)
