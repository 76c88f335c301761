"""MinCutPool: soft clusters with a relaxed minimum cut and equal sizes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import (
    LAYERS,
    GraphModel,
    apply,
    padded_graph_mask,
    rows,
    start,
)
from sepool_experiments.models.parts.clusters import (
    Nodes,
    convolve,
    mean_over,
    pool_clusters,
    readout_clusters,
    trace,
)
from sepool_experiments.models.parts.dense import TINY, normalise, orthogonality_loss


class MinCutPool(GraphModel):
    """Bianchi et al., "Spectral clustering with graph neural networks for graph pooling", 2020.

    ``S = softmax(X W + b)`` after a convolution, ``X' = S^T X``, ``A' = S^T A S`` without its
    diagonal and normalised, twice, and a third convolution; the readouts of all three. Training
    adds the two losses of `torch_geometric.nn.dense_mincut_pool` for both poolings:
    ``-tr(S^T A S) / tr(S^T D S)`` and the distance of ``S^T S`` to equal, orthogonal clusters.
    """

    def make(self) -> int:
        """Make three convolutions and two layers for assignments."""
        self.convs = self.gcns()
        counts = (self.clusters(1), self.clusters(2))
        self.assigns = nn.ModuleList(self.linear(self.hidden, count) for count in counts)
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all three levels."""
        (first, second, third), (assign, assign_again) = self.convs, self.assigns
        mask, nodes = padded_graph_mask(batch), Nodes(batch, self.nodes)
        x = start(first, batch, relu=True)
        readouts = [self.read(x, batch)]
        s = apply(assign, x, batch).softmax(1)
        weight = nodes.total(nodes.degree * s.square().sum(1, keepdim=True))
        x, a, overlap = nodes.pool(s, x)
        losses = mincut_loss(a, weight) + orthogonality_loss(overlap)
        a = normalise(a, loops=False)
        x = convolve(second, x, a).relu()
        readouts.append(readout_clusters(x, self.readout))
        s = rows(assign_again, x).softmax(2)
        weight = (a.sum(2) * s.square().sum(2)).sum(1)
        x, a, overlap = pool_clusters(s, x, a)
        losses = losses + mincut_loss(a, weight) + orthogonality_loss(overlap)
        if self.training:
            self.auxiliary = mean_over(losses, mask)
        x = convolve(third, x, normalise(a, loops=False)).relu()
        return torch.cat([*readouts, readout_clusters(x, self.readout)], 1)


def mincut_loss(pooled: Tensor, weight: Tensor) -> Tensor:
    """Return ``-tr(S^T A S) / weight`` with ``weight = tr(S^T D S)``; 0 without edges."""
    return -trace(pooled) / weight.clamp(min=TINY)
