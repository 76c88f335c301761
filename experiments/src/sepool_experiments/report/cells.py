"""Cells of a table, one system on one dataset, from the rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sepool_experiments.protocols.catalog import BACKBONES, PROTOCOLS, TREES, Protocol
from sepool_experiments.protocols.units import Config
from sepool_experiments.report.published import Published, published
from sepool_experiments.report.stats import RULES, Selected, select

UNIT = ["setting", "fold", "seed"]  # columns that pair the trainings of two systems
LIGHT = "light, predicted trees"  # SEP-N without weights above the nodes, along such trees


@dataclass(frozen=True)
class Line:
    """A row of a table.

    Args:
        system: name of the system.
        tree: tree that it pools along, "" for none.
        conv: backbone, in a table by backbones.
        variant: name of its configurations, in a table by names or for unpublished backbones.

    Example:
        >>> print(Line("SEP-G", "best"), "|", Line("SEP-G", "paper", "GIN"), "|", Line("GCN"))
        SEP-G (best) | SEP-G-GIN (paper) | GCN
        >>> print(Line("SEP-N", "random", variant="2"))
        SEP-N(2) (random)
        >>> print(Line("SEP-N", "best", variant=f"2, {LIGHT}"))
        SEP-N light, predicted trees(2) (best)
    """

    system: str
    tree: str = ""
    conv: str = ""
    variant: str = ""

    @classmethod
    def of(cls, protocol: Protocol, system: str, tree: str, config: Config) -> Line:
        """Return the row of a table that a configuration belongs to."""
        conv = config.conv if protocol.rows_by == "conv" else ""
        return cls(system, tree, conv, variant_of(protocol, config.conv, config.extra))

    @property
    def name(self) -> str:
        """Name in the paper."""
        name = f"{self.system}-{self.conv}" if self.conv else self.system
        if self.variant.endswith(LIGHT):
            name = f"{name} {LIGHT}"
        number = self.variant.removesuffix(LIGHT).removesuffix(", ")
        return f"{name}({number})" if number else name

    @property
    def depth(self) -> int | None:
        """Number of blocks or convolutions, in a table by depth."""
        number = self.variant.partition(", ")[0]
        return int(number) if number.isdecimal() else None

    def at_any_depth(self) -> Line:
        """Return the line without its depth."""
        return replace(self, variant=self.variant.partition(", ")[2])

    def __str__(self) -> str:
        return f"{self.name} ({self.tree})" if self.tree else self.name


@dataclass(frozen=True)
class Cell:
    """Results of one system on one dataset.

    Args:
        line: row of the table.
        dataset: column of the table.
        rows: results of all configurations, folds and seeds.
        seeds: number of seeds in the protocol.
        per_seed: trainings a seed in the protocol.
        folds: number of folds trained on this dataset, by any system.
        published: published accuracy, or None.
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
        """Selection by each rule."""
        return {rule: select(self.rows, rule, self.folds) for rule in RULES}

    @property
    def expected(self) -> int:
        """Number of trainings in the protocol."""
        return self.seeds * self.per_seed

    @property
    def trained(self) -> int:
        """Number of finished trainings, without seeds beyond those of the protocol."""
        return int((self.rows["seed"] < self.seeds).sum())

    @property
    def complete(self) -> bool:
        """True if all trainings of the protocol are finished."""
        return self.trained >= self.expected

    def complete_seeds(self) -> pd.DataFrame:
        """Return the rows of the seeds without missing trainings."""
        counts = self.rows["seed"].value_counts()
        return self.rows[self.rows["seed"].isin(counts.index[counts >= self.per_seed])]


def matched(first: Cell, second: Cell, rule: str) -> tuple[Selected | None, Selected | None]:
    """Select for each of two cells from their common configurations, folds and seeds.

    A longer search must not win a comparison, nor an interrupted one lose it. Systems with disjoint
    grids select from their own grids, over the seeds with a complete grid.
    """
    backbones = first.line.conv != second.line.conv  # then the convolutions always differ
    both = [cell.rows.assign(setting=_settings(cell.rows, backbones)) for cell in (first, second)]
    if set(both[0]["setting"]) & set(both[1]["setting"]):
        shared = both[0][UNIT].merge(both[1][UNIT])
        both = [rows.merge(shared) for rows in both]
    else:
        both = [cell.complete_seeds() for cell in (first, second)]
    selected, other = (select(rows, rule, first.folds) for rows in both)
    return selected, other


def _settings(rows: pd.DataFrame, backbones: bool) -> list[Any]:
    """Return the configurations of rows, without the backbone where backbones are compared."""
    if not backbones:
        return list(rows["config"])
    names = [field.name for field in fields(Config) if field.name not in ("conv", "extra")]
    return list(rows[names].itertuples(index=False, name=None))


