"""Protocols of the question: where does the hierarchy count?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from sepool_experiments.protocols.choices import check_names
from sepool_experiments.protocols.protocol import Grids, Protocol
from sepool_experiments.protocols.units import Config, Unit, Value

TREE_NET, FLAT_NET = "SEPGraphNet", "flat GCN"
COLOURED = (
    *("matched-16", "colour-16", "matched-32", "colour-32"),
    *("colour-euroroad", "colour-minnesota"),
)
DISTANCES = ("diameter", "eccentricity", "shortest-path")
LONG_RANGE_TASKS = (*COLOURED, "GCB-hard", *DISTANCES, "match-3", "match-4", "molhiv")
TU_DATASETS = ("NCI1", "PROTEINS", "MUTAG")
LONG_RANGE_TREES = ("best", "random", "metis", "louvain", "infomap")


@dataclass(frozen=True)
class LongRange(Protocol):
    """Rules of a comparison of trees with flat models; arguments as in `Protocol`.

    Every system and tree has a search of its own: all configurations with the first seeds on the
    first folds. The one of the best mean validation score is trained with all seeds and folds.

    Args:
        search: number of seeds of the search.
        search_folds: number of folds of the search.
        metrics: datasets whose score is not accuracy, with "mae" (the score is minus the mean
            absolute error) or "auc".

    Example:
        >>> units = LONG_RANGE[0].units(["colour-16"], [FLAT_NET])
        >>> len(LONG_RANGE[0].searched(units)) == len(LONG_RANGE[0].configs("colour-16", FLAT_NET))
        True
    """

    search: int = 1
    search_folds: int = 1
    metrics: tuple[tuple[str, str], ...] = ()

    def metric(self, dataset: str) -> str:
        """Return the score of a dataset: "accuracy", "mae" or "auc"."""
        return dict(self.metrics).get(dataset, "accuracy")

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
        return [u for u in units if u.seed < self.search and u.fold < self.search_folds]


Shapes = Sequence[tuple[int, int]]  # widths and numbers of layers
_ALONG: Shapes = ((24, 3), (32, 3))
_FLAT: Shapes = ((48, 6), (40, 10))  # more weights than the widest along a tree, twice the layers
_WIDE: Shapes = ((40, 4),)
_WIDE_FLAT: Shapes = ((64, 8),)
_RATES = (2e-3, 5e-3)


def _grids(
    dataset: str, along: Shapes = _ALONG, flat: Shapes = _FLAT, batch: int = 32, **extra: Value
) -> Grids:
    """Grids of equal size for both systems."""
    return tuple(
        (
            system,
            dataset,
            tuple(
                Config(
                    hidden=hidden,
                    lr=lr,
                    batch=batch,
                    extra=tuple(sorted({**extra, "layers": layers}.items())),
                )
                for (hidden, layers), lr in product(shapes, _RATES)
            ),
        )
        for system, shapes in ((TREE_NET, along), (FLAT_NET, flat))
    )


_TASKS = LongRange(
    name="longrange",
    title="Long-range tasks",
    task="longrange",
    datasets=LONG_RANGE_TASKS,
    systems=(TREE_NET, FLAT_NET),
    trees=LONG_RANGE_TREES,
    grid=(),
    grids=(
        *(g for name in COLOURED for g in _grids(name, epochs=25, readout="mean")),
        *_grids("GCB-hard", epochs=100, readout="mean"),
        *(g for name in DISTANCES for g in _grids(name, epochs=25, readout="mean")),
        *(g for name in ("match-3", "match-4") for g in _grids(name, batch=128, epochs=40)),
        *_grids("molhiv", batch=128, epochs=30),
    ),
    folds=1,
    seeds=5,
    epochs=1_000,
    patience=1_000,
    steps=None,
    tree_systems=(TREE_NET,),
    metrics=(*((name, "mae") for name in DISTANCES), ("molhiv", "auc")),
)
_COLLECTION = replace(
    _TASKS,
    name="longrange-tu",
    title="The same models on graphs of the TU collection",
    datasets=TU_DATASETS,
    trees=("best", "random"),
    grids=tuple(
        grid
        for name in TU_DATASETS
        for grid in _grids(name, _WIDE, _WIDE_FLAT, batch=128 if name == "NCI1" else 32, epochs=50)
    ),
    folds=10,
    seeds=3,
    search_folds=2,
    metrics=(),
)


def _quick(full: LongRange, dataset: str) -> LongRange:
    """A smoke test of a minute on a laptop, not a measurement."""
    grids = _grids(dataset, ((8, 2),), ((16, 4),), batch=64, epochs=2, readout="mean")
    return replace(
        full,
        name=f"{full.name}-quick",
        title=f"{full.title}, a short trial",
        datasets=(dataset,),
        trees=("best", "random"),
        grids=grids,
        seeds=2,
    )


LONG_RANGE = (_TASKS, _COLLECTION, _quick(_TASKS, "match-3"), _quick(_COLLECTION, "MUTAG"))
