"""Rules and trainings of one table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sepool_experiments.protocols.units import Config, Unit, Value

GRAPH_DATASETS = ("IMDB-BINARY", "IMDB-MULTI", "COLLAB", "MUTAG", "PROTEINS", "DD", "NCI1")
MORE_GRAPH_DATASETS = ("ENZYMES", "NCI109", "PTC_MR")
NODE_DATASETS = ("Cora", "CiteSeer", "PubMed")
DATASETS = {
    **dict.fromkeys(GRAPH_DATASETS + MORE_GRAPH_DATASETS, "graphs"),
    **dict.fromkeys(NODE_DATASETS, "nodes"),
}
TREES = (
    *("best", "paper", "fast", "features", "released", "random"),
    *("metis", "louvain", "infomap"),
)
BACKBONES = ("GCN", "GIN", "GAT", "ChebNet", "GraphSAGE")
HEIGHT = 3  # of the trees that SEP-G pools along
Settings = tuple[tuple[str, Value], ...]
Grids = tuple[tuple[str, str, tuple[Config, ...]], ...]


@dataclass(frozen=True)
class Protocol:
    """The rules of one table.

    Args:
        name: name of the table on the command line and in the results.
        title: caption of the table.
        task: "graphs" or "nodes", the objects to classify; or "longrange".
        datasets: columns of the table.
        systems: rows of the table, by name of the system.
        trees: default trees of the systems that pool along one.
        grid: configurations to select from.
        grids: grids of single systems where they differ: the system, a dataset or "" for all
            others, and the configurations.
        folds: parts of the cross-validation; 1 for a fixed split.
        seeds: trainings of every configuration on every fold.
        epochs: maximum number of epochs.
        patience: epochs without a lower validation loss before early stopping.
        steps: random batches an epoch; None for a pass over the data.
        full_pass: datasets on which an epoch is a pass over the data, regardless of ``steps``.
        clip: largest norm of the gradient.
        per_dataset: settings that one dataset changes in every configuration.
        rows_by: "system", "conv" for one row a backbone, or "name" for one row a ``name`` in
            ``extra``.
        variants: configurations with a row of their own in a table by backbones: the backbone,
            the settings as in ``extra``, and the name of the row.
        tree_systems: systems that pool along a coding tree.
        borrows: name of a protocol whose rows complete this table.
        shares: models that another table has too: the system, its ``name`` here, the other
            protocol and its ``name`` there. Both tables show the same rows.
        rival: name of a protocol with the same systems and other settings; the report also shows
            the selection from both.

    Example:
        >>> table = Protocol("mine", "", "graphs", ("MUTAG",), ("SEP-G",), seeds=2)
        >>> len(table.grid), len(table.units())
        (1, 20)
        >>> table.units(["MUTAG"], ["SEP-G"], seeds=1, folds=[3])[0].fold
        3
    """

    name: str
    title: str
    task: str
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
    variants: tuple[tuple[str, Settings, str], ...] = ()
    tree_systems: tuple[str, ...] = ("SEP-G", "SEP-N")
    borrows: str = ""
    shares: tuple[tuple[str, str, str, str], ...] = ()
    rival: str = ""

    def steps_for(self, dataset: str) -> int | None:
        """Return the random batches an epoch on a dataset; None for a pass over the data.

        >>> table = Protocol("mine", "", "graphs", ("MUTAG", "NCI1"), ("SEP-G",))
        >>> table.steps_for("MUTAG"), table.steps_for("NCI1")
        (50, None)
        """
        return None if dataset in self.full_pass else self.steps

    def configs(self, dataset: str, system: str = "") -> tuple[Config, ...]:
        """Return the grid of a system, with the settings of the dataset."""
        changes: dict[str, Any] = dict(dict(self.per_dataset).get(dataset, ()))
        own = {(name, place): grid for name, place, grid in self.grids}
        grid = own.get((system, dataset), own.get((system, ""), self.grid))
        return tuple(dict.fromkeys(replace(config, **changes) for config in grid))

    @property
    def most_configs(self) -> int:
        """Size of the largest grid."""
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
        """Return the trainings of the table, or of a part of it.

        Args:
            datasets: names of datasets; all by default, as for the other arguments.
            systems: names of systems.
            trees: trees of the systems that pool along one.
            seeds: number of seeds from 0, or the seeds.
            folds: number of folds from 0, or the folds.
            configs: indices into the grid.

        Returns:
            Units sorted by dataset, system and seed, so that an interrupted run leaves complete
            cross-validations.
        """
        chosen_seeds = _numbers(self.seeds if seeds is None else seeds)
        chosen_folds = _numbers(self.folds if folds is None else folds)
        indices = range(self.most_configs) if configs is None else list(configs)
        units = []
        for dataset in self.datasets if datasets is None else datasets:
            for system, tree in self._rows(systems, trees):
                grid = self.configs(dataset, system)
                chosen = [grid[index] for index in indices if index < len(grid)]
                units += [
                    Unit(self.name, dataset, system, tree, config, fold, seed)
                    for seed, config, fold in product(chosen_seeds, chosen, chosen_folds)
                ]
        return units

    def _rows(
        self, systems: Sequence[str] | None, trees: Sequence[str] | None
    ) -> list[tuple[str, str]]:
        """Pairs of system and tree; the tree is "" for systems that pool along none."""
        names = self.systems if systems is None else systems
        chosen = self.trees if trees is None else trees
        return [
            (name, tree)
            for name in names
            for tree in (chosen if name in self.tree_systems else [""])
        ]

    @property
    def digest(self) -> str:
        """Hash of the rules that change the result of a unit.

        Datasets, systems, grid and seeds are part of the units and left out.
        """
        names = ("name", "folds", "epochs", "patience", "steps", "full_pass", "clip")
        rules = {name: getattr(self, name) for name in names}
        text = json.dumps({**rules, "kind": self.task}, sort_keys=True)  # its name in stored rows
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]


def _numbers(numbers: int | Iterable[int]) -> list[int]:
    return list(range(numbers)) if isinstance(numbers, int) else list(numbers)


def all_of(**choices: Sequence[Value]) -> tuple[Config, ...]:
    """Return every combination of the choices."""
    combined = product(*choices.values())
    return tuple(Config.from_dict(dict(zip(choices, values, strict=True))) for values in combined)
