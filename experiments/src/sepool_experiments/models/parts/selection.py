"""Top-k pooling: selection of nodes, and the graph that they induce.

Dropped nodes stay in the batch as zeros: no shape depends on the data, as lockstep replicas and
CUDA graphs require.
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


class Selection(NamedTuple):
    """Selected nodes of a batch: a mask over all nodes, and their number in every graph."""

    mask: Tensor
    counts: Tensor


def top_nodes(score: Tensor, previous: Selection | None, ptr: Tensor, graph: Tensor) -> Selection:
    """Select the ``ceil(ratio n)`` nodes of every graph with the highest scores.

    Example:
        >>> score, ptr = torch.tensor([0.1, 0.3, 0.2, 0.0, 0.4]), torch.tensor([0, 5])
        >>> top_nodes(score, None, ptr, torch.zeros(5, dtype=torch.int64)).mask.tolist()
        [False, True, False, False, True]
    """
    counts = ptr.diff() if previous is None else previous.counts
    if previous is not None:
        score = score.masked_fill(~previous.mask, -torch.inf)
    _, rank = rank_in_graph(score, ptr, graph)
    counts = (counts * RATIO).ceil().long()
    return Selection(rank < counts.index_select(0, graph), counts)


def induced_operator(a: Adjacency, mask: Tensor) -> Operator:
    """Return the operator of a graph convolution on the subgraph induced by a mask.

    The adjacency is that of a batch prepared for `sepool_experiments.layers.convs.GCN`, with a loop
    at every node.
    """
    row = a.row
    selected = mask.float()
    weight = selected.index_select(0, row) * selected.index_select(0, a.index) * (a.weight != 0)
    scale = segment_sum(weight.unsqueeze(1), a.ptr).squeeze(1).clamp_(min=1).rsqrt_()
    return Operator(
        a.weighted(weight * scale.index_select(0, row) * scale.index_select(0, a.index))
    )


def gate(x: Tensor, score: Tensor, mask: Tensor) -> Tensor:
    """Multiply selected rows by the ``tanh`` of their scores, the others by 0.

    Example:
        >>> gate(torch.ones(2, 1), torch.tensor([99.0, 99.0]), torch.tensor([True, False]))
        tensor([[1.],
                [0.]])
    """
    return x * (score.tanh() * mask).unsqueeze(1)


class TopKModel(GraphModel):
    """Three blocks of a convolution and top-k pooling; the readouts of all blocks."""

    def make(self) -> int:
        """Make the convolutions, and a score layer after each."""
        self.convs = self.gcns()
        self.scores = nn.ModuleList(self.make_score() for _ in range(LAYERS))
        return LAYERS * self.hidden

    @abstractmethod
    def make_score(self) -> nn.Module:
        """Return a layer for the scores of the nodes."""

    @abstractmethod
    def score(self, layer: nn.Module, x: Tensor, graph: Operator) -> Tensor:
        """Return the score of every node."""

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all blocks."""
        levels, operator = batch.levels, batch.operators[0]
        readouts, selection = [], None
        x = start(self.convs[0], batch, relu=True)
        for i, layer in enumerate(self.scores):
            if selection is not None:
                operator = induced_operator(batch.operators[0].adjacency, selection.mask)
                x = go_on(self.convs[i], x, batch, operator) * selection.mask.unsqueeze(1)
            score = self.score(layer, x, operator)
            selection = top_nodes(score, selection, levels.graph_ptr(0), levels.batch(0))
            x = gate(x, score, selection.mask)
            readouts.append(read_selected(x, selection, self, batch))
        return torch.cat(readouts, 1)


def read_selected(
    x: Tensor, selection: Selection, model: GraphModel, batch: ReplicaBatch
) -> Tensor:
    """Return the sum or mean over the selected nodes of every graph; all others are zero."""
    out = model.read(x, batch)
    if model.readout == "mean":
        scale = batch.levels.graph_ptr(0).diff() / selection.counts.clamp(min=1)
        out = out * scale.unsqueeze(1)
    return out
