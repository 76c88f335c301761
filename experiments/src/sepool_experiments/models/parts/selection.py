"""Pooling that drops nodes: which ones stay, and the graph between them.

Nodes that are dropped keep their place and are zero: no shape depends on the data, so that many
replicas can run in lockstep and a step can be recorded.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import segment_sum
from sepool_experiments.models.graphs.model import LAYERS, RATIO, GraphModel, go_on, start
from sepool_experiments.models.parts.segments import rank_in_graph


class Kept(NamedTuple):
    """What is left of a batch: a mask over the nodes, and how many a graph has."""

    nodes: Tensor
    counts: Tensor


def top_nodes(score: Tensor, before: Kept | None, ptr: Tensor, graph: Tensor) -> Kept:
    """Keeps the ``ceil(ratio n)`` nodes of every graph with the highest scores.

    Example:
        >>> score, ptr = torch.tensor([0.1, 0.3, 0.2, 0.0, 0.4]), torch.tensor([0, 5])
        >>> top_nodes(score, None, ptr, torch.zeros(5, dtype=torch.int64)).nodes.tolist()
        [False, True, False, False, True]
    """
    counts = ptr.diff() if before is None else before.counts
    if before is not None:
        score = score.masked_fill(~before.nodes, -torch.inf)
    _, rank = rank_in_graph(score, ptr, graph)
    kept = (counts * RATIO).ceil().long()
    return Kept(rank < kept.index_select(0, graph), kept)


def between(a: Adjacency, nodes: Tensor) -> Operator:
    """What a graph convolution needs of the graph between some nodes.

    The adjacency is that of a batch prepared for `sepool_experiments.layers.convs.GCN`, with a loop
    at every node.
    """
    row = a.row
    there = nodes.float()
    weight = there.index_select(0, row) * there.index_select(0, a.index) * (a.weight != 0)
    scale = segment_sum(weight.unsqueeze(1), a.ptr).squeeze(1).clamp_(min=1).rsqrt_()
    return Operator(
        a.weighted(weight * scale.index_select(0, row) * scale.index_select(0, a.index))
    )


def gate(x: Tensor, score: Tensor, nodes: Tensor) -> Tensor:
    """Rows times the ``tanh`` of their scores; 0 for those that do not stay.

    Example:
        >>> gate(torch.ones(2, 1), torch.tensor([99.0, 99.0]), torch.tensor([True, False]))
        tensor([[1.],
                [0.]])
    """
    return x * (score.tanh() * nodes).unsqueeze(1)


class DropModel(GraphModel):
    """Three blocks of a convolution and a pooling that drops nodes; the readouts of all blocks."""

    def make(self) -> int:
        """The convolutions, and what scores the nodes after each."""
        self.convs = self.gcns()
        self.scores = nn.ModuleList(self.make_score() for _ in range(LAYERS))
        return LAYERS * self.hidden

    @abstractmethod
    def make_score(self) -> nn.Module:
        """A layer that gives every node a number."""

    @abstractmethod
    def score(self, layer: nn.Module, x: Tensor, graph: Operator) -> Tensor:
        """The number of every node."""

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """The readouts of all blocks."""
        levels, prepared = batch.levels, batch.operators[0]
        found, kept = [], None
        x = start(self.convs[0], batch, relu=True)
        for i, layer in enumerate(self.scores):
            if kept is not None:
                prepared = between(batch.operators[0].adjacency, kept.nodes)
                x = go_on(self.convs[i], x, batch, prepared) * kept.nodes.unsqueeze(1)
            score = self.score(layer, x, prepared)
            kept = top_nodes(score, kept, levels.graph_ptr(0), levels.batch(0))
            x = gate(x, score, kept.nodes)
            found.append(read_kept(x, kept, self, batch))
        return torch.cat(found, 1)


def read_kept(x: Tensor, kept: Kept, model: GraphModel, batch: ReplicaBatch) -> Tensor:
    """The sum or mean over what is left of every graph; what was dropped is zero."""
    seen = model.read(x, batch)
    if model.readout == "mean":
        share = batch.levels.graph_ptr(0).diff() / kept.counts.clamp(min=1)
        seen = seen * share.unsqueeze(1)
    return seen
