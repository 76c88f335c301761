"""The report: every table that there are results for, generated from the rows and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sepool.bench.cells import Cell, Line, cells, own_rows, variant_of
from sepool.bench.plots import write_plots
from sepool.bench.protocols import PROTOCOLS, TREES, Protocol
from sepool.bench.published import citation
from sepool.bench.rows import Rows, read_curves
from sepool.bench.stats import RULES, compare, holm, paired_means
from sepool.bench.tables import (
    MISSING,
    Record,
    Table,
    figure,
    section,
    signed,
    write_table,
    write_text,
)
from sepool.io import StrPath

REFERENCES = ("SEP-G", "SEP-N")  # the systems that others are compared with


@dataclass(frozen=True)
class Report:
    """What was written.

    Args:
        text: the page, as Markdown.
        tables: all tables on it.
        files: all files that were written.
    """

    text: str
    tables: tuple[Table, ...]
    files: tuple[Path, ...]


def write_report(results: StrPath, out: StrPath, against_paper: bool = False) -> Report:
    """Writes all tables and plots, and a page with everything on it.

    Args:
        results: folder of the results.
        out: folder for ``report.md``, for every table as Markdown, CSV and LaTeX, and for plots.
        against_paper: show the published figures and the difference to them.

    Returns:
        The page, its tables and the files.

    Raises:
        ValueError: there are no results.
    """
    rows = Rows.read(results)
    if rows.empty:
        raise ValueError(
            f"no results in {results}; `sepool reproduce table1 --quick` makes some in minutes"
        )
    curves = list(read_curves(results))
    folder = Path(out)
    parts = ["# Results", ""]
    made: list[Table] = []
    files = [folder / "report.md"]
    for protocol in PROTOCOLS.values():
        mine = own_rows(protocol, rows)
        if mine.empty:
            continue
        table_cells = cells(protocol, rows)
        parts += [f"## {protocol.title} (`{protocol.name}`)", "", _source(mine), ""]
        for table in tables(protocol, table_cells, mine, against_paper):
            files += write_table(table, folder)
            made.append(table)
            parts.append(section(table))
        plots = write_plots(protocol, table_cells, curves, folder)
        files += plots
        parts += [f"![{path.stem}]({path.name})\n" for path in plots]
    if stale := _left_out(rows):
        parts.append(stale)
    if against_paper:
        parts.append(f"Published figures: {citation()}\n")
    page = "\n".join(parts)
    write_text(files[0], page)
    return Report(page, tuple(made), tuple(files))


def tables(
    protocol: Protocol, table_cells: Sequence[Cell], rows: pd.DataFrame, against_paper: bool
) -> list[Table]:
    """All tables of a protocol: accuracies by each rule, tests, and the study of trees."""
    made = [accuracy_table(protocol, table_cells, rule, against_paper) for rule in RULES]
    made += [comparison_table(protocol, table_cells), tree_table(protocol, rows)]
    return [table for table in made if table.rows]


def accuracy_table(
    protocol: Protocol, table_cells: Sequence[Cell], rule: str, against_paper: bool
) -> Table:
    """Accuracies of all systems on all datasets, by one rule of selection."""
    datasets = list(dict.fromkeys(cell.dataset for cell in table_cells))
    lines: list[tuple[str, ...]] = []
    records: list[Record] = []
    for line, some in groupby(table_cells, key=lambda cell: cell.line):
        row = list(some)
        figures = [_record(cell, rule) for cell in row]
        records += figures
        lines.append((str(line), *(_text(cell, rule) for cell in row)))
        named_before = {cell.line.name for cell in table_cells[: table_cells.index(row[0])]}
        if against_paper and any(c.published for c in row) and line.name not in named_before:
            shown = [_number(f["published"]) for f in figures]
            spreads = [_number(f["published_std"]) for f in figures]
            lines.append((f"{line.name}, published", *map(figure, shown, spreads)))
        if against_paper and not all(np.isnan(_number(f["difference"])) for f in figures):
            differences = (signed(_number(f["difference"])) for f in figures)
            lines.append((f"{line}, difference", *differences))
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
    chosen, known = cell.selected[rule], cell.published
    mean = chosen.mean if chosen else np.nan
    published = known.mean if known else np.nan
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
        "trainings": len(cell.rows),
        "trainings_expected": cell.expected,
        "published": published,
        "published_std": known.std if known else np.nan,
        "difference": mean - published,
        "configurations": " | ".join(chosen.configs) if chosen else "",
    }


def comparison_table(protocol: Protocol, table_cells: Sequence[Cell]) -> Table:
    """Paired tests of the first row of SEP with results against every other row."""
    records: list[Record] = []
    names: set[str] = set()
    reference = _reference(table_cells)
    bases = {cell.dataset: cell for cell in table_cells if cell.line == reference}
    for rule in RULES:
        found: list[Record] = []
        for cell in (cell for cell in table_cells if bases and cell.line != reference):
            first, second = bases[cell.dataset].selected[rule], cell.selected[rule]
            if first and second and (test := compare(first, second)):
                names.add(test.test)
                who: Record = {"first": str(reference), "second": str(cell.line), "rule": rule}
                found.append({"dataset": cell.dataset, **who, **asdict(test)})
        corrected = holm([_number(record["p"]) for record in found])
        records += [r | {"p_holm": p} for r, p in zip(found, corrected, strict=True)]
    return Table(
        name=f"{protocol.name}-tests",
        title=f"{protocol.title}: paired tests",
        note=(
            f"Difference of test accuracy, first less second; {' or '.join(sorted(names))}, on "
            "differences over the same folds and seeds, averaged over seeds inside a fold. Holm: "
            "corrected for the number of comparisons by this rule."
        ),
        header=("dataset", "first", "second", "rule", "difference", "pairs", "p", "p (Holm)"),
        rows=tuple(_test_row(record) for record in records),
        records=tuple(records),
    )


def _reference(table_cells: Sequence[Cell]) -> Line | None:
    """The line that the others are compared with: the first of SEP's that has results."""
    for cell in table_cells:
        if cell.line.system in REFERENCES and cell.selected["customary"] is not None:
            return cell.line
    return None


