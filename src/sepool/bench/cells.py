"""From rows to the cells of a table: one system on one dataset."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from sepool.bench.protocols import BACKBONES, PROTOCOLS, TREES, Protocol
from sepool.bench.published import Published, published
from sepool.bench.stats import RULES, Selected, select
from sepool.bench.systems import SYSTEMS


@dataclass(frozen=True)
class Line:
    """A row of a table.

    Args:
        system: name of the system.
        tree: what it pools along, "" for nothing.
        conv: the backbone, in a table that compares backbones.

    Example:
        >>> print(Line("SEP-G", "best"), "|", Line("SEP-G", "paper", "GIN"), "|", Line("GCN"))
        SEP-G (best) | SEP-G-GIN (paper) | GCN
    """

    system: str
    tree: str = ""
    conv: str = ""

    @property
    def name(self) -> str:
        """What the paper calls it."""
        return f"{self.system}-{self.conv}" if self.conv else self.system

    def __str__(self) -> str:
        return f"{self.name} ({self.tree})" if self.tree else self.name


@dataclass(frozen=True)
class Cell:
    """What is known of one system on one dataset.

    Args:
        line: the row of the table.
        dataset: the column of the table.
        rows: results of all configurations, folds and seeds.
        expected: how many there are when the protocol is complete.
        published: what the paper says.
    """

    line: Line
    dataset: str
    rows: pd.DataFrame = field(repr=False)
    expected: int
    published: Published | None

    @cached_property
    def selected(self) -> dict[str, Selected | None]:
        """What each rule of selection chooses."""
        return {rule: select(self.rows, rule) for rule in RULES}

    @property
    def complete(self) -> bool:
        """Whether everything that the protocol asks for was trained."""
        return len(self.rows) >= self.expected


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
    groups = dict(list(mine.assign(conv=conv).groupby(["dataset", "system", "tree", "conv"])))
    return [
        Cell(
            line,
            dataset,
            groups.get((dataset, line.system, line.tree, line.conv), mine.iloc[:0]),
            _expected(protocol, line, dataset),
            published(protocol.name, line.name, dataset),
        )
        for line in _lines(protocol, mine)
        for dataset in datasets
    ]


def own_rows(protocol: Protocol, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that a protocol's rules and grid have made."""
    mine = rows[(rows["protocol"] == protocol.name) & (rows["run_digest"] == protocol.digest)]
    configs = {name: set(map(str, protocol.configs(name))) for name in set(mine["dataset"])}
    pairs = zip(mine["dataset"], mine["config"], strict=True)
    return mine[np.array([config in configs[name] for name, config in pairs], bool)]


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
        usual = protocol.trees if system in SYSTEMS and SYSTEMS[system].uses_tree else ("",)
        found = set(rows.loc[rows["system"] == system, "tree"]) or set(usual)
        for conv in BACKBONES if protocol.rows_by == "conv" else ("",):
            ordered = sorted(found, key=lambda tree: [*TREES, tree].index(tree))
            lines += [Line(system, tree, conv) for tree in ordered]
    return lines


def _expected(protocol: Protocol, line: Line, dataset: str) -> int:
    if line.conv and line.conv not in _convs(protocol):
        protocol = PROTOCOLS[protocol.borrows]
    configs = [c for c in protocol.configs(dataset) if line.conv in ("", c.conv)]
    return len(configs) * protocol.folds * protocol.seeds


def _convs(protocol: Protocol) -> set[str]:
    return {config.conv for config in protocol.grid}
