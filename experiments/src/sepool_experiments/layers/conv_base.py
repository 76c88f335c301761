"""What all convolutions have in common, over an `Adjacency`, alone or as replicas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.feature_table import Features
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.ops import pool_relu, rows_at


class Prepared(NamedTuple):
    """What a convolution needs of a graph and can know before training.

    Attributes:
        adjacency: what is gathered from whom.
        node: one more number for every node, as a column, where the convolution needs one.
    """

    adjacency: Adjacency
    node: Tensor | None = None


class Conv(nn.Module, ABC):
    """A convolution over an adjacency, of which it needs what `prepare` returns."""

    node_is_loop = False  # whether `Prepared.node` is the weight of a loop, and could be an entry
    as_torch = False  # whether PyG draws its weights as PyTorch those of a linear layer
    knows_twins = False  # whether `Prepared.node` is the logarithm of how many nodes a row is

    @staticmethod
    def prepare(a: Adjacency) -> Prepared:
        """What the convolution needs of a graph."""
        return Prepared(a)

    @abstractmethod
    def forward(self, x: Tensor, prepared: Prepared) -> Tensor:
        """The new features of every node."""

    def of_replicas(
        self, x: Features, prepared: Prepared, real: Tensor, source: Tensor | None = None
    ) -> Tensor:
        """The same for replicas with padding; ``real`` and ``source`` as in `ReplicaBatch`."""
        out: Tensor = self(rows_at(x, source), prepared)
        return out

    def pooled_of_replicas(
        self,
        x: Features,
        prepared: Prepared,
        real: Tensor,
        source: Tensor | None,
        ptr: Tensor,
        assignment: Tensor,
        times: Tensor | None = None,
    ) -> Tensor:
        """``S relu(x)`` of that; clusters and ``times`` as in `sepool_experiments.layers.ops.pool_relu`."""
        return pool_relu(self.of_replicas(x, prepared, real, source), ptr, assignment, None, times)

    def reset_parameters(self) -> None:
        """Draws new weights."""
        for layer in self.children():
            if isinstance(layer, Linear):
                layer.reset_parameters()


class GatheringConv(Conv):
    """A convolution in two steps: what it gathers, and what it learns.

    `gather` has no weights, so that what the first layer gathers of a dataset is the same in every
    epoch; `combine` acts on every node alone.
    """

    @abstractmethod
    def gather(self, x: Tensor, prepared: Prepared) -> Tensor:
        """What every node sees: itself and its neighbours."""

    @abstractmethod
    def combine(self, gathered: Tensor) -> Tensor:
        """The new features of every node, from what it sees."""

    def layers(self) -> list[tuple[Tensor, Tensor | None]]:
        """Of `combine`, where it is ``X W + b`` with ReLU between layers, every ``W`` and ``b``."""
        return []

    def forward(self, x: Tensor, prepared: Prepared) -> Tensor:
        """The new features of every node."""
        return self.combine(self.gather(x, prepared))
