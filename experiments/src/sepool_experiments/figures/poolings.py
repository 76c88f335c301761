"""Pooling and unpooling in one: what every node has left of its features afterwards.

All replicas lie one after the other, each with a copy of the graph. Nodes that are dropped come
back as zeros (Gao and Ji, 2019); soft clusters give back what they hold to their members, ``S S^T
X`` for an ``S`` with one row a node (Eq. 15 of the paper). A quarter stays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.pyg.hierarchy import SORTED
from sepool_experiments.layers import Linear
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import Prepared
from sepool_experiments.layers.convs import GCN
from sepool_experiments.models.graphs.diffpool import entropy, penalty
from sepool_experiments.models.graphs.model import RATIO
from sepool_experiments.models.graphs.topkpool import along
from sepool_experiments.models.parts.dense import TINY, crowding
from sepool_experiments.models.parts.neighbourhoods import Fitness, look_around
from sepool_experiments.models.parts.selection import gate, top_nodes


@dataclass
class Copies:
    """A graph once for every replica.

    Attributes:
        x: the features, replica after replica.
        graph: what a graph convolution needs; a loop at every node is an entry of the adjacency.
        near: the same entries, all of weight 1.
        apart: the same entries, loops of weight 0.
        degree: how many neighbours every node has.
        ptr: where the nodes of every replica begin.
        replica: the replica of every node.
    """

    x: Tensor
    graph: Prepared
    near: Adjacency
    apart: Adjacency
    degree: Tensor
    ptr: Tensor
    replica: Tensor

    @classmethod
    def of(cls, data: Data, replicas: int) -> Copies:
        """Copies of a graph, edges of which are given in both directions."""
        nodes, here = len(data.x), torch.arange(len(data.x), device=data.x.device)
        numbers = torch.arange(replicas, device=here.device)
        one = torch.cat([data.edge_index, here.expand(2, -1)], 1)
        one = one[:, (one[0] * nodes + one[1]).argsort()]
        edges = (one.unsqueeze(1) + nodes * numbers.view(-1, 1)).flatten(1)
        a = Adjacency.from_edges(edges, None, replicas * nodes, SORTED)
        a.transpose()  # found once, for all that follow
        apart = (a.row != a.index).to(data.x.dtype)
        return cls(
            data.x.repeat(replicas, 1),
            Prepared(GCN.prepare(a).adjacency),
            a.weighted(torch.ones_like(apart)),
            a.weighted(apart),
            a.weighted(apart).degree().unsqueeze(1),
            torch.arange(replicas + 1, device=here.device) * nodes,
            numbers.repeat_interleave(nodes),
        )

    def by_replica(self, x: Tensor) -> Tensor:
        """Rows of all replicas, ``(R, N, width)``."""
        return x.view(len(self.ptr) - 1, -1, x.size(1))


class RoundTrip(nn.Module, ABC):
    """A pooling and its unpooling.

    Args:
        width: of the features.
        nodes: how many the graph has.
        replicas: how many models there are.

    Attributes:
        auxiliary: what the last call adds to the loss, one value a replica, or None.
    """

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__()
        self.width, self.nodes, self.replicas = width, nodes, replicas
        self.auxiliary: Tensor | None = None
        self.make()

    @abstractmethod
    def make(self) -> None:
        """Makes the layers."""

    @abstractmethod
    def forward(self, x: Tensor, copies: Copies) -> Tensor:
        """What every node has left."""


class TopK(RoundTrip):
    """Gao and Ji, "Graph U-Nets", 2019."""

    def make(self) -> None:
        """The direction."""
        self.direction = Linear(self.width, 1, bias=False, replicas=self.replicas)

    def forward(self, x: Tensor, copies: Copies) -> Tensor:
        """The nodes that lie farthest along it."""
        score = along(self.direction, x)
        kept = top_nodes(score, None, copies.ptr, copies.replica).nodes
        return gate(x, score, kept)


class SelfAttention(RoundTrip):
    """Lee et al., "Self-attention graph pooling", 2019."""

    def make(self) -> None:
        """A convolution to one channel."""
        self.conv = GCN(self.width, 1, replicas=self.replicas)

    def forward(self, x: Tensor, copies: Copies) -> Tensor:
        """The nodes to which it gives most."""
        score: Tensor = self.conv(x, copies.graph).squeeze(1)
        kept = top_nodes(score, None, copies.ptr, copies.replica).nodes
        return gate(x, score, kept)


class AdaptiveStructure(RoundTrip):
    """Ranjan et al., "ASAP: adaptive structure aware pooling", 2020."""

    def make(self) -> None:
        """What says how fit a node and its neighbours are."""
        self.fitness = Fitness(self.width, self.replicas)

    def forward(self, x: Tensor, copies: Copies) -> Tensor:
        """The fittest clusters, each in the place of the node in its middle."""
        x, _, fit = look_around(self.fitness, x, copies.near)
        kept = top_nodes(fit, None, copies.ptr, copies.replica).nodes
        return x * (fit.sigmoid() * kept).unsqueeze(1)


class SoftClusters(RoundTrip, ABC):
    """Clusters of which every node has a share."""

    @abstractmethod
    def assign(self, x: Tensor, copies: Copies) -> Tensor:
        """What the shares are the softmax of."""

    @abstractmethod
    def penalise(self, s: Tensor, seen: Tensor, degree: Tensor) -> Tensor:
        """The loss that comes with it, from the shares, ``A S`` and the degrees."""

    @property
    def clusters(self) -> int:
        """A quarter of the nodes."""
        return ceil(RATIO * self.nodes)

    def forward(self, x: Tensor, copies: Copies) -> Tensor:
        """What the clusters of every node hold."""
        flat = self.assign(x, copies).softmax(1)
        s = copies.by_replica(flat)
        if self.training:
            seen = copies.by_replica(copies.apart.propagate(flat))
            self.auxiliary = self.penalise(s, seen, copies.by_replica(copies.degree))
        return (s @ (s.transpose(1, 2) @ copies.by_replica(x))).flatten(0, 1)


class Diff(SoftClusters):
    """Ying et al., "Hierarchical graph representation learning ...", NeurIPS 2018: DiffPool."""

    def make(self) -> None:
        """A convolution that assigns."""
        self.conv = GCN(self.width, self.clusters, replicas=self.replicas)

    def assign(self, x: Tensor, copies: Copies) -> Tensor:
        """What it gives."""
        out: Tensor = self.conv(x, copies.graph)
        return out

    def penalise(self, s: Tensor, seen: Tensor, degree: Tensor) -> Tensor:
        """``|A - S S^T|_F`` and the entropy of the shares, scaled as PyG scales them."""
        overlap = s.transpose(1, 2) @ s
        inside = (s * seen).sum((1, 2))
        apart = degree.sum((1, 2)) - 2 * inside + overlap.square().sum((1, 2))
        size = torch.full_like(apart, self.nodes)
        real = torch.ones_like(apart).unsqueeze(1)
        return penalty(apart, entropy(s).sum(1), size, real)


class MinCut(SoftClusters):
    """Bianchi et al., "Spectral clustering with graph neural networks for graph pooling", 2020."""

    def make(self) -> None:
        """A layer that assigns."""
        self.linear = Linear(self.width, self.clusters, replicas=self.replicas)

    def assign(self, x: Tensor, copies: Copies) -> Tensor:
        """What it gives."""
        out: Tensor = self.linear(x)
        return out

    def penalise(self, s: Tensor, seen: Tensor, degree: Tensor) -> Tensor:
        """``-tr(S^T A S) / tr(S^T D S)``, and how far the clusters are from equal and separate."""
        inside = (s * seen).sum((1, 2))
        weight = (degree * s.square()).sum((1, 2)).clamp(min=TINY)
        return crowding(s.transpose(1, 2) @ s) - inside / weight


ROUND_TRIPS: dict[str, type[RoundTrip]] = {
    "TopKPool": TopK,
    "SAGPool": SelfAttention,
    "ASAP": AdaptiveStructure,
    "DiffPool": Diff,
    "MinCutPool": MinCut,
}
