"""DiffPool: one convolution embeds the nodes, another assigns them to clusters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import LAYERS, GraphModel, real_graphs, start
from sepool_experiments.models.parts.clusters import (
    Nodes,
    combine,
    convolve,
    gather,
    pool_clusters,
    readout_clusters,
    trace,
)
from sepool_experiments.models.parts.dense import TINY


class DiffPool(GraphModel):
    """Ying et al., "Hierarchical graph representation learning with differentiable pooling", 2018.

    ``S = softmax(GCN_pool(X, A))``, ``Z = ReLU(GCN_embed(X, A))``, ``X' = S^T Z`` and
    ``A' = S^T A S``, twice, and a third convolution; the readouts of all three. Training adds the
    two losses of `torch_geometric.nn.dense_diff_pool` for both poolings: ``|A - S S^T|_F`` and the
    entropy of the assignments.
    """

    def make(self) -> int:
        """Three convolutions that embed, two that assign."""
        self.convs = self.gcns()
        widths = (self.in_channels, self.hidden)
        self.assigns = nn.ModuleList(self.gcn(w, self.clusters(i)) for i, w in enumerate(widths, 1))
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """The readouts of all three levels."""
        (first, second, third), (assign, assign_again) = self.convs, self.assigns
        real, nodes = real_graphs(batch), Nodes(batch, self.nodes)
        s, z = start(assign, batch, relu=False).softmax(1), start(first, batch, relu=True)
        found = [self.read(z, batch)]
        x, a, overlap = nodes.pool(s, z)
        # |A - S S^T|^2 = |A|^2 - 2 tr(S^T A S) + |S^T S|^2: nothing as large as A is dense.
        apart = nodes.total(nodes.degree) - 2 * trace(a) + overlap.square().sum((1, 2))
        largest = (nodes.ptr.diff().view_as(real) * real).amax(1)
        losses = penalty(apart, nodes.total(entropy(s)), largest, real)
        seen = gather(x, a)
        s, z = combine(assign_again, seen).softmax(2), combine(second, seen).relu()
        found.append(readout_clusters(z, self.readout))
        apart = (a - s @ s.transpose(1, 2)).square().sum((1, 2))
        size = torch.full_like(largest, s.size(1))
        if self.training:
            self.auxiliary = losses + penalty(apart, entropy(s).sum(1), size, real)
        x, a, _ = pool_clusters(s, z, a)
        found.append(readout_clusters(convolve(third, x, a).relu(), self.readout))
        return torch.cat(found, 1)


def entropy(s: Tensor) -> Tensor:
    """The entropy of every assignment, in nats."""
    return -(s * (s + 1e-15).log()).sum(-1)


def penalty(apart: Tensor, doubt: Tensor, size: Tensor, real: Tensor) -> Tensor:
    """Both losses of every replica, scaled as PyG scales them, which pads to the largest ``size``.

    ``apart`` is ``|A - S S^T|^2`` and ``doubt`` the entropy of all assignments of every graph.
    """
    rows = real.sum(1) * size.clamp(min=1)
    link = (apart.view_as(real) * real).sum(1).clamp(min=TINY).sqrt() / (rows * size.clamp(min=1))
    return link + (doubt.view_as(real) * real).sum(1) / rows
