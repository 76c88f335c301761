"""SortPool: the first nodes of every graph in a learned order."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import FlatModel, go_on, rows, side_by_side, start
from sepool_experiments.models.parts.segments import permute_rows, rank_in_graph

CHANNELS, WINDOW = (16, 32), 5


class SortPool(FlatModel):
    """Zhang et al., "An end-to-end deep learning architecture for graph classification", 2018.

    The first ``k`` nodes by the last channel of the last convolution are selected; two
    one-dimensional convolutions run over them, the first over single nodes, with a maximum of pairs
    in between, as in the paper. ``k`` is a quarter of the average number of nodes, and at least 10,
    the minimum for the second convolution. Nodes are sorted by that channel before its ReLU, which
    would make ties.
    """

    def make(self) -> int:
        """Make the two one-dimensional convolutions."""
        self.k = max(self.clusters(), 2 * WINDOW)
        self.single = self.linear(super().make(), CHANNELS[0])
        self.window = self.linear(WINDOW * CHANNELS[0], CHANNELS[1])
        return (self.k // 2 - WINDOW + 1) * CHANNELS[1]

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the output of the convolutions over the sorted nodes."""
        first, second, third = self.convs
        outputs = [start(first, batch, relu=True)]
        outputs.append(go_on(second, outputs[0], batch))
        last = third(outputs[1], batch.operators[0])
        ptr, graph = batch.levels.graph_ptr(0), batch.levels.batch(0)
        x = first_nodes(side_by_side([*outputs, last.relu()]), last[:, -1], ptr, graph, self.k)
        x = self.single(x).relu().view(len(ptr) - 1, self.k, -1)
        x = x[:, : self.k // 2 * 2].unflatten(1, (-1, 2)).amax(2).unfold(1, WINDOW, 1)
        return rows(self.window, x.flatten(2)).relu().flatten(1)


def first_nodes(x: Tensor, key: Tensor, ptr: Tensor, graph: Tensor, k: int) -> Tensor:
    """Return the ``k`` nodes of every graph with the highest keys, sorted and padded with zeros."""
    order, rank = rank_in_graph(key, ptr, graph)
    place = torch.arange(k, device=x.device)
    index = F.pad(order, (0, k), value=len(x))[ptr[:-1, None] + place]
    index = index.masked_fill(place >= ptr.diff().unsqueeze(1), len(x)).flatten()
    inverse = (graph * k + rank).masked_fill(rank >= k, len(index))
    return permute_rows(x, index, inverse)
