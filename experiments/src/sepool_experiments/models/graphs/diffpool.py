"""DiffPool: one convolution embeds the nodes, another assigns them to clusters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import LAYERS, GraphModel, padded_graph_mask, start
from sepool_experiments.models.parts.clusters import (
    Nodes,
    aggregate,
    convolve,
    pool_clusters,
    readout_clusters,
    trace,
    update,
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
        """Make three convolutions for embeddings, two for assignments."""
        self.convs = self.gcns()
        widths = (self.in_channels, self.hidden)
        self.assigns = nn.ModuleList(self.gcn(w, self.clusters(i)) for i, w in enumerate(widths, 1))
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all three levels."""
        (first, second, third), (assign, assign_again) = self.convs, self.assigns
        mask, nodes = padded_graph_mask(batch), Nodes(batch, self.nodes)
        s, z = start(assign, batch, relu=False).softmax(1), start(first, batch, relu=True)
        readouts = [self.read(z, batch)]
        x, a, overlap = nodes.pool(s, z)
        # |A - S S^T|^2 = |A|^2 - 2 tr(S^T A S) + |S^T S|^2, without a dense A.
        distance = nodes.total(nodes.degree) - 2 * trace(a) + overlap.square().sum((1, 2))
        max_nodes = (nodes.ptr.diff().view_as(mask) * mask).amax(1)
        losses = penalty(distance, nodes.total(entropy(s)), max_nodes, mask)
        aggregated = aggregate(x, a)
        s, z = update(assign_again, aggregated).softmax(2), update(second, aggregated).relu()
        readouts.append(readout_clusters(z, self.readout))
        distance = (a - s @ s.transpose(1, 2)).square().sum((1, 2))
        size = torch.full_like(max_nodes, s.size(1))
        if self.training:
            self.auxiliary = losses + penalty(distance, entropy(s).sum(1), size, mask)
        x, a, _ = pool_clusters(s, z, a)
        readouts.append(readout_clusters(convolve(third, x, a).relu(), self.readout))
        return torch.cat(readouts, 1)


def entropy(s: Tensor) -> Tensor:
    """Return the entropy of every assignment, in nats."""
    return -(s * (s + 1e-15).log()).sum(-1)


def penalty(distance: Tensor, entropies: Tensor, size: Tensor, mask: Tensor) -> Tensor:
    """Return the sum of both losses of every replica, scaled as in PyG.

    Args:
        distance: ``|A - S S^T|^2`` of every graph.
        entropies: sum of the entropies of the assignments of every graph.
        size: number of nodes that PyG pads the graphs of a replica to.
        mask: False for padding, one row a replica.
    """
    rows, size = mask.sum(1) * size.clamp(min=1), size.clamp(min=1)
    link = (distance.view_as(mask) * mask).sum(1).clamp(min=TINY).sqrt() / (rows * size)
    return link + (entropies.view_as(mask) * mask).sum(1) / rows
