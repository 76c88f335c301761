"""DGI: node features learned without labels, then a linear model."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool_experiments.layers.dropout import Keyed, noise
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class Shuffle(Keyed):
    """Deals the rows of every replica out anew: the graph stays, features change places."""

    def forward(self, x: Tensor) -> Tensor:
        """The same rows in another order."""
        if self.keys is None:
            order = torch.rand(1, len(x), device=x.device).argsort(1)
        else:
            order = noise(self.keys, len(x), self.salt).argsort(1)
        if x.dim() == 2:
            return x.index_select(0, order[0])
        return x.gather(0, order.t().unsqueeze(-1).expand_as(x))


class DGI(NodeModel):
    """The encoder of Velickovic et al., "Deep graph infomax", 2019.

    ``H = PReLU(S X W + b)`` is trained so that ``sigmoid(h_i^T M s)`` tells nodes of the graph from
    those of the graph with shuffled features, ``s = sigmoid(mean of H)``. As published: 512
    columns, learning rate 1e-3, stopped after 20 epochs without a lower loss.
    """

    def __init__(self, in_channels: int, hidden: int, *, replicas: int | None = None) -> None:
        super().__init__(replicas)
        lead = () if replicas is None else (replicas,)
        self.first = InputLinear(in_channels, hidden, replicas=replicas)
        self.slope = nn.Parameter(torch.full((*lead, 1), 0.25))
        self.bilinear = self.linear(hidden, hidden, bias=False)
        self.shuffle = Shuffle(1)

    def encode(self, x: Tensor, graph: NodeGraph) -> Tensor:
        """``PReLU(S x + b)``."""
        x = self.first.shift(graph.smooth(x))
        return torch.where(x > 0, x, self.slope * x)

    def scores(self, graph: NodeGraph) -> tuple[Tensor, Tensor]:
        """The discriminator's logits of the nodes, and of those with shuffled features."""
        x = self.first.sparse_product(graph.sparse)
        here, shuffled = self.encode(x, graph), self.encode(self.shuffle(x), graph)
        summary = self.bilinear(here.mean(0, keepdim=True).sigmoid())
        return (here * summary).sum(-1), (shuffled * summary).sum(-1)

    def loss(self, graph: NodeGraph) -> Tensor:
        """How badly the discriminator does, one value a replica."""
        here, shuffled = self.scores(graph)
        return (F.softplus(-here) + F.softplus(shuffled)).mean(0) / 2

    def forward(self, graph: NodeGraph) -> Tensor:
        """What was learned of every node."""
        return self.encode(self.first.sparse_product(graph.sparse), graph)


class Probe(NodeModel):
    """The linear model of what `DGI` learned; as published, learning rate 0.01 and no decay."""

    def __init__(
        self, in_channels: int, hidden: int, out_channels: int, *, replicas: int | None = None
    ) -> None:
        super().__init__(replicas)
        self.in_channels, self.hidden = in_channels, hidden
        self.first = self.linear(hidden, out_channels)

    def make_encoder(self, replicas: int) -> DGI:
        """The model that is trained before this one, and whose output it sees."""
        return DGI(self.in_channels, self.hidden, replicas=replicas)

    def forward(self, graph: Tensor) -> Tensor:
        """The logits of all nodes, from what was learned of them."""
        logits: Tensor = self.first(graph)
        return logits
