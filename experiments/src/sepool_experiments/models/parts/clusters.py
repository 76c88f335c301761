"""Pooling into soft clusters, a fixed number a graph: ``S^T X`` and ``S^T A S``.

Nodes stay a ragged list of rows and ``A`` stays sparse; only what is pooled is dense. So large
graphs cost what their nodes and edges cost, not the square of the largest.
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

    The batch is prepared for `sepool_experiments.layers.convs.GCN`: every node has a loop. A graph
    has ``nodes`` on average.
    """

    def __init__(self, batch: ReplicaBatch, nodes: int) -> None:
        a = batch.operators[0].adjacency
        self.ptr, self.graph = batch.levels.graph_ptr(0), batch.levels.batch(0)
        self.apart = ((a.weight != 0) & (a.row != a.index)).float()
        self.adjacency = a.weighted(self.apart)
        self.degree = segment_sum(self.apart.unsqueeze(1), a.ptr)
        self.blocks = Blocks(self.ptr, self.graph, block_size(nodes))

    def pool(self, s: Tensor, x: Tensor) -> Clusters:
        """Pools rows ``x`` with assignments ``s``, whose rows sum to 1."""
        width, k = x.size(1), s.size(1)
        seen = self.blocks.product(s, torch.cat([x, self.adjacency.propagate(s), s], 1))
        return Clusters(*torch.split(seen, [width, k, k], 2))

    def total(self, values: Tensor) -> Tensor:
        """The sum over the nodes of every graph, of one number a node."""
        return pool_sum(values.view(-1, 1), self.ptr, self.graph).squeeze(1)


def pool_clusters(s: Tensor, x: Tensor, adjacency: Tensor) -> Clusters:
    """Pools graphs that are dense already."""
    back = s.transpose(1, 2)
    return Clusters(back @ x, back @ adjacency @ s, back @ s)


def convolve(conv: nn.Module, x: Tensor, adjacency: Tensor) -> Tensor:
    """A graph convolution on dense graphs: ``D^-1/2 (A + I) D^-1/2 X W + b``."""
    return combine(conv, gather(x, adjacency))


def gather(x: Tensor, adjacency: Tensor) -> Tensor:
    """What such convolutions see: ``D^-1/2 (A + I) D^-1/2 X``."""
    return normalise(adjacency, loops=True) @ x


def combine(conv: nn.Module, gathered: Tensor) -> Tensor:
    """What one makes of it."""
    assert isinstance(conv, convs.GCN)
    return conv.update(gathered.flatten(0, 1)).view(*gathered.shape[:2], -1)


def trace(matrices: Tensor) -> Tensor:
    """The trace of every matrix."""
    return matrices.diagonal(dim1=1, dim2=2).sum(1)


def mean_over(values: Tensor, real: Tensor) -> Tensor:
    """The mean over the graphs of every replica, from one value a graph, without padding."""
    return (values.view_as(real) * real).sum(1) / real.sum(1).clamp(min=1)


def readout_clusters(x: Tensor, readout: str) -> Tensor:
    """The sum or mean over the clusters of every graph."""
    return x.sum(1) if readout == "sum" else x.mean(1)
