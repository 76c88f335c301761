"""Pooling to a quarter of the nodes, followed by unpooling.

Replicas are stacked along the nodes, each with a copy of the graph. Dropped nodes are unpooled as
zeros (Gao and Ji, 2019); soft clusters as ``S S^T X``, for an ``S`` with one row a node (Eq. 15 of
the paper).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.pyg.hierarchy import SORTED
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.layers.convs import GCN
from sepool_experiments.layers.linear import Linear
from sepool_experiments.models.graphs.diffpool import entropy, penalty
from sepool_experiments.models.graphs.model import RATIO
from sepool_experiments.models.graphs.topkpool import project
from sepool_experiments.models.parts.dense import TINY, orthogonality_loss
from sepool_experiments.models.parts.neighbourhoods import Fitness, neighbourhood_attention
from sepool_experiments.models.parts.selection import gate, top_nodes
from sepool_experiments.protocols.figures import TREE_SYSTEM


@dataclass
class ReplicatedGraph:
    """One copy of a graph for every replica.

    Attributes:
        x: features, stacked by replica.
        operator: normalised adjacency with self-loops, for `GCN`.
        unweighted: the same entries with weight 1.
        loopless: the same entries, self-loops with weight 0.
        degree: number of neighbours of every node.
        ptr: first node of every replica.
        replica: replica of every node.
        clusters: assignment of the nodes of one graph to clusters of a tree, if there is one.
    """

    x: Tensor
    operator: Operator
    unweighted: Adjacency
    loopless: Adjacency
    degree: Tensor
    ptr: Tensor
    replica: Tensor
    clusters: Tensor

    @classmethod
    def of(cls, data: Data, replicas: int) -> ReplicatedGraph:
        """Replicate a graph with edges in both directions."""
        nodes, ids = len(data.x), torch.arange(len(data.x), device=data.x.device)
        numbers = torch.arange(replicas, device=ids.device)
        single = torch.cat([data.edge_index, ids.expand(2, -1)], 1)
        single = single[:, (single[0] * nodes + single[1]).argsort()]
        edges = (single.unsqueeze(1) + nodes * numbers.view(-1, 1)).flatten(1)
        a = Adjacency.from_edges(edges, None, replicas * nodes, SORTED)
        a.transpose()  # cached, and shared by the reweighted adjacencies
        off_diagonal = (a.row != a.index).to(data.x.dtype)
        return cls(
            data.x.repeat(replicas, 1),
            Operator(GCN.prepare(a).adjacency),
            a.weighted(torch.ones_like(off_diagonal)),
            a.weighted(off_diagonal),
            a.weighted(off_diagonal).degree().unsqueeze(1),
            torch.arange(replicas + 1, device=ids.device) * nodes,
            numbers.repeat_interleave(nodes),
            torch.nn.functional.one_hot(data.labels).to(data.x.dtype),
        )

    def by_replica(self, x: Tensor) -> Tensor:
        """Reshape rows to ``(R, N, width)``."""
        return x.view(len(self.ptr) - 1, -1, x.size(1))


class PoolUnpool(nn.Module, ABC):
    """Pooling followed by unpooling; ``auxiliary`` is the last auxiliary loss, one a replica."""

    auxiliary: Tensor | None = None

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Return the features of all nodes after pooling and unpooling."""


