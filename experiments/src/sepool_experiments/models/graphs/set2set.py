"""Set2Set: a recurrent network with attention to the nodes in every step."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import pool_sum, unpool
from sepool_experiments.layers.softmax import segment_softmax
from sepool_experiments.models.graphs.model import FlatModel, apply, side_by_side

STEPS = 3


class Set2Set(FlatModel):
    """Vinyals et al., "Order matters: sequence to sequence for sets", 2016.

    ``q_t = LSTM(q*_{t-1})``, ``r_t = sum_i softmax_i(x_i . q_t) x_i``, ``q*_t = [q_t, r_t]``, the
    last of which is the embedding of the graph. Equal to `torch_geometric.nn.aggr.Set2Set`, for
    many replicas. The nodes have the outputs of three convolutions, reduced to ``hidden`` by a
    linear layer.
    """

    def make(self) -> int:
        """Make the linear layer, and the four gates of the LSTM as one layer."""
        self.narrow = self.linear(super().make(), self.hidden)
        self.gates = self.linear(3 * self.hidden, 4 * self.hidden)
        return 2 * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return ``q*`` of every graph after the last step."""
        x = apply(self.narrow, side_by_side(self.convolve(batch)), batch, relu=True)
        return set2set(x, batch.levels.graph_ptr(0), batch.levels.batch(0), self.gates, STEPS)


def set2set(x: Tensor, ptr: Tensor, graph: Tensor, gates: Linear, steps: int) -> Tensor:
    """Return ``q*`` of every graph after a number of steps.

    ``gates`` maps ``[q*, q]`` to the input, forget, cell and output gates of the LSTM.
    """
    cell = q = r = x.new_zeros(len(ptr) - 1, x.size(1))
    for _ in range(steps):
        enter, forget, new, leave = gates(torch.cat([q, r, q], 1)).chunk(4, 1)
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        q = leave.sigmoid() * cell.tanh()
        score = (x * unpool(q, ptr, graph)).sum(1, keepdim=True)
        r = pool_sum(segment_softmax(score, ptr, graph) * x, ptr, graph)
    return torch.cat([q, r], 1)
