"""MixHop: neighbours at several distances side by side."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from sepool.baselines.nodes.model import InputLinear, NodeGraph, NodeModel
from sepool.nn.dropout import Dropout

POWERS = (0, 1, 2)


class MixHop(NodeModel):
    """Abu-El-Haija et al., "MixHop: higher-order graph convolutional architectures", 2019.

    A layer is ``[S^j H W_j for j = 0, 1, 2]``, side by side; the last one adds its parts up,
    weighed by a learned softmax. As published: two layers with 20 columns a power, tanh, dropout
    0.7 on the input and between, weight decay 5e-3, here on the first layer alone; the authors
    descend plainly at rate 0.5, with Adam that decay on all layers leaves nothing to learn.

    Args:
        in_channels: the width of the features.
        hidden: columns a power.
        out_channels: the number of classes.
        dropout: the share dropped before every layer.
        replicas: how many models to hold; None for one.
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
        self.first = InputLinear(in_channels, wide, dropout, replicas=replicas)
        self.second = self.linear(wide, wide)
        self.last = self.linear(wide, len(POWERS) * out_channels)
        lead = () if replicas is None else (replicas,)
        self.share = nn.Parameter(torch.zeros(*lead, len(POWERS)))
        self.drops = nn.ModuleList(Dropout(dropout, 1 + i) for i in range(2))

    def forward_prepared(self, graph: NodeGraph) -> Tensor:
        """The logits of all nodes."""
        drop, drop_again = self.drops
        x = self.first.shift(mix_powers(graph, self.first.product_with(graph.sparse)))
        x = self.second.shift(mix_powers(graph, self.second.product(drop(x.tanh()))))
        x = self.last.shift(mix_powers(graph, self.last.product(drop_again(x.tanh()))))
        parts = x.view(*x.shape[:-1], len(POWERS), -1)
        return (parts * self.share.softmax(-1).unsqueeze(-1)).sum(-2)


def mix_powers(graph: NodeGraph, x: Tensor, powers: Sequence[int] = POWERS) -> Tensor:
    """``[S^j x_j]`` of the equal parts ``x_j`` of the columns; powers ascend.

    The parts of higher powers are smoothed together, as long as that is the same.
    """
    done, rest, at = [], list(x.chunk(len(powers), -1)), 0
    for power in powers:
        if power > at:
            smoothed = graph.smooth(torch.cat(rest, -1), power - at)
            rest, at = list(smoothed.chunk(len(rest), -1)), power
        done.append(rest.pop(0))
    return torch.cat(done, -1)
