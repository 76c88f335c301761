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

    Two convolutions, one pooling to a quarter of the average graph, and a convolution between the
    clusters; the readouts of all three. The energy of an assignment has a part for every node, from
    a convolution, and one for every edge, from how alike its ends are and which clusters they are
    in; rounds of mean-field inference find the assignments (`infer`).
    """

    def make(self) -> int:
        """Three convolutions, one for the energy of nodes, and the energy of pairs of clusters."""
        self.convs = self.gcns()
        self.unary = self.gcn(self.hidden, self.clusters())
        self.pairs = self.linear(self.clusters(), self.clusters(), bias=False)
        with torch.no_grad():  # at first, neighbours like to be together
            self.pairs.weight.copy_(-torch.eye(self.clusters()))
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """The readouts of all three layers."""
        first, second, third = self.convs
        nodes, prepared = Nodes(batch, self.nodes), batch.operators[0]
        x = start(first, batch, relu=True)
        found = [self.read(x, batch)]
        x = go_on(second, x, batch)
        found.append(self.read(x, batch))
        alike = likeness(x, nodes.adjacency, nodes.apart)
        s = infer(-self.unary(x, prepared), alike, nodes.adjacency, self.pairs)
        x, a, _ = nodes.pool(s, x)
        x = convolve(third, x, a).relu()
        return torch.cat([*found, readout_clusters(x, self.readout)], 1)


def likeness(x: Tensor, a: Adjacency, apart: Tensor) -> Tensor:
    """``x_i . x_j`` of the ends of every edge, as a share of all neighbours of ``i``.

    ``x`` is not negative; ``apart`` is 0 for entries that are no edges.
    """
    product = (edge_dot(a, x) * apart).unsqueeze(1)
    total = unpool(pool_sum(product, a.ptr, a.row), a.ptr, a.row)
    return (product / total.clamp(min=TINY)).squeeze(1)


def infer(
    unary: Tensor, alike: Tensor, a: Adjacency, pairs: Linear, rounds: int = ROUNDS
) -> Tensor:
    """Mean-field inference of assignments: ``Q = softmax(-U - W Q C)``, again and again.

    ``U`` is the energy of every node in every cluster, ``W`` the weight of every edge, and ``C`` in
    ``pairs`` the energy of neighbours in two clusters.
    """
    c = pairs.weight.view(-1, *pairs.weight.shape[-2:])  # one matrix a replica
    low = -unary.view(len(c), -1, unary.size(1))
    q = low.softmax(2)
    for _ in range(rounds):
        seen = weighted_propagate(a, q.flatten(0, 1), alike).view_as(q)
        q = torch.baddbmm(low, seen, c, alpha=-1).softmax(2)
    return q.flatten(0, 1)