def _test_row(record: Record) -> tuple[str, ...]:
    names = (str(record[name]) for name in ("dataset", "first", "second", "rule"))
    p_values = (f"{_number(record[name]):.2g}" for name in ("p", "p_holm"))
    return *names, signed(_number(record["difference"])), str(record["pairs"]), *p_values


def tree_table(protocol: Protocol, rows: pd.DataFrame) -> Table:
    """Does the tree matter? The same trainings with other trees, unit by unit."""
    lines: list[tuple[str, ...]] = []
    records: list[Record] = []
    named = rows.assign(variant=[variant_of(protocol, extra) for extra in rows["extra"]])
    for place, some in named.groupby(["dataset", "system", "variant"], sort=True):
        dataset, name, variant = map(str, place)
        system = Line(name, variant=variant).name
        for tree in [name for name in TREES if name != "best" and name in set(some["tree"])]:
            both = paired_means(some[some["tree"].isin(["best", tree])], "tree")
            if both.shape[1] < 2 or len(both) < 2:
                continue
            gain = (both["best"] - both[tree]).to_numpy()
            best, other, mean = (float(x.mean()) for x in (both["best"], both[tree], gain))
            error = float(stats.sem(gain))
            record: Record = {"dataset": dataset, "system": system, "tree": tree}
            record |= {"best": best, "this_tree": other, "best_less_this": mean}
            records.append(record | {"standard_error": error, "trainings": len(both)})
            texts = (figure(best), figure(other), f"{signed(mean)} ± {error:.2f}")
            lines.append((dataset, system, tree, *texts, f"{len(both):,}"))
    return Table(
        name=f"{protocol.name}-trees",
        title=f"{protocol.title}: does the tree matter?",
        note=(
            "Mean test accuracy in percent over all configurations, folds and seeds that were "
            "trained with both trees, and the mean of the paired differences ± its standard error "
            "over these trainings, which share folds and are not independent."
        ),
        header=("dataset", "system", "tree", "best", "this tree", "best less this", "trainings"),
        rows=tuple(lines),
        records=tuple(records),
    )


def _source(rows: pd.DataFrame) -> str:
    """By what the rows were made."""
    words = []
    for name in ("device", "engine", "sepool", "torch", "torch_geometric", "python"):
        values = ", ".join(sorted(set(rows[f"run_{name}"]) - {""}))
        words.append(f"{name.replace('_', '-')} {values or 'unknown'}")
    hours = rows["seconds"].sum() / 3600
    return f"{len(rows):,} trainings, {hours:.1f} hours of training; {'; '.join(words)}."


def _left_out(rows: pd.DataFrame) -> str:
    used = sum(len(own_rows(protocol, rows)) for protocol in PROTOCOLS.values())
    if used == len(rows):
        return ""
    return (
        f"{len(rows) - used:,} rows are left out: they were made by rules or configurations that "
        "no protocol has.\n"
    )


def _number(value: str | int | float | None) -> float:
    return np.nan if value is None else float(value)
