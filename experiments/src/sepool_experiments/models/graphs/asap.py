"""ASAP: every node with its neighbours is a cluster; the fittest clusters are kept."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import LAYERS, GraphModel, start
from sepool_experiments.models.parts.clusters import convolve
from sepool_experiments.models.parts.neighbourhoods import Fitness, Kept, pool_dense, pool_nodes


class ASAP(GraphModel):
    """Ranjan et al., "ASAP: adaptive structure aware pooling", 2020.

    A node attends to its neighbourhood, ``x'_i = sum_j s_ij x_j``, with the maximum over the
    neighbourhood as the query; a local convolution says how fit every such cluster is, the fittest
    quarter stays, and ``A' = S^T A S`` without its diagonal joins them. Three blocks of a
    convolution and this pooling, and the readouts of all blocks. It computes what
    `torch_geometric.nn.ASAPooling` computes, for many replicas (see
    `sepool_experiments.models.parts.neighbourhoods`).
    """

    def make(self) -> int:
        """Three convolutions, and a pooling after each."""
        self.convs = self.gcns()
        self.pool, self.pool_again, self.pool_last = (
            Fitness(self.hidden, self.replicas) for _ in range(LAYERS)
        )
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """The readouts of all blocks."""
        first, second, third = self.convs
        kept = pool_nodes(self.pool, start(first, batch, relu=True), batch, self.nodes)
        found = [self.read_kept(kept)]
        for conv, pool in ((second, self.pool_again), (third, self.pool_last)):
            x = convolve(conv, kept.x, kept.adjacency).relu() * kept.there.unsqueeze(2)
            kept = pool_dense(pool, kept._replace(x=x))
            found.append(self.read_kept(kept))
        return torch.cat(found, 1)

    def read_kept(self, kept: Kept) -> Tensor:
        """The sum or mean over the clusters that stayed."""
        total = kept.x.sum(1)
        if self.readout == "sum":
            return total
        return total / kept.there.sum(1, keepdim=True).clamp(min=1)
