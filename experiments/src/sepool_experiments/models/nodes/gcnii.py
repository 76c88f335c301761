"""GCNII: deep graph convolutions with initial residuals and identity mappings."""

from __future__ import annotations

import math

from torch import Tensor, nn

from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class GCNII(NodeModel):
    """Chen et al., "Simple and deep graph convolutional networks", 2020.

    ``H_{l+1} = relu(((1 - a) S H_l + a H_0) ((1 - b_l) I + b_l W_l))`` with ``b_l = log(1 + c/l)``.
    As published: ``a = 0.1``; Cora 64 layers of width 64, ``c = 0.5``, dropout 0.6; CiteSeer 32 of
    256, 0.6, 0.7; PubMed 16 of 256, 0.4, 0.5; weight decay 0.01 on the convolutions (PubMed 5e-4)
    and 5e-4 on the layers before and after; learning rate 0.01; patience 100.

    Args:
        layers: number of convolutions.
        alpha: ``a``, weight of the initial residual.
        strength: ``c`` (lambda in the paper), which scales the weight ``b_l`` of ``W_l``.
    """

    decayed = ("convs",)

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        layers: int = 64,
        alpha: float = 0.1,
        strength: float = 0.5,
        dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        self.alpha = alpha
        self.shares = [math.log(1 + strength / layer) for layer in range(1, layers + 1)]
        self.first = InputLinear(in_channels, hidden, dropout, replicas=replicas)
        self.convs = nn.ModuleList(self.linear(hidden, hidden, bias=False) for _ in range(layers))
        self.last = self.linear(hidden, out_channels)
        self.drops = nn.ModuleList(Dropout(dropout, 1 + i) for i in range(layers + 1))

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the logits of all nodes."""
        start = self.first.shift(self.first.sparse_product(graph.sparse)).relu()
        x = start
        for drop, conv, share in zip(self.drops, self.convs, self.shares, strict=False):
            assert isinstance(conv, Linear)
            support = (1 - self.alpha) * graph.smooth(drop(x)) + self.alpha * start
            x = (share * conv(support) + (1 - share) * support).relu()
        logits: Tensor = self.last(self.drops[-1](x))
        return logits
