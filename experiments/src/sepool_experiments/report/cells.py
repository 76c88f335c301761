"""From rows to the cells of a table: one system on one dataset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from sepool.extras import needs
from sepool_experiments.protocols.catalog import BACKBONES, PROTOCOLS, SYSTEMS_OF, TREES, Protocol
from sepool_experiments.protocols.units import Config
from sepool_experiments.report.published import Published, published
from sepool_experiments.report.stats import RULES, Selected, select

with needs("bench", "sepool_experiments.report.cells"):
    import pandas as pd

UNIT = ["setting", "fold", "seed"]  # what two trainings can have in common


@dataclass(frozen=True)
class Line:
    """A row of a table.

    Args:
        system: name of the system.
        tree: what it pools along, "" for nothing.
        conv: the backbone, in a table that compares backbones.
        variant: the name of its configurations, in a table with a row a name or where there are
            backbones beside the published ones.

    Example:
        >>> print(Line("SEP-G", "best"), "|", Line("SEP-G", "paper", "GIN"), "|", Line("GCN"))
        SEP-G (best) | SEP-G-GIN (paper) | GCN
        >>> print(Line("SEP-N", "random", variant="2"))
        SEP-N(2) (random)
    """

    system: str
    tree: str = ""
    conv: str = ""
    variant: str = ""

    @classmethod
    def of(cls, protocol: Protocol, system: str, tree: str, config: Config) -> Line:
        """The row of a table that a configuration belongs to."""
        conv = config.conv if protocol.rows_by == "conv" else ""
        return cls(system, tree, conv, variant_of(protocol, config.conv, config.extra))

    @property
    def name(self) -> str:
        """What the paper calls it."""
        name = f"{self.system}-{self.conv}" if self.conv else self.system
        return f"{name}({self.variant})" if self.variant else name

    def __str__(self) -> str:
        return f"{self.name} ({self.tree})" if self.tree else self.name


@dataclass(frozen=True)
class Cell:
    """What is known of one system on one dataset.

    Args:
        line: the row of the table.
        dataset: the column of the table.
        rows: results of all configurations, folds and seeds.
        seeds: how many of them the protocol asks for.
        per_seed: how many trainings it asks for with each.
        folds: how many of them were trained for this dataset, by any system.
        published: what the paper says.
    """

    line: Line
    dataset: str
    rows: pd.DataFrame = field(repr=False)
    seeds: int
    per_seed: int
    folds: int
    published: Published | None

    @cached_property
    def selected(self) -> dict[str, Selected | None]:
        """What each rule of selection chooses."""
        return {rule: select(self.rows, rule, self.folds) for rule in RULES}

    @property
    def expected(self) -> int:
        """How many trainings the protocol asks for."""
        return self.seeds * self.per_seed

    @property
    def trained(self) -> int:
        """How many of them there are; more seeds than it asks for make up for nothing."""
        return int((self.rows["seed"] < self.seeds).sum())

    @property
    def complete(self) -> bool:
        """Whether everything that the protocol asks for was trained."""
        return self.trained >= self.expected

    def whole_seeds(self) -> pd.DataFrame:
        """The rows of seeds with which everything was trained."""
        counts = self.rows["seed"].value_counts()
        return self.rows[self.rows["seed"].isin(counts.index[counts >= self.per_seed])]


def matched(first: Cell, second: Cell, rule: str) -> tuple[Selected | None, Selected | None]:
    """What is chosen for each from the trainings that both have: configurations, folds and seeds.

    A longer search must not win a comparison, nor one that was cut off lose it. Systems that share
    no configuration, because each has a grid of its own, choose from all of theirs, with the seeds
    for which it is there.
    """
    backbones = first.line.conv != second.line.conv  # of which each configuration has its own
    both = [cell.rows.assign(setting=_settings(cell.rows, backbones)) for cell in (first, second)]
    if set(both[0]["setting"]) & set(both[1]["setting"]):
        shared = both[0][UNIT].merge(both[1][UNIT])
        both = [rows.merge(shared) for rows in both]
    else:
        both = [cell.whole_seeds() for cell in (first, second)]
    one, other = (select(rows, rule, first.folds) for rows in both)
    return one, other


def _settings(rows: pd.DataFrame, backbones: bool) -> list[Any]:
    """What two systems can have in common: the configuration, but for the backbone of each."""
    if not backbones:
        return list(rows["config"])
    names = [field.name for field in fields(Config) if field.name not in ("conv", "extra")]
    return list(rows[names].itertuples(index=False, name=None))


def cells(protocol: Protocol, rows: pd.DataFrame) -> list[Cell]:
    """All cells of a protocol's table, also those without results.

    Args:
        protocol: the table.
        rows: of any protocols; those made by other rules or by no configuration of the grid are
            left out.
    """
    mine = pd.concat([own_rows(protocol, rows), _borrowed(protocol, rows)], ignore_index=True)
    datasets = dict.fromkeys([*protocol.datasets, *mine["dataset"]])
    conv = mine["conv"] if protocol.rows_by == "conv" else ""
    parts = mine.assign(conv=conv, variant=variants_of(protocol, mine))
    folds = mine.groupby("dataset")["fold"].nunique()
    groups = dict(list(parts.groupby(["dataset", "system", "tree", "conv", "variant"])))
    return [
        Cell(
            line,
            dataset,
            groups.get((dataset, *astuple(line)), mine.iloc[:0]),
            protocol.seeds,
            _per_seed(protocol, line, dataset),
            int(folds.get(dataset, 0)),
            published(protocol.name, line.name, dataset),
        )
        for line in _lines(protocol, mine)
        for dataset in datasets
    ]


def rivals(protocol: Protocol, table_cells: Iterable[Cell]) -> list[Cell]:
    """The cells that are compared with each other: all but those of rows that stand aside."""
    aside = {(conv, name) for conv, _, name in protocol.asides}
    return [cell for cell in table_cells if (cell.line.conv, cell.line.variant) not in aside]


def joined(first: Iterable[Cell], second: Iterable[Cell]) -> list[Cell]:
    """The cells that both tables have, to choose from what was trained for either."""
    found = {(cell.line, cell.dataset): cell for cell in first}
    pairs = [(found.get((cell.line, cell.dataset)), cell) for cell in second]
    return [
        replace(
            cell,
            rows=pd.concat([other.rows, cell.rows], ignore_index=True),
            per_seed=other.per_seed + cell.per_seed,
            folds=max(other.folds, cell.folds),
            published=other.published,
        )
        for other, cell in pairs
        if other is not None
    ]


def own_rows(protocol: Protocol, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that a protocol's rules and grid have made."""
    mine = rows[(rows["protocol"] == protocol.name) & (rows["run_digest"] == protocol.digest)]
    places = set(zip(mine["dataset"], mine["system"], strict=True))
    configs = {place: set(map(str, protocol.configs(*place))) for place in places}
    rows_of = zip(mine["dataset"], mine["system"], mine["config"], strict=True)
    return mine[np.array([config in configs[data, name] for data, name, config in rows_of], bool)]


