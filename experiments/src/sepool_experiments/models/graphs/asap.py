"""ASAP: one cluster a neighbourhood; the clusters with the highest fitness are selected."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import LAYERS, GraphModel, start
from sepool_experiments.models.parts.clusters import convolve
from sepool_experiments.models.parts.neighbourhoods import Fitness, Pooled, pool_dense, pool_nodes


class ASAP(GraphModel):
    """Ranjan et al., "ASAP: adaptive structure aware pooling", 2020.

    A node attends to its neighbourhood, ``x'_i = sum_j s_ij x_j``, with the maximum over the
    neighbourhood as the query; a local convolution scores the fitness of every such cluster, the
    quarter with the highest fitness is selected, and ``A' = S^T A S`` without its diagonal is the
    pooled adjacency. Three blocks of a convolution and this pooling, and the readouts of all
    blocks. Equal to `torch_geometric.nn.ASAPooling`, for many replicas (see
    `sepool_experiments.models.parts.neighbourhoods`).
    """

    def make(self) -> int:
        """Make three convolutions, and a pooling after each."""
        self.convs = self.gcns()
        self.pool, self.pool_again, self.pool_last = (
            Fitness(self.hidden, self.replicas) for _ in range(LAYERS)
        )
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all blocks."""
        first, second, third = self.convs
        pooled = pool_nodes(self.pool, start(first, batch, relu=True), batch, self.nodes)
        readouts = [self.read_pooled(pooled)]
        for conv, pool in ((second, self.pool_again), (third, self.pool_last)):
            x = convolve(conv, pooled.x, pooled.adjacency).relu() * pooled.mask.unsqueeze(2)
            pooled = pool_dense(pool, pooled._replace(x=x))
            readouts.append(self.read_pooled(pooled))
        return torch.cat(readouts, 1)

    def read_pooled(self, pooled: Pooled) -> Tensor:
        """Return the sum or mean over the selected clusters."""
        total = pooled.x.sum(1)
        if self.readout == "sum":
            return total
        return total / pooled.mask.sum(1, keepdim=True).clamp(min=1)
