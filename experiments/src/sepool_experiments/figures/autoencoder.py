"""The autoencoder of the reconstructions, with any pooling in the middle."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch_geometric.data import Data

from sepool_experiments.figures.poolings import ROUND_TRIPS, Copies, RoundTrip
from sepool_experiments.figures.shapes import Pick
from sepool_experiments.layers import Linear, SEPAutoencoder
from sepool_experiments.layers.convs import GCN

LAYERS = 2


class Autoencoder(nn.Module):
    """`SEPAutoencoder` with another pooling: two convolutions, there and back, two, a linear layer.

    Args:
        in_channels: the width of the features.
        hidden: the width in between.
        pool: makes the pooling, from width, nodes and replicas.
        nodes: how many the graph has.
        replicas: how many models to hold.
        losses: whether the pooling adds a loss of its own, where it has one.

    Attributes:
        auxiliary: what the last call adds to the loss, one value a replica, or None.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        pool: Callable[[int, int, int], RoundTrip],
        nodes: int,
        replicas: int,
        losses: bool = True,
    ) -> None:
        super().__init__()
        self.replicas, self.losses = replicas, losses
        widths = [in_channels] + [hidden] * (2 * LAYERS - 1)
        self.convs = nn.ModuleList(GCN(width, hidden, replicas=replicas) for width in widths)
        self.pool = pool(hidden, nodes, replicas)
        self.last = Linear(hidden, in_channels, replicas=replicas)

    @property
    def auxiliary(self) -> Tensor | None:
        """See above."""
        return self.pool.auxiliary if self.losses else None

    def prepare(self, data: Data) -> Copies:
        """What is the same in every step of training."""
        return Copies.of(data, self.replicas)

    def forward(self, copies: Copies) -> Tensor:
        """The reconstruction, ``(N, R, width)``."""
        x = copies.x
        self.pool.train(self.training and self.losses)
        for conv in self.convs[:LAYERS]:
            x = conv(x, copies.graph).relu()
        x = self.pool(x, copies)
        for conv in self.convs[LAYERS:]:
            x = conv(x, copies.graph).relu()
        return copies.by_replica(self.last(x)).transpose(0, 1)


def make_autoencoder(
    system: str, hidden: int, nodes: int, replicas: int, pick: Pick | None, losses: bool = True
) -> nn.Module:
    """The autoencoder of a system; SEP needs to know its level."""
    if pick is not None:
        return SEPAutoencoder(2, hidden, LAYERS, level=pick.level, replicas=replicas)
    return Autoencoder(2, hidden, ROUND_TRIPS[system], nodes, replicas, losses)
