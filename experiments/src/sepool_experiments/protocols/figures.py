"""Protocols of the figures: graphs, systems, settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sepool_experiments.protocols.choices import check_names
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Config, Unit

TREE_SYSTEM = "SEP"
ONE_CLUSTER = "one cluster"  # a control that splits no ring
MSE_ALONE = ("losses", "mse")  # a setting: train without the auxiliary losses of the pooling


@dataclass(frozen=True)
class Figure(Protocol):
    """Rules of one figure; arguments as in `Protocol`, with graphs as datasets.

    Args:
        untrained: systems without training, the same for every fold and seed.

    Example:
        >>> len(FIGURES["figure3"].units(["ring"], ["SEP", "ASAP"], seeds=2))
        8
    """

    tree_systems: tuple[str, ...] = (TREE_SYSTEM,)
    untrained: tuple[str, ...] = ()

    def check(
        self,
        datasets: Sequence[str] | None,
        systems: Sequence[str] | None,
        trees: Sequence[str] | None,
    ) -> None:
        """Raise ValueError for graphs, systems or trees that are not in the figure."""
        check_names("graph", datasets or (), self.datasets)
        check_names("system", systems or (), self.systems)
        check_names("tree", trees or (), self.trees)

    def units(
        self,
        datasets: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        trees: Sequence[str] | None = None,
        seeds: int | Iterable[int] | None = None,
        folds: int | Iterable[int] | None = None,
        configs: Iterable[int] | None = None,
    ) -> list[Unit]:
        """Return units as in `Protocol`, one for each system without training."""
        units = super().units(datasets, systems, trees, seeds, folds, configs)
        once = (
            replace(unit, fold=0, seed=0) if unit.system in self.untrained else unit
            for unit in units
        )
        return list(dict.fromkeys(once))


_AUTOENCODER = Config(hidden=32, batch=1, lr=5e-3, weight_decay=0.0)
_WITH_AND_WITHOUT = (_AUTOENCODER, replace(_AUTOENCODER, extra=(MSE_ALONE,)))
FIGURE3 = Figure(
    name="figure3",
    title="Reconstruction of a ring and a grid",
    task="graphs",
    datasets=("ring", "grid"),
    systems=("TopKPool", "SAGPool", "ASAP", "DiffPool", "MinCutPool", "SEP"),
    trees=("best", "paper", "random"),
    grid=(_AUTOENCODER,),
    grids=(("DiffPool", "", _WITH_AND_WITHOUT), ("MinCutPool", "", _WITH_AND_WITHOUT)),
    folds=1,
    seeds=5,
    epochs=10_000,
    patience=1_000,
    clip=math.inf,
)
# The first pooling of SEP-G, then two other readings of the first coarsening.
_LEVELS = tuple(
    Config(extra=(("height", height), ("level", level)))
    for height, level in ((3, 1), (3, 2), (2, 1))
)
FIGURE4 = Figure(
    name="figure4",
    title="Rings of molecules after the first pooling",
    task="graphs",
    datasets=("MUTAG",),
    systems=("DiffPool", "MinCutPool", "SEP", ONE_CLUSTER),
    trees=("best", "paper", "random"),
    grid=(Config(hidden=64, batch=32),),
    grids=(("SEP", "", _LEVELS),),
    seeds=1,
    untrained=("SEP", ONE_CLUSTER),
)


def _quick(figure: Figure, **changes: int) -> Figure:
    title = f"{figure.title}, a short trial"
    return replace(figure, name=f"{figure.name}-quick", title=title, **changes)  # type: ignore[arg-type]


FIGURES = {
    figure.name: figure
    for figure in (
        FIGURE3,
        FIGURE4,
        _quick(FIGURE3, seeds=2, epochs=300),
        _quick(FIGURE4, epochs=20, patience=5, steps=10),
    )
}
