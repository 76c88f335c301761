"""Base classes of the convolutions over an `Adjacency`, single or of replicas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.linear import Layers, affine_layers


class Operator(NamedTuple):
    """Constant part of a convolution on a graph.

    Attributes:
        adjacency: normalised adjacency.
        node_term: one number a node, as a column, for convolutions that need one.
    """

    adjacency: Adjacency
    node_term: Tensor | None = None


class Conv(nn.Module, ABC):
    """A convolution over the `Operator` that `prepare` makes of an adjacency."""

    node_term_is_loop = False  # the node term is a loop's weight and may become an entry
    torch_init = False  # PyG draws the weights as PyTorch those of a linear layer
    supports_multiplicity = False  # the node term is the logarithm of a row's multiplicity

    @staticmethod
    def prepare(a: Adjacency) -> Operator:
        """Return the operator of a graph."""
        return Operator(a)

    @abstractmethod
    def forward(self, x: Tensor, operator: Operator) -> Tensor:
        """Return the new features of every node."""


class AggregatingConv(Conv):
    """A convolution in two steps: an aggregation without weights, and an update node by node.

    The aggregation of the input is the same in every epoch and computed once.
    """

    @abstractmethod
    def aggregate(self, x: Tensor, operator: Operator) -> Tensor:
        """Return the aggregated neighbourhood of every node."""

    @abstractmethod
    def layers(self) -> Layers:
        """Return weights and biases of the linear layers of the update, with ReLU in between."""

    def update(self, aggregated: Tensor) -> Tensor:
        """Return the new features of every node."""
        return affine_layers(aggregated, self.layers())

    def forward(self, x: Tensor, operator: Operator) -> Tensor:
        """Return the new features of every node."""
        return self.update(self.aggregate(x, operator))