class TopK(PoolUnpool):
    """Gao and Ji, "Graph U-Nets", 2019."""

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__(width, nodes, replicas)
        self.direction = Linear(width, 1, bias=False, replicas=replicas)

    def forward(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Keep the nodes with the largest projections."""
        score = project(self.direction, x)
        mask = top_nodes(score, None, graph.ptr, graph.replica).mask
        return gate(x, score, mask)


class SelfAttention(PoolUnpool):
    """Lee et al., "Self-attention graph pooling", 2019."""

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__(width, nodes, replicas)
        self.conv = GCN(width, 1, replicas=replicas)

    def forward(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Keep the nodes with the highest scores."""
        score: Tensor = self.conv(x, graph.operator).squeeze(1)
        mask = top_nodes(score, None, graph.ptr, graph.replica).mask
        return gate(x, score, mask)


class AdaptiveStructure(PoolUnpool):
    """Ranjan et al., "ASAP: adaptive structure aware pooling", 2020."""

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__(width, nodes, replicas)
        self.fitness = Fitness(width, replicas)

    def forward(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Keep the fittest clusters, each at its central node."""
        x, _, fitness = neighbourhood_attention(self.fitness, x, graph.unweighted)
        mask = top_nodes(fitness, None, graph.ptr, graph.replica).mask
        return x * (fitness.sigmoid() * mask).unsqueeze(1)


class Tree(PoolUnpool):
    """SEP to a level of a coding tree, and SEP-U back."""

    def forward(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Return ``S S^T X``."""
        s = graph.clusters
        return (s @ (s.T @ graph.by_replica(x))).flatten(0, 1)


class SoftClusters(PoolUnpool, ABC):
    """Soft clusters, a quarter as many as nodes."""

    @abstractmethod
    def assign(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Return the logits of the assignment matrix."""

    @abstractmethod
    def penalise(self, s: Tensor, propagated: Tensor, degree: Tensor) -> Tensor:
        """Return the auxiliary loss, from ``S``, ``A S`` and the degrees."""

    def forward(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Return ``S S^T X``."""
        flat = self.assign(x, graph).softmax(1)
        s = graph.by_replica(flat)
        if self.training:
            propagated = graph.by_replica(graph.loopless.propagate(flat))
            self.auxiliary = self.penalise(s, propagated, graph.by_replica(graph.degree))
        return (s @ (s.transpose(1, 2) @ graph.by_replica(x))).flatten(0, 1)


class Diff(SoftClusters):
    """Ying et al., "Hierarchical graph representation learning ...", NeurIPS 2018: DiffPool."""

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__(width, nodes, replicas)
        self.conv = GCN(width, ceil(RATIO * nodes), replicas=replicas)

    def assign(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Return the logits of the assignment matrix."""
        out: Tensor = self.conv(x, graph.operator)
        return out

    def penalise(self, s: Tensor, propagated: Tensor, degree: Tensor) -> Tensor:
        """Return ``|A - S S^T|_F`` plus the entropy of the assignment, scaled as in PyG."""
        overlap = s.transpose(1, 2) @ s
        inside = (s * propagated).sum((1, 2))
        distance = degree.sum((1, 2)) - 2 * inside + overlap.square().sum((1, 2))
        size = torch.full_like(distance, s.size(1))
        mask = torch.ones_like(distance).unsqueeze(1)
        return penalty(distance, entropy(s).sum(1), size, mask)


class MinCut(SoftClusters):
    """Bianchi et al., "Spectral clustering with graph neural networks for graph pooling", 2020."""

    def __init__(self, width: int, nodes: int, replicas: int) -> None:
        super().__init__(width, nodes, replicas)
        self.linear = Linear(width, ceil(RATIO * nodes), replicas=replicas)

    def assign(self, x: Tensor, graph: ReplicatedGraph) -> Tensor:
        """Return the logits of the assignment matrix."""
        out: Tensor = self.linear(x)
        return out

    def penalise(self, s: Tensor, propagated: Tensor, degree: Tensor) -> Tensor:
        """Return ``-tr(S^T A S) / tr(S^T D S)`` plus the orthogonality loss."""
        inside = (s * propagated).sum((1, 2))
        weight = (degree * s.square()).sum((1, 2)).clamp(min=TINY)
        return orthogonality_loss(s.transpose(1, 2) @ s) - inside / weight


POOLINGS: dict[str, type[PoolUnpool]] = {
    "TopKPool": TopK,
    "SAGPool": SelfAttention,
    "ASAP": AdaptiveStructure,
    "DiffPool": Diff,
    "MinCutPool": MinCut,
    TREE_SYSTEM: Tree,
}
