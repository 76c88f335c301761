"""Base classes of the graph classifiers: settings, three convolutions, the classifier of SEP-G."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil

import torch
from torch import Tensor, nn

from sepool_experiments.layers import convs
from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.feature_table import Features
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.linear_chain import linear_chain
from sepool_experiments.layers.pooling import readout
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import rows_at

LAYERS, RATIO = 3, 0.25


class GraphModel(nn.Module, ABC):
    """A graph classifier; subclasses `make` their layers and `embed` every graph.

    Args:
        in_channels: width of the node features.
        hidden: width of every layer.
        out_channels: number of classes.
        nodes: average number of nodes of a graph; a fixed number of clusters is a quarter of it
            (Baek et al., 2021).
        dropout: dropout rate after each hidden layer of the perceptron.
        readout: "sum" or "mean" over the nodes; None for ``usual_readout``.
        input_link: append the sum of the input features to the input of the classifier.
        replicas: number of models side by side (see `Linear`); None for one.

    Attributes:
        auxiliary: auxiliary loss of the last training step, one value a replica, or None.
        capturable: a training step can be captured as a CUDA graph.
        usual_readout: readout as published.
    """

    usual_readout = "sum"
    capturable = True

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        nodes: int = 25,
        dropout: float = 0.0,
        readout: str | None = None,
        input_link: bool = False,
        replicas: int | None = None,
    ) -> None:
        super().__init__()
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.nodes, self.replicas, self.input_link = nodes, replicas, input_link
        self.readout = self.usual_readout if readout is None else readout
        if self.readout not in ("sum", "mean"):
            raise ValueError(f"readout must be sum or mean, got {self.readout!r}")
        self.auxiliary: Tensor | None = None
        width = self.make() + (in_channels if input_link else 0)
        self.first = self.linear(width, hidden)
        self.second = self.linear(hidden, hidden // 2)
        self.last = self.linear(hidden // 2, out_channels)
        self.drops = nn.ModuleList([Dropout(dropout, salt) for salt in (1, 2)])

    @abstractmethod
    def make(self) -> int:
        """Make the layers, and return the width of the embedding of a graph."""

    @abstractmethod
    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return one vector a graph, padding included."""

    def forward(self, batch: ReplicaBatch) -> Tensor:
        """Return the logits of every graph, padding included."""
        self.auxiliary = None
        x = self.embed(batch)
        if self.input_link:
            assert batch.input_sums is not None
            x = torch.cat([batch.input_sums, x], 1)
        drop, drop_again = self.drops
        x = drop(self.first(x).relu())
        logits: Tensor = self.last(drop_again(self.second(x).relu()))
        return logits

    def linear(self, before: int, after: int, bias: bool = True) -> Linear:
        """Return a linear layer of all replicas."""
        return Linear(before, after, bias, replicas=self.replicas)

    def gcn(self, before: int, after: int) -> convs.GCN:
        """Return a graph convolution of all replicas."""
        return convs.GCN(before, after, replicas=self.replicas)

    def gcns(self) -> nn.ModuleList:
        """Return three graph convolutions, the first of the node features."""
        widths = [self.in_channels] + [self.hidden] * (LAYERS - 1)
        return nn.ModuleList(self.gcn(width, self.hidden) for width in widths)

    def clusters(self, poolings: int = 1) -> int:
        """Return the number of clusters: a quarter of the average number of nodes a pooling."""
        count = self.nodes
        for _ in range(poolings):
            count = ceil(RATIO * count)
        return max(count, 1)

    def read(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """Return the sum or mean over the nodes of every graph."""
        return readout(x, batch.levels, 0, self.readout)


class FlatModel(GraphModel):
    """Three convolutions on the nodes; their concatenated outputs are pooled once."""

    def make(self) -> int:
        """Make the convolutions."""
        self.convs = self.gcns()
        return LAYERS * self.hidden

    def convolve(self, batch: ReplicaBatch) -> list[Tensor]:
        """Return the output of every convolution after its ReLU."""
        outputs = [start(self.convs[0], batch, relu=True)]
        for conv in self.convs[1:]:
            outputs.append(go_on(conv, outputs[-1], batch))
        return outputs


def start(conv: nn.Module, batch: ReplicaBatch, relu: bool) -> Tensor:
    """Apply the first convolution, or its ReLU; its aggregation may be precomputed."""
    assert isinstance(conv, convs.GCN)
    if batch.aggregated:
        return apply(conv.linear, batch.x, batch, relu, batch.row_index)
    out: Tensor = conv(rows_at(batch.x, batch.row_index), batch.operators[0])
    return out.relu() if relu else out


def go_on(conv: nn.Module, x: Tensor, batch: ReplicaBatch, graph: Operator | None = None) -> Tensor:
    """Apply a later convolution and ReLU, along all edges or those of ``graph``."""
    assert isinstance(conv, convs.GCN)
    graph = batch.operators[0] if graph is None else graph
    return apply(conv.linear, conv.aggregate(x, graph), batch, relu=True)


def apply(
    layer: nn.Module,
    x: Features,
    batch: ReplicaBatch,
    relu: bool = False,
    row_index: Tensor | None = None,
) -> Tensor:
    """Apply a linear layer, or its ReLU, to all nodes; padding is skipped on a GPU.

    ``row_index`` is that of the batch if ``x`` is its feature table.
    """
    assert isinstance(layer, Linear)
    num_valid = batch.num_valid[0] if batch.num_valid else None
    return linear_chain(x, [(layer.weight, layer.bias)], num_valid, row_index, relu)


def rows(layer: nn.Module, x: Tensor) -> Tensor:
    """Apply a layer to the rows of all graphs, ``(graphs, rows, width)``."""
    out: Tensor = layer(x.flatten(0, 1))
    return out.view(*x.shape[:2], -1)


def side_by_side(outputs: list[Tensor]) -> Tensor:
    """Concatenate the outputs of several layers, node by node."""
    return torch.cat(outputs, 1)


def padded_graph_mask(batch: ReplicaBatch) -> Tensor:
    """Return the graph mask, one row a replica, with False for all padding of the batch."""
    replicas, graphs = batch.graph_mask.shape
    padded_size = batch.levels.num_graphs // replicas
    return torch.nn.functional.pad(batch.graph_mask, (0, padded_size - graphs))
