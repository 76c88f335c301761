"""SortPool: the first nodes of every graph in a learned order."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import FlatModel, go_on, rows, side_by_side, start
from sepool_experiments.models.parts.segments import rank_in_graph, spread

CHANNELS, WINDOW = (16, 32), 5


class SortPool(FlatModel):
    """Zhang et al., "An end-to-end deep learning architecture for graph classification", 2018.

    Nodes are sorted by the last channel of the last convolution and the first ``k`` kept; two
    one-dimensional convolutions run over them, the first over single nodes, with a maximum of pairs
    in between, as in the paper. ``k`` is a quarter of the average graph, and 10 at least, which the
    second convolution needs. The channel that sorts is read before its ReLU, which would leave
    ties.
    """

    def make(self) -> int:
        """The two one-dimensional convolutions."""
        self.k = max(self.clusters(), 2 * WINDOW)
        self.single = self.linear(super().make(), CHANNELS[0])
        self.window = self.linear(WINDOW * CHANNELS[0], CHANNELS[1])
        return (self.k // 2 - WINDOW + 1) * CHANNELS[1]

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """What the convolutions find in the sorted nodes."""
        first, second, third = self.convs
        found = [start(first, batch, relu=True)]
        found.append(go_on(second, found[0], batch))
        last = third(found[1], batch.operators[0])
        ptr, graph = batch.levels.graph_ptr(0), batch.levels.batch(0)
        x = first_nodes(side_by_side([*found, last.relu()]), last[:, -1], ptr, graph, self.k)
        x = self.single(x).relu().view(len(ptr) - 1, self.k, -1)
        x = x[:, : self.k // 2 * 2].unflatten(1, (-1, 2)).amax(2).unfold(1, WINDOW, 1)
        return rows(self.window, x.flatten(2)).relu().flatten(1)


def first_nodes(x: Tensor, key: Tensor, ptr: Tensor, graph: Tensor, k: int) -> Tensor:
    """The ``k`` nodes of every graph with the highest keys, highest first, then zeros."""
    order, rank = rank_in_graph(key, ptr, graph)
    place = torch.arange(k, device=x.device)
    source = F.pad(order, (0, k), value=len(x))[ptr[:-1, None] + place]
    source = source.masked_fill(place >= ptr.diff().unsqueeze(1), len(x)).flatten()
    back = (graph * k + rank).masked_fill(rank >= k, len(source))
    return spread(x, source, back)
