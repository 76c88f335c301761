"""Pooling into soft clusters, a fixed number a graph: ``S^T X`` and ``S^T A S``.

Nodes are concatenated without padding and ``A`` is sparse; only pooled graphs are dense. The cost
is linear in nodes and edges, not quadratic in the largest graph.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from sepool_experiments.layers import convs
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import pool_sum, segment_sum
from sepool_experiments.models.parts.dense import normalise
from sepool_experiments.models.parts.segments import Blocks, block_size


class Clusters(NamedTuple):
    """Pooled graphs, one row of clusters a graph.

    Attributes:
        x: ``S^T X``.
        adjacency: ``S^T A S``.
        overlap: ``S^T S``.
    """

    x: Tensor
    adjacency: Tensor
    overlap: Tensor


class Nodes:
    """The nodes of a batch and their adjacency without loops and weights.

    The batch is prepared for `sepool_experiments.layers.convs.GCN`: every node has a loop.
    ``not_loop`` is 1 for every other entry of the adjacency, 0 for loops and padding.

    Args:
        batch: batch of graphs.
        nodes: average number of nodes of a graph.
    """

    def __init__(self, batch: ReplicaBatch, nodes: int) -> None:
        a = batch.operators[0].adjacency
        self.ptr, self.graph = batch.levels.graph_ptr(0), batch.levels.batch(0)
        self.not_loop = ((a.weight != 0) & (a.row != a.index)).float()
        self.adjacency = a.weighted(self.not_loop)
        self.degree = segment_sum(self.not_loop.unsqueeze(1), a.ptr)
        self.blocks = Blocks(self.ptr, self.graph, block_size(nodes))

    def pool(self, s: Tensor, x: Tensor) -> Clusters:
        """Pool rows ``x`` with assignments ``s``, whose rows sum to 1."""
        width, k = x.size(1), s.size(1)
        products = self.blocks.product(s, torch.cat([x, self.adjacency.propagate(s), s], 1))
        return Clusters(*torch.split(products, [width, k, k], 2))

    def total(self, values: Tensor) -> Tensor:
        """Return the sum over the nodes of every graph, of one number a node."""
        return pool_sum(values.view(-1, 1), self.ptr, self.graph).squeeze(1)


def pool_clusters(s: Tensor, x: Tensor, adjacency: Tensor) -> Clusters:
    """Pool dense graphs."""
    transposed = s.transpose(1, 2)
    return Clusters(transposed @ x, transposed @ adjacency @ s, transposed @ s)


def convolve(conv: nn.Module, x: Tensor, adjacency: Tensor) -> Tensor:
    """Return ``D^-1/2 (A + I) D^-1/2 X W + b``, a graph convolution on dense graphs."""
    return update(conv, aggregate(x, adjacency))


def aggregate(x: Tensor, adjacency: Tensor) -> Tensor:
    """Return ``D^-1/2 (A + I) D^-1/2 X``, the aggregation of `convolve`."""
    return normalise(adjacency, loops=True) @ x


def update(conv: nn.Module, aggregated: Tensor) -> Tensor:
    """Return ``X W + b`` of aggregated features, the update of `convolve`."""
    assert isinstance(conv, convs.GCN)
    return conv.update(aggregated.flatten(0, 1)).view(*aggregated.shape[:2], -1)


def trace(matrices: Tensor) -> Tensor:
    """Return the trace of every matrix."""
    return matrices.diagonal(dim1=1, dim2=2).sum(1)


def mean_over(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the graphs of every replica, from one value a graph, without padding."""
    return (values.view_as(mask) * mask).sum(1) / mask.sum(1).clamp(min=1)


def readout_clusters(x: Tensor, readout: str) -> Tensor:
    """Return the sum or mean over the clusters of every graph."""
    return x.sum(1) if readout == "sum" else x.mean(1)
