"""Trains autoencoders on one graph, all seeds of a system side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sepool_experiments.engine.full_batch import WholeGraphDescent
from sepool_experiments.figures.autoencoder import make_autoencoder
from sepool_experiments.figures.shapes import Pick, Shape, pick_level
from sepool_experiments.protocols.figures import MSE_ALONE, TREE_SYSTEM
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit


@dataclass(frozen=True)
class NoParts:
    """Everything trains, and nothing validates or tests."""

    val: Tensor
    test: Tensor

    def keep(self, rows: Tensor) -> NoParts:
        """That of some replicas."""
        return self


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """What a training gave.

    Attributes:
        unit: what was trained.
        epochs: how many epochs it trained.
        best_epoch: that of the lowest error, whose weights count.
        mse: the mean square of all coordinates' errors.
        seconds: its share of the time spent.
        points: where it puts every node.
        pick: the tree and level of SEP.
    """

    unit: Unit
    epochs: int
    best_epoch: int
    mse: float
    seconds: float
    points: NDArray[np.float32]
    pick: Pick | None


class Reconstruction(WholeGraphDescent):
    """The trainings of some units that differ in seed alone.

    Args:
        units: what is trained.
        protocol: by which rules.
        shape: the graph.
        device: where.
    """

    def __init__(
        self, units: Sequence[Unit], protocol: Protocol, shape: Shape, device: str = "cpu"
    ) -> None:
        first = units[0]
        self.pick = pick_level(shape, first.tree) if first.system == TREE_SYSTEM else None
        tree = None if self.pick is None else self.pick.tree
        self.data = shape.data(tree).to(device)
        self.points: dict[int, NDArray[np.float32]] = {}
        nothing = torch.empty(0, device=device)

        def build(replicas: int) -> nn.Module:
            losses = MSE_ALONE not in first.config.extra
            hidden, nodes = first.config.hidden, len(shape.points)
            return make_autoencoder(first.system, hidden, nodes, replicas, self.pick, losses)

        super().__init__(units, protocol, NoParts(nothing, nothing), build, device)

    def rebuilt(self) -> Iterator[Rebuilt]:
        """Trains until the last replica has stopped; what came out, as replicas stop."""
        for result in self.run():
            unit = result.unit
            yield Rebuilt(
                *(unit, result.epochs, result.best_epoch, result.val_loss, result.seconds),
                *(self.points.pop(unit.seed), self.pick),
            )

    def step(self) -> None:
        """One epoch; the weights that gave an error are noted with it."""
        self._begin_step()
        error = self._errors(self.model(self.graph))
        with torch.no_grad():
            self._note(self.steps, error.detach(), torch.zeros_like(error))
        auxiliary = getattr(self.model, "auxiliary", None)
        self._end_step(error if auxiliary is None else error + auxiliary)

    def evaluate(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The error of every replica; accuracies there are none."""
        self.model.eval()
        with torch.no_grad():
            self.out = self.model(self.graph)
            error = self._errors(self.out)
        return error, torch.zeros_like(error)

    def curve(self, i: int, epochs: int) -> None:
        """Curves are not kept."""

    def _errors(self, out: Tensor) -> Tensor:
        errors: Tensor = (out - self.data.x.unsqueeze(1)).square()
        return errors.mean((0, 2))

    def _finish(self, over: list[bool], epoch: int, share: float) -> list[Result]:
        units = list(self.units)
        results = super()._finish(over, epoch, share)
        found = self.out.transpose(0, 1).cpu().numpy()
        self.points.update((unit.seed, found[i]) for i, unit in enumerate(units) if over[i])
        return results

    def _place(self) -> None:
        super()._place()
        self.graph: Any = self.model.prepare(self.data)
