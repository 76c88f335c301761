"""The rules of one table, and which trainings it is made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from sepool_experiments.models.node_systems import NODE_SYSTEMS
from sepool_experiments.models.systems import SYSTEMS, System
from sepool_experiments.protocols.units import Config, Unit, Value

GRAPH_DATASETS = ("IMDB-BINARY", "IMDB-MULTI", "COLLAB", "MUTAG", "PROTEINS", "DD", "NCI1")
MORE_GRAPH_DATASETS = ("ENZYMES", "NCI109", "PTC_MR")
NODE_DATASETS = ("Cora", "CiteSeer", "PubMed")
DATASETS = {
    **dict.fromkeys(GRAPH_DATASETS + MORE_GRAPH_DATASETS, "graphs"),
    **dict.fromkeys(NODE_DATASETS, "nodes"),
}
TREES = ("best", "paper", "fast", "features", "released", "random")
BACKBONES = ("GCN", "GIN", "GAT", "ChebNet", "GraphSAGE")
SYSTEMS_OF = {"graphs": SYSTEMS, "nodes": NODE_SYSTEMS}
Settings = tuple[tuple[str, Value], ...]
Grids = tuple[tuple[str, str, tuple[Config, ...]], ...]


def system_of(unit: Unit) -> System:
    """The system of a unit; what it classifies follows from the dataset.

    >>> unit = Unit("table3", "Cora", "GCN", "", Config(), fold=0, seed=0)
    >>> system_of(unit).kind, system_of(replace(unit, dataset="MUTAG")).kind
    ('nodes', 'graphs')
    """
    return SYSTEMS_OF[DATASETS.get(unit.dataset, "graphs")][unit.system]


@dataclass(frozen=True)
class Protocol:
    """The rules of one table.

    Args:
        name: what the table is called on the command line and in the results.
        title: what the table shows.
        kind: "graphs" or "nodes", what is classified.
        datasets: the columns of the table.
        systems: the rows of the table, by name of the system.
        trees: what SEP pools along where nothing else is asked for.
        grid: the configurations to choose from.
        grids: those of single systems where they differ: the system, a dataset or "" for all
            others, and the configurations.
        folds: parts of the cross-validation; 1 for a fixed split.
        seeds: trainings of every configuration on every fold.
        epochs: the most epochs of a training.
        patience: epochs without a lower validation loss after which it stops.
        steps: random batches that count as one epoch; None is a pass over the data.
        full_pass: datasets on which an epoch is a pass over the data whatever ``steps`` says.
        clip: largest norm of the gradient.
        per_dataset: settings that one dataset changes in every configuration.
        rows_by: "system", "conv" for a table with one row a backbone, or "name" for one row a name,
            as configurations have one in ``extra``.
        asides: backbones with settings that no published row has: the backbone, the settings as
            ``extra`` has them, and the name of the row that such configurations have of their own.
        borrows: a protocol whose rows complete this table.
        rival: a protocol that trains the same systems with other settings; the report also shows
            what validation chooses from both.

    Example:
        >>> table = Protocol("mine", "", "graphs", ("MUTAG",), ("SEP-G",), seeds=2)
        >>> len(table.grid), len(table.units())
        (1, 20)
        >>> table.units(["MUTAG"], ["SEP-G"], seeds=1, folds=[3])[0].fold
        3
    """

    name: str
    title: str
    kind: str
    datasets: tuple[str, ...]
    systems: tuple[str, ...]
    trees: tuple[str, ...] = ("best",)
    grid: tuple[Config, ...] = (Config(),)
    grids: Grids = ()
    folds: int = 10
    seeds: int = 10
    epochs: int = 500
    patience: int = 50
    steps: int | None = 50
    full_pass: tuple[str, ...] = ("COLLAB", "NCI1")
    clip: float = 1.0
    per_dataset: tuple[tuple[str, Settings], ...] = ()
    rows_by: str = "system"
    asides: tuple[tuple[str, Settings, str], ...] = ()
    borrows: str = ""
    rival: str = ""

    def steps_for(self, dataset: str) -> int | None:
        """Random batches in an epoch on a dataset; None is a pass over the data.

        >>> table = Protocol("mine", "", "graphs", ("MUTAG", "NCI1"), ("SEP-G",))
        >>> table.steps_for("MUTAG"), table.steps_for("NCI1")
        (50, None)
        """
        return None if dataset in self.full_pass else self.steps

    def configs(self, dataset: str, system: str = "") -> tuple[Config, ...]:
        """The grid of a system, with what this dataset changes in it."""
        changes: dict[str, Any] = dict(dict(self.per_dataset).get(dataset, ()))
        own = {(name, place): grid for name, place, grid in self.grids}
        grid = own.get((system, dataset), own.get((system, ""), self.grid))
        return tuple(dict.fromkeys(replace(config, **changes) for config in grid))

    @property
    def most_configs(self) -> int:
        """How many configurations the largest grid has."""
        return max(len(grid) for grid in (self.grid, *(grid for _, _, grid in self.grids)))

    def units(
        self,
        datasets: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        trees: Sequence[str] | None = None,
        seeds: int | Iterable[int] | None = None,
        folds: int | Iterable[int] | None = None,
        configs: Iterable[int] | None = None,
    ) -> list[Unit]:
        """The trainings of the table, or those of a part of it.

        Args:
            datasets: some datasets; all by default, as for the others.
            systems: some systems.
            trees: trees for the systems that pool along one.
            seeds: so many seeds from 0, or these seeds.
            folds: so many folds from 0, or these folds.
            configs: places in the grid, from 0.

        Returns:
            Units in an order that completes one dataset, then one system, then one seed at a time,
            so that an interrupted run leaves whole cross-validations.
        """
        chosen_seeds = _numbers(self.seeds if seeds is None else seeds)
        chosen_folds = _numbers(self.folds if folds is None else folds)
        places = range(self.most_configs) if configs is None else list(configs)
        units = []
        for dataset in self.datasets if datasets is None else datasets:
            for system, tree in self._rows(systems, trees):
                grid = self.configs(dataset, system)
                chosen = [grid[place] for place in places if place < len(grid)]
                units += [
                    Unit(self.name, dataset, system, tree, config, fold, seed)
                    for seed, config, fold in product(chosen_seeds, chosen, chosen_folds)
                ]
        return units

    def _rows(
        self, systems: Sequence[str] | None, trees: Sequence[str] | None
    ) -> list[tuple[str, str]]:
        """Pairs of system and tree; a system that pools along no tree has the tree ""."""
        there = SYSTEMS_OF[self.kind]
        rows = []
        for name in self.systems if systems is None else systems:
            uses_tree = there[name].uses_tree
            for tree in (self.trees if trees is None else trees) if uses_tree else [""]:
                rows.append((name, tree))
        return rows

    @property
    def digest(self) -> str:
        """A short word for every rule that changes the result of a unit.

        What to train (datasets, systems, grid, seeds) is in the units themselves and left out.
        """
        rules = ("name", "kind", "folds", "epochs", "patience", "steps", "full_pass", "clip")
        values = asdict(self)
        text = json.dumps({rule: values[rule] for rule in rules}, sort_keys=True)
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]


def _numbers(some: int | Iterable[int]) -> list[int]:
    return list(range(some)) if isinstance(some, int) else list(some)


def all_of(**choices: Sequence[Value]) -> tuple[Config, ...]:
    """Every combination of the choices."""
    combined = product(*choices.values())
    return tuple(Config.from_dict(dict(zip(choices, values, strict=True))) for values in combined)