def _borrowed(protocol: Protocol, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of another protocol that complete the table, with the trees that it has itself."""
    if not protocol.borrows:
        return rows.iloc[:0]
    lent = own_rows(PROTOCOLS[protocol.borrows], rows)
    trees = {*protocol.trees, *own_rows(protocol, rows)["tree"]}
    fits = lent["system"].isin(protocol.systems) & lent["tree"].isin(trees)
    return lent[fits & ~lent["conv"].isin(_convs(protocol))]


def _lines(protocol: Protocol, rows: pd.DataFrame) -> list[Line]:
    """The rows of the table: those of the paper, with every tree that there are results for."""
    lines = []
    for system in dict.fromkeys([*protocol.systems, *rows["system"]]):
        known = SYSTEMS_OF[protocol.kind].get(system)
        usual = protocol.trees if known and known.uses_tree else ("",)
        found = set(rows.loc[rows["system"] == system, "tree"]) or set(usual)
        ordered = sorted(found, key=lambda tree: [*TREES, tree].index(tree))
        for conv in BACKBONES if protocol.rows_by == "conv" else ("",):
            for variant in _variants(protocol, system, conv):
                lines += [Line(system, tree, conv, variant) for tree in ordered]
    return lines


def variants_of(protocol: Protocol, rows: pd.DataFrame) -> list[str]:
    """`variant_of` every row."""
    pairs = zip(rows["conv"], rows["extra"], strict=True)
    return [variant_of(protocol, conv, extra) for conv, extra in pairs]


def variant_of(protocol: Protocol, conv: str, extra: Iterable[tuple[str, object]]) -> str:
    """The name of the row of a table that a configuration belongs to, where rows have names."""
    settings = dict(extra)
    if protocol.rows_by == "name":
        return str(settings.get("name", ""))
    named = (name for base, some, name in protocol.asides if (base, dict(some)) == (conv, settings))
    return next(named, "")


def _variants(protocol: Protocol, system: str, conv: str) -> list[str]:
    """The names of a system's configurations, in their order; those asides come last."""
    if protocol.rows_by != "name":
        return ["", *(name for base, _, name in protocol.asides if base == conv)]
    configs = [c for dataset in protocol.datasets for c in protocol.configs(dataset, system)]
    return list(dict.fromkeys(variant_of(protocol, c.conv, c.extra) for c in configs)) or [""]


def _per_seed(protocol: Protocol, line: Line, dataset: str) -> int:
    if line.conv and line.conv not in _convs(protocol):
        protocol = PROTOCOLS[protocol.borrows]
    configs = [
        config
        for config in protocol.configs(dataset, line.system)
        if line.conv in ("", config.conv)
        and variant_of(protocol, config.conv, config.extra) == line.variant
    ]
    return len(configs) * protocol.folds


def _convs(protocol: Protocol) -> set[str]:
    return {config.conv for config in protocol.grid}
