"""DGI: unsupervised node embeddings and a linear probe."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool_experiments.layers.dropout import Keyed, noise
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel


class Shuffle(Keyed):
    """Random permutation of the rows of every replica: the corruption of the features."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows in random order."""
        if self.keys is None:
            order = torch.rand(1, len(x), device=x.device).argsort(1)
        else:
            order = noise(self.keys, len(x), self.salt).argsort(1)
        if x.dim() == 2:
            return x.index_select(0, order[0])
        return x.gather(0, order.t().unsqueeze(-1).expand_as(x))


class DGI(NodeModel):
    """The encoder of Velickovic et al., "Deep graph infomax", 2019.

    ``H = PReLU(S X W + b)`` is trained so that ``sigmoid(h_i^T M s)`` discriminates between nodes
    of the graph and of the graph with shuffled features; ``s = sigmoid(mean of H)``. As published:
    512 columns, learning rate 1e-3, patience of 20 epochs on the loss.
    """

    def __init__(self, in_channels: int, hidden: int, *, replicas: int | None = None) -> None:
        super().__init__(replicas)
        lead = () if replicas is None else (replicas,)
        self.first = InputLinear(in_channels, hidden, replicas=replicas)
        self.slope = nn.Parameter(torch.full((*lead, 1), 0.25))
        self.bilinear = self.linear(hidden, hidden, bias=False)
        self.shuffle = Shuffle(1)

    def encode(self, x: Tensor, graph: NodeGraph) -> Tensor:
        """Return ``PReLU(S x + b)``."""
        x = self.first.shift(graph.smooth(x))
        return torch.where(x > 0, x, self.slope * x)

    def scores(self, graph: NodeGraph) -> tuple[Tensor, Tensor]:
        """Return the discriminator's logits of the nodes, and of nodes with shuffled features."""
        x = self.first.sparse_product(graph.sparse)
        positive, negative = self.encode(x, graph), self.encode(self.shuffle(x), graph)
        summary = self.bilinear(positive.mean(0, keepdim=True).sigmoid())
        return (positive * summary).sum(-1), (negative * summary).sum(-1)

    def loss(self, graph: NodeGraph) -> Tensor:
        """Return the binary cross-entropy of the discriminator, one value a replica."""
        positive, negative = self.scores(graph)
        return (F.softplus(-positive) + F.softplus(negative)).mean(0) / 2

    def forward(self, graph: NodeGraph) -> Tensor:
        """Return the embeddings of all nodes."""
        return self.encode(self.first.sparse_product(graph.sparse), graph)


class Probe(NodeModel):
    """Linear model on the embeddings of `DGI`; as published, learning rate 0.01 and no decay."""

    def __init__(
        self, in_channels: int, hidden: int, out_channels: int, *, replicas: int | None = None
    ) -> None:
        super().__init__(replicas)
        self.in_channels, self.hidden = in_channels, hidden
        self.first = self.linear(hidden, out_channels)

    def make_encoder(self, replicas: int) -> DGI:
        """Return the encoder, which is trained first."""
        return DGI(self.in_channels, self.hidden, replicas=replicas)

    def forward(self, graph: Tensor) -> Tensor:
        """Return the logits of all nodes from their embeddings."""
        logits: Tensor = self.first(graph)
        return logits
