"""Tables of accuracies, and of baselines below their published accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.report.cells import Cell
from sepool_experiments.report.stats import RULES
from sepool_experiments.tables import MISSING, Record, Table, figure, signed

REFERENCES = ("SEP-G", "SEP-N")  # compared with all other systems
SHORT = 2.0  # percentage points


def accuracy_table(
    protocol: Protocol, table_cells: Sequence[Cell], rule: str, against_paper: bool
) -> Table:
    """Return the accuracies of all systems on all datasets, by one rule of selection."""
    datasets = list(dict.fromkeys(cell.dataset for cell in table_cells))
    lines: list[tuple[str, ...]] = []
    records: list[Record] = []
    for line, group in groupby(table_cells, key=lambda cell: cell.line):
        row = list(group)
        figures = [_record(cell, rule) for cell in row]
        records += figures
        lines.append((str(line), *(_text(cell, rule) for cell in row)))
        earlier_names = {cell.line.name for cell in table_cells[: table_cells.index(row[0])]}
        if against_paper and any(c.published for c in row) and line.name not in earlier_names:
            texts = (figure(f["published"], f["published_std"]) for f in figures)
            lines.append((f"{line.name}, published", *texts))
        if against_paper and not all(np.isnan(f["difference"]) for f in figures):
            lines.append((f"{line}, difference", *(signed(f["difference"]) for f in figures)))
    return Table(
        name=f"{protocol.name}-{rule}",
        title=f"{protocol.title}: test accuracy in percent, {rule} selection",
        note=(
            f"Configurations are chosen by validation: {RULES[rule]}. A figure is the mean over "
            "seeds of the mean over folds, ± the standard deviation of these fold means over seeds"
            " (none with one seed). * Not all trainings of the protocol are there yet."
        ),
        header=("system", *datasets),
        rows=tuple(lines),
        records=tuple(records),
    )


def _text(cell: Cell, rule: str) -> str:
    chosen = cell.selected[rule]
    if chosen is None:
        return MISSING
    return figure(chosen.mean, chosen.spread, "" if cell.complete else " *")


def _record(cell: Cell, rule: str) -> Record:
    chosen = cell.selected[rule]
    mean = chosen.mean if chosen else np.nan
    published = cell.published.mean if cell.published else np.nan
    return {
        "dataset": cell.dataset,
        "system": cell.line.system,
        "tree": cell.line.tree,
        "conv": cell.line.conv,
        "variant": cell.line.variant,
        "rule": rule,
        "mean": mean,
        "std_over_seeds": chosen.spread if chosen else np.nan,
        "seeds": chosen.seeds if chosen else 0,
        "folds": chosen.folds if chosen else 0,
        "trainings": cell.trained,
        "trainings_expected": cell.expected,
        "published": published,
        "published_std": cell.published.std if cell.published else np.nan,
        "difference": mean - published,
        "configurations": " | ".join(chosen.configs) if chosen else "",
    }


def shortfall_table(protocol: Protocol, table_cells: Sequence[Cell]) -> Table | None:
    """Return the baselines more than 2 points below their published accuracy; None without any."""
    records = [
        _record(cell, "customary")
        for cell in table_cells
        if cell.line.system not in REFERENCES and cell.published and cell.selected["customary"]
    ]
    if not records:
        return None
    short = [record for record in records if record["difference"] < -SHORT]
    return Table.of(
        name=f"{protocol.name}-short",
        title=f"{protocol.title}: baselines more than {SHORT:g} points under the published figure",
        note=(
            f"{len(short)} of {len(records)} cells, by the customary rule; the worst first. Where "
            "a baseline falls short, a comparison with it says less."
        ),
        columns={
            "dataset": "dataset",
            "system": "system",
            "measured": lambda r: figure(r["mean"], r["std_over_seeds"]),
            "published": lambda r: figure(r["published"], r["published_std"]),
            "difference": lambda r: signed(r["difference"]),
            "trainings": lambda r: f"{r['trainings']:,} of {r['trainings_expected']:,}",
        },
        records=sorted(short, key=lambda record: float(record["difference"])),
    )
