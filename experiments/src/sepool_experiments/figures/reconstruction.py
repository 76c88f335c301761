"""Autoencoders on one graph with any pooling, trained in lockstep over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sepool_experiments.engine.full_batch import FullBatchDescent
from sepool_experiments.figures.poolings import POOLINGS, ReplicatedGraph
from sepool_experiments.figures.shapes import Shape, pick_level
from sepool_experiments.layers.convs import GCN
from sepool_experiments.layers.linear import Linear
from sepool_experiments.protocols.figures import MSE_ALONE, TREE_SYSTEM
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit

LAYERS, WIDTH = 2, 2  # convolutions on each side of the pooling; coordinates


class Autoencoder(nn.Module):
    """Reconstruction of node features after pooling (Wu et al., ICML 2022, Section 4.1).

    Two convolutions, pooling and unpooling, two convolutions, and a linear layer.
    """

    def __init__(
        self, system: str, hidden: int, nodes: int, replicas: int, losses: bool = True
    ) -> None:
        super().__init__()
        self.replicas, self.losses = replicas, losses
        widths = [WIDTH] + [hidden] * (2 * LAYERS - 1)
        self.convs = nn.ModuleList(GCN(width, hidden, replicas=replicas) for width in widths)
        self.pool = POOLINGS[system](hidden, nodes, replicas)
        self.last = Linear(hidden, WIDTH, replicas=replicas)

    @property
    def auxiliary(self) -> Tensor | None:
        """Auxiliary loss of the last call, one value a replica, or None."""
        return self.pool.auxiliary if self.losses else None

    def forward(self, graph: ReplicatedGraph) -> Tensor:
        """Reconstruct the features, ``(N, R, width)``."""
        x = graph.x
        self.pool.train(self.training and self.losses)
        for conv in self.convs[:LAYERS]:
            x = conv(x, graph.operator).relu()
        x = self.pool(x, graph)
        for conv in self.convs[LAYERS:]:
            x = conv(x, graph.operator).relu()
        return graph.by_replica(self.last(x)).transpose(0, 1)


@dataclass(frozen=True)
class NoSplit:
    """Empty validation and test sets: all nodes train."""

    val: Tensor
    test: Tensor

    def select(self, rows: Tensor) -> NoSplit:
        """Return the split of some replicas."""
        return self


class Reconstruction(FullBatchDescent):
    """Trainings of units that differ in the seed alone."""

    def __init__(
        self, units: Sequence[Unit], protocol: Protocol, shape: Shape, device: str = "cpu"
    ) -> None:
        first = units[0]
        self.pick = pick_level(shape, first.tree) if first.system == TREE_SYSTEM else None
        labels = None if self.pick is None else self.pick.tree.labels(self.pick.level)
        self.data = shape.data(labels).to(device)
        self.points: dict[int, NDArray[np.float32]] = {}
        empty = torch.empty(0, device=device)

        def build(replicas: int) -> nn.Module:
            losses, nodes = MSE_ALONE not in first.config.extra, len(shape.points)
            return Autoencoder(first.system, first.config.hidden, nodes, replicas, losses)

        super().__init__(units, protocol, NoSplit(empty, empty), build, device)

    def rebuilt(self) -> Iterator[tuple[Result, NDArray[np.float32]]]:
        """Train all replicas; yield a result, its loss the error, and points as a replica stops."""
        for result in self.run():
            yield result, self.points.pop(result.unit.seed)

    def step(self) -> None:
        """Train one epoch, and keep the weights of the lowest error so far."""
        self._begin_step()
        error = self._errors(self.model(self.graph))
        with torch.no_grad():
            self._track_best(self.steps, error.detach(), torch.zeros_like(error))
        auxiliary = self.model.auxiliary
        self._end_step(error if auxiliary is None else error + auxiliary)

    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the error of every replica, and accuracies of zero."""
        self.model.eval()
        with torch.no_grad():
            self.out = self.model(self.graph)
            error = self._errors(self.out)
        return error, torch.zeros_like(error)

    def curve(self, i: int, epochs: int) -> None:
        """Return None: curves are not stored."""

    def _errors(self, out: Tensor) -> Tensor:
        errors: Tensor = (out - self.data.x.unsqueeze(1)).square()
        return errors.mean((0, 2))

    def _results(self, replicas: list[int], epoch: int) -> list[Result]:
        results = super()._results(replicas, epoch)
        points = self.out.transpose(0, 1).cpu().numpy()
        self.points.update((self.units[i].seed, points[i]) for i in replicas)
        return results

    def _place_model(self) -> None:
        super()._place_model()
        self.graph = ReplicatedGraph.of(self.data, len(self.units))
