"""Protocols of the question: where does the hierarchy count?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from sepool_experiments.protocols.choices import check_names
from sepool_experiments.protocols.protocol import Grids, Protocol
from sepool_experiments.protocols.units import Config, Unit, Value

TREE_NET, FLAT_NET = "SEPGraphNet", "flat GCN"
LONG_RANGE_TASKS = (
    *("colour-16", "GCB-hard", "diameter", "eccentricity", "shortest-path", "match-3", "match-4"),
    *("colour-32", "colour-euroroad", "colour-minnesota", "molhiv"),
)
LONG_RANGE_TREES = ("best", "random", "metis", "louvain", "infomap")


@dataclass(frozen=True)
class LongRange(Protocol):
    """Rules of a comparison of trees with flat models; arguments as in `Protocol`.

    Every system and tree has a search of its own: all configurations with the first seeds. The one
    of the best mean validation score is trained with all seeds.

    Args:
        search: number of seeds of the search.

    Example:
        >>> units = LONG_RANGE[0].units(["colour-16"], [FLAT_NET])
        >>> len(LONG_RANGE[0].searched(units)) == len(LONG_RANGE[0].configs("colour-16", FLAT_NET))
        True
    """

    search: int = 1

    def check(
        self,
        datasets: Sequence[str] | None,
        systems: Sequence[str] | None,
        trees: Sequence[str] | None,
    ) -> None:
        """Raise ValueError for tasks, systems or trees that are not in the protocol."""
        check_names("task", datasets or (), self.datasets)
        check_names("system", systems or (), self.systems)
        check_names("tree", trees or (), LONG_RANGE_TREES)

    def searched(self, units: Sequence[Unit]) -> list[Unit]:
        """Return the units of the search."""
        return [unit for unit in units if unit.seed < self.search]


def _config(hidden: int, lr: float, batch: int, **extra: Value) -> Config:
    settings = tuple(sorted(extra.items()))
    return Config(hidden=hidden, lr=lr, batch=batch, weight_decay=1e-4, extra=settings)


def _grids(dataset: str, batch: int, epochs: int, rates: Sequence[float]) -> Grids:
    """Equal numbers of configurations; the flat model is deeper and has as many parameters."""
    along = tuple(
        _config(hidden, lr, batch, epochs=epochs, layers=4)
        for hidden, lr in product((32, 48), rates)
    )
    flat = tuple(
        _config(hidden, lr, batch, epochs=epochs, layers=layers)
        for (hidden, layers), lr in product(((64, 16), (96, 8)), rates)
    )
    return ((TREE_NET, dataset, along), (FLAT_NET, dataset, flat))


_RATES = (2e-3, 6e-3)
_TASKS = LongRange(
    name="longrange",
    title="Long-range tasks",
    task="longrange",
    datasets=LONG_RANGE_TASKS,
    systems=(TREE_NET, FLAT_NET),
    trees=LONG_RANGE_TREES,
    grid=(),
    grids=tuple(
        grid
        for name in LONG_RANGE_TASKS
        for grid in _grids(name, 32, 40, _RATES)
    ),
    folds=1,
    seeds=5,
    epochs=1_000,
    patience=1_000,
    steps=None,
    tree_systems=(TREE_NET,),
)
_MOLECULES = replace(
    _TASKS,
    name="longrange-tu",
    title="The same models on graphs of the TU collection",
    datasets=("NCI1", "PROTEINS", "MUTAG"),
    grids=tuple(
        grid for name in ("NCI1", "PROTEINS", "MUTAG") for grid in _grids(name, 64, 60, _RATES)
    ),
    folds=10,
)
LONG_RANGE = (_TASKS, _MOLECULES)
