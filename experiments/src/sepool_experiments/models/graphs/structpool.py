"""StructPool: assignments from a conditional random field over the graph."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool_experiments.layers.adjacency import Adjacency, edge_dot, weighted_propagate
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import pool_sum, unpool
from sepool_experiments.models.graphs.model import LAYERS, GraphModel, go_on, start
from sepool_experiments.models.parts.clusters import Nodes, convolve, readout_clusters
from sepool_experiments.models.parts.dense import TINY

ROUNDS = 5


class StructPool(GraphModel):
    """Yuan and Ji, "StructPool: structured graph pooling via conditional random fields", 2020.

    Two convolutions, one pooling to a quarter of the average number of nodes, and a convolution
    between the clusters; the readouts of all three. The energy of an assignment has a term for
    every node, from a convolution, and one for every edge, from the similarity of its ends and
    their clusters; mean-field inference computes the assignments (`infer`).
    """

    def make(self) -> int:
        """Make three convolutions, one for the node energies, and the energies of cluster pairs."""
        self.convs = self.gcns()
        self.unary = self.gcn(self.hidden, self.clusters())
        self.pairs = self.linear(self.clusters(), self.clusters(), bias=False)
        with torch.no_grad():  # initially, a shared cluster has the lowest energy
            self.pairs.weight.copy_(-torch.eye(self.clusters()))
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all three layers."""
        first, second, third = self.convs
        nodes, prepared = Nodes(batch, self.nodes), batch.operators[0]
        x = start(first, batch, relu=True)
        readouts = [self.read(x, batch)]
        x = go_on(second, x, batch)
        readouts.append(self.read(x, batch))
        similarity = edge_similarity(x, nodes.adjacency, nodes.not_loop)
        s = infer(-self.unary(x, prepared), similarity, nodes.adjacency, self.pairs)
        x, a, _ = nodes.pool(s, x)
        x = convolve(third, x, a).relu()
        return torch.cat([*readouts, readout_clusters(x, self.readout)], 1)


def edge_similarity(x: Tensor, a: Adjacency, not_loop: Tensor) -> Tensor:
    """Return ``x_i . x_j`` of the ends of every edge, normalised over the neighbours of ``i``.

    ``x`` is non-negative; ``not_loop`` is 0 for loops and padding.
    """
    product = (edge_dot(a, x) * not_loop).unsqueeze(1)
    total = unpool(pool_sum(product, a.ptr, a.row), a.ptr, a.row)
    return (product / total.clamp(min=TINY)).squeeze(1)


def infer(
    unary: Tensor, similarity: Tensor, a: Adjacency, pairs: Linear, rounds: int = ROUNDS
) -> Tensor:
    """Return the assignments after rounds of ``Q = softmax(-U - W Q C)``, mean-field inference.

    ``U`` is the energy of every node in every cluster, ``W`` the similarity of every edge, and
    ``C``, the weight of ``pairs``, the energy of neighbours in two clusters.
    """
    c = pairs.weight.view(-1, *pairs.weight.shape[-2:])  # one matrix a replica
    low = -unary.view(len(c), -1, unary.size(1))
    q = low.softmax(2)
    for _ in range(rounds):
        messages = weighted_propagate(a, q.flatten(0, 1), similarity).view_as(q)
        q = torch.baddbmm(low, messages, c, alpha=-1).softmax(2)
    return q.flatten(0, 1)
