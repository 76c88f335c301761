"""What all baselines share: their settings, three convolutions and the classifier of SEP-G."""

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
    """A graph classifier: `make` its layers, `embed` every graph; the perceptron is here.

    Args:
        in_channels: the width of the node features.
        hidden: the width of every layer.
        out_channels: the number of classes.
        nodes: how many nodes a graph has on average; where clusters have a fixed number, there are
            a quarter of that (Baek et al., 2021).
        dropout: the share dropped after each hidden layer of the perceptron.
        readout: how nodes become one vector, "sum" or "mean"; None for what is usual in the system.
        input_link: whether the classifier also sees the sum of the input features.
        replicas: how many models to hold side by side (see `Linear`); None for one.

    Attributes:
        auxiliary: what the last step of training adds to the loss, one value a replica, or None.
        capturable: whether a step of training can be recorded as a CUDA graph.
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
        """Makes the layers, and says how wide the vector of a graph is."""

    @abstractmethod
    def embed(self, batch: ReplicaBatch) -> Tensor:
        """One vector for every graph, padding included."""

    def forward(self, batch: ReplicaBatch) -> Tensor:
        """The logits of every graph, padding included."""
        self.auxiliary = None
        seen = self.embed(batch)
        if self.input_link:
            assert batch.input_sums is not None
            seen = torch.cat([batch.input_sums, seen], 1)
        drop, drop_again = self.drops
        seen = drop(self.first(seen).relu())
        logits: Tensor = self.last(drop_again(self.second(seen).relu()))
        return logits

    def linear(self, before: int, after: int, bias: bool = True) -> Linear:
        """A linear layer of all replicas."""
        return Linear(before, after, bias, replicas=self.replicas)

    def gcn(self, before: int, after: int) -> convs.GCN:
        """A graph convolution of all replicas."""
        return convs.GCN(before, after, replicas=self.replicas)

    def gcns(self) -> nn.ModuleList:
        """Three of them, of the features and of what the one before found."""
        widths = [self.in_channels] + [self.hidden] * (LAYERS - 1)
        return nn.ModuleList(self.gcn(width, self.hidden) for width in widths)

    def clusters(self, times: int = 1) -> int:
        """A quarter of the average number of nodes, or a quarter of that."""
        count = self.nodes
        for _ in range(times):
            count = ceil(RATIO * count)
        return max(count, 1)

    def read(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """The sum or mean over the nodes of every graph."""
        return readout(x, batch.levels, 0, self.readout)


class FlatModel(GraphModel):
    """Three convolutions on the nodes; what they found, side by side, is pooled once."""

    def make(self) -> int:
        """The convolutions."""
        self.convs = self.gcns()
        return LAYERS * self.hidden

    def convolve(self, batch: ReplicaBatch) -> list[Tensor]:
        """What every convolution found, after its ReLU."""
        found = [start(self.convs[0], batch, relu=True)]
        for conv in self.convs[1:]:
            found.append(go_on(conv, found[-1], batch))
        return found


def start(conv: nn.Module, batch: ReplicaBatch, relu: bool) -> Tensor:
    """The first convolution, of which the batch may hold a part already, or its ReLU."""
    assert isinstance(conv, convs.GCN)
    if batch.aggregated:
        return apply(conv.linear, batch.x, batch, relu, batch.row_index)
    out: Tensor = conv(rows_at(batch.x, batch.row_index), batch.operators[0])
    return out.relu() if relu else out


def go_on(conv: nn.Module, x: Tensor, batch: ReplicaBatch, graph: Operator | None = None) -> Tensor:
    """The ReLU of another convolution, along all edges or those of another graph."""
    assert isinstance(conv, convs.GCN)
    graph = batch.operators[0] if graph is None else graph
    return apply(conv.linear, conv.aggregate(x, graph), batch, relu=True)


def apply(
    layer: nn.Module,
    x: Features,
    batch: ReplicaBatch,
    relu: bool = False,
    source: Tensor | None = None,
) -> Tensor:
    """A linear layer on all nodes, or its ReLU; the padding of replicas is spared on a GPU.

    ``source`` is that of the batch where ``x`` is a table of it.
    """
    assert isinstance(layer, Linear)
    num_valid = batch.num_valid[0] if batch.num_valid else None
    return linear_chain(x, [(layer.weight, layer.bias)], num_valid, source, relu)


def rows(layer: nn.Module, x: Tensor) -> Tensor:
    """A layer on the rows of all graphs, ``(graphs, rows, width)``."""
    out: Tensor = layer(x.flatten(0, 1))
    return out.view(*x.shape[:2], -1)


def side_by_side(found: list[Tensor]) -> Tensor:
    """What all layers found of every node."""
    return torch.cat(found, 1)


def real_graphs(batch: ReplicaBatch) -> Tensor:
    """Which graphs count and which are padding, one row a replica."""
    replicas, graphs = batch.graph_mask.shape
    room = batch.levels.num_graphs // replicas
    return torch.nn.functional.pad(batch.graph_mask, (0, room - graphs))