def cells(protocol: Protocol, rows: pd.DataFrame) -> list[Cell]:
    """Return all cells of a protocol's table, also those without results.

    Args:
        protocol: the table.
        rows: rows of any protocols; rows of other rules or configurations are ignored.
    """
    used = pd.concat([own_rows(protocol, rows), _borrowed(protocol, rows)], ignore_index=True)
    datasets = dict.fromkeys([*protocol.datasets, *used["dataset"]])
    conv = used["conv"] if protocol.rows_by == "conv" else ""
    parts = used.assign(conv=conv, variant=variants_of(protocol, used))
    folds = used.groupby("dataset")["fold"].nunique()
    groups = dict(list(parts.groupby(["dataset", "system", "tree", "conv", "variant"])))
    return [
        Cell(
            line,
            dataset,
            groups.get((dataset, *astuple(line)), used.iloc[:0]),
            protocol.seeds,
            _per_seed(protocol, line, dataset),
            int(folds.get(dataset, 0)),
            published(protocol.name, line.name, dataset),
        )
        for line in _lines(protocol, used)
        for dataset in datasets
    ]


def rivals(protocol: Protocol, table_cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells that are compared with each other: all but those of variants."""
    variants = {(conv, name) for conv, _, name in protocol.variants}
    return [cell for cell in table_cells if (cell.line.conv, cell.line.variant) not in variants]


def joined(first: Iterable[Cell], second: Iterable[Cell]) -> list[Cell]:
    """Merge the common cells of two tables, to select from the trainings of both."""
    by_key = {(cell.line, cell.dataset): cell for cell in first}
    pairs = [(by_key.get((cell.line, cell.dataset)), cell) for cell in second]
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
    """Return the rows of a protocol's rules and grid, with those of models that tables share.

    Of a training that two tables have the row of the first one counts, in both.
    """
    parts = {protocol.name: _rows_of_grid(protocol, rows)}
    for system, name, other, other_name in protocol.shares:
        theirs = _rows_of_grid(PROTOCOLS[other], rows)
        named = theirs["extra"].map(lambda extra, old=other_name: dict(extra).get("name") == old)
        same = named.astype(bool) & (theirs["system"] == system)
        parts[other] = _renamed(theirs[same], other_name, name)
    if len(parts) == 1:
        return parts[protocol.name]
    joined = pd.concat([parts[name] for name in sorted(parts)], ignore_index=True)
    return joined.drop_duplicates(["dataset", "system", "tree", "config", "fold", "seed"])


def _renamed(rows: pd.DataFrame, old: str, new: str) -> pd.DataFrame:
    """Return rows with another name in their configurations."""
    extra = [tuple({**dict(pairs), "name": new}.items()) for pairs in rows["extra"]]
    config = [text.replace(f"name={old}", f"name={new}") for text in rows["config"]]
    return rows.assign(extra=extra, config=config)


def _rows_of_grid(protocol: Protocol, rows: pd.DataFrame) -> pd.DataFrame:
    own = rows[(rows["protocol"] == protocol.name) & (rows["run_digest"] == protocol.digest)]
    pairs = set(zip(own["dataset"], own["system"], strict=True))
    configs = {pair: set(map(str, protocol.configs(*pair))) for pair in pairs}
    triples = zip(own["dataset"], own["system"], own["config"], strict=True)
    return own[np.array([config in configs[data, name] for data, name, config in triples], bool)]


def _borrowed(protocol: Protocol, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of another protocol that complete the table, of the same trees."""
    if not protocol.borrows:
        return rows.iloc[:0]
    others = own_rows(PROTOCOLS[protocol.borrows], rows)
    trees = {*protocol.trees, *own_rows(protocol, rows)["tree"]}
    fits = others["system"].isin(protocol.systems) & others["tree"].isin(trees)
    return others[fits & ~others["conv"].isin(_convs(protocol))]


def _lines(protocol: Protocol, rows: pd.DataFrame) -> list[Line]:
    """Return the rows of the table: systems of the paper, with every tree that has results."""
    lines = []
    for system in dict.fromkeys([*protocol.systems, *rows["system"]]):
        usual = protocol.trees if system in protocol.tree_systems else ("",)
        trees = set(rows.loc[rows["system"] == system, "tree"]) or set(usual)
        ordered = sorted(trees, key=lambda tree: [*TREES, tree].index(tree))
        for conv in BACKBONES if protocol.rows_by == "conv" else ("",):
            for variant in _variants(protocol, system, conv):
                lines += [Line(system, tree, conv, variant) for tree in ordered]
    return lines


def variants_of(protocol: Protocol, rows: pd.DataFrame) -> list[str]:
    """Return `variant_of` every row."""
    pairs = zip(rows["conv"], rows["extra"], strict=True)
    return [variant_of(protocol, conv, extra) for conv, extra in pairs]


def variant_of(protocol: Protocol, conv: str, extra: Iterable[tuple[str, object]]) -> str:
    """Return the name of a configuration's row, where rows have names."""
    settings = dict(extra)
    if protocol.rows_by == "name":
        name = str(settings.get("name", ""))
        return f"{name}, {LIGHT}" if name.isdecimal() and settings.get("light") else name
    return next((name for c, s, name in protocol.variants if (c, dict(s)) == (conv, settings)), "")


def _variants(protocol: Protocol, system: str, conv: str) -> list[str]:
    """Return the names of a system's configurations in their order, "" for the published ones."""
    if protocol.rows_by != "name":
        return ["", *(name for base, _, name in protocol.variants if base == conv)]
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
