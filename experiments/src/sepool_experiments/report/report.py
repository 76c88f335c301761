"""The report: tables and plots of all results, generated from the rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pandas as pd

from sepool.files.atomic import StrPath, atomic_write
from sepool_experiments.figures import figure3_table, figure4_table
from sepool_experiments.figures.journal import Row, read_rows
from sepool_experiments.protocols.catalog import PROTOCOLS, Protocol
from sepool_experiments.protocols.figures import FIGURES, Figure
from sepool_experiments.protocols.longrange import LongRange
from sepool_experiments.report.accuracy import accuracy_table, shortfall_table
from sepool_experiments.report.cells import Cell, cells, joined, own_rows, rivals
from sepool_experiments.report.comparisons import (
    comparison_table,
    paired_tests,
    ranking_table,
    verdict_table,
)
from sepool_experiments.report.long_range import long_range_tables
from sepool_experiments.report.plots import write_plots
from sepool_experiments.report.published import citation
from sepool_experiments.report.stats import rules_of
from sepool_experiments.report.tree_study import control_table, tree_table
from sepool_experiments.results.rows import Rows, read_curves
from sepool_experiments.tables import Table, section, write_table, write_text

FIGURE_TABLES: dict[str, Callable[[Figure, Sequence[Row]], Table]] = {
    "figure3": figure3_table.table,
    "figure4": figure4_table.table,
}


@dataclass
class Report:
    """A Markdown page with tables and plots."""

    folder: Path
    parts: list[str] = field(default_factory=lambda: ["# Results", ""])
    tables: list[Table] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Markdown of the page."""
        return "\n".join(self.parts)

    def begin(self, protocol: Protocol, provenance: str) -> None:
        """Begin the section of a protocol."""
        self.parts += [f"## {protocol.title} (`{protocol.name}`)", "", provenance, ""]

    def add(self, table: Table) -> None:
        """Write the files of a table and append it to the page."""
        self.files += write_table(table, self.folder)
        self.tables.append(table)
        self.parts.append(section(table))

    def show(self, pictures: Iterable[Path]) -> None:
        """Append pictures in the page's folder."""
        for path in pictures:
            self.files.append(path)
            self.parts.append(f"![{path.stem}]({path.name})\n")

    def write(self) -> None:
        """Write the page."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files.append(self.folder / "report.md")
        write_text(self.files[-1], self.text)


def write_report(results: StrPath, out: StrPath, against_paper: bool = False) -> Report:
    """Write all tables and plots, and a page with all of them.

    Args:
        results: folder of the results.
        out: folder of ``report.md``, of the tables as Markdown, CSV and LaTeX, and of the plots.
        against_paper: show the published accuracies and the differences from them.

    Returns:
        The page, its tables and files.

    Raises:
        ValueError: there are no results, or none of a protocol in the catalog.
    """
    rows = Rows.read(results)
    figure_rows = {name: read_rows(results, figure) for name, figure in FIGURES.items()}
    no_figures = not any(figure_rows.values())
    if rows.empty and no_figures:
        raise ValueError(
            f"no results in {results}; `sepool reproduce table1 --quick` makes some in minutes"
        )
    if no_figures and all(own_rows(p, rows).empty for p in PROTOCOLS.values()):
        raise ValueError(_no_protocol(results, rows))
    curves = list(read_curves(results))
    report = Report(Path(out))
    for protocol in PROTOCOLS.values():
        own = own_rows(protocol, rows)
        if own.empty:
            continue
        report.begin(protocol, _provenance_of_rows(own))
        if isinstance(protocol, LongRange):
            for table in long_range_tables(protocol, own):
                report.add(table)
            continue
        table_cells = cells(protocol, rows)
        for table in tables(protocol, table_cells, own, against_paper):
            report.add(table)
        if protocol.rival:
            for table in _against_rival(protocol, table_cells, rows, against_paper):
                report.add(table)
        report.show(write_plots(protocol, table_cells, curves, report.folder))
    for name, measured in figure_rows.items():
        if measured:
            _add_figure(report, FIGURES[name], measured, Path(results))
    if ignored := _count_ignored(rows):
        report.parts.append(ignored)
    if against_paper:
        report.parts.append(f"Published figures: {citation()}\n")
    report.write()
    return report


def _add_figure(report: Report, figure: Figure, rows: Sequence[Row], results: Path) -> None:
    """Append the table of a figure, and the picture drawn by `sepool reproduce`."""
    runs = list({row.run.id: asdict(row.run) for row in rows}.values())
    trees = {row.run.trees for row in rows if row.unit.tree}
    report.begin(figure, f"{len(rows):,} rows; {_provenance(runs, trees)}.")
    report.add(FIGURE_TABLES[figure.name.removesuffix("-quick")](figure, rows))
    drawn = results / figure.name / f"{figure.name}.png"
    if not drawn.exists():
        command = f"sepool reproduce {figure.name} --out {results}"
        report.parts.append(f"The picture is missing; `{command}` draws it.\n")
        return
    copy = report.folder / drawn.name
    with atomic_write(copy) as file:
        file.write(drawn.read_bytes())
    report.show([copy])


def tables(
    protocol: Protocol, table_cells: Sequence[Cell], rows: pd.DataFrame, against_paper: bool
) -> list[Table]:
    """Return all tables of a protocol: accuracies by each rule, ranks, tests, tree study."""
    compared = rivals(protocol, table_cells)
    tests = paired_tests(protocol, compared)
    rules = rules_of(protocol.folds)
    first = [accuracy_table(protocol, table_cells, rule, against_paper) for rule in rules]
    ranks = ranking_table(protocol, table_cells)
    short = shortfall_table(protocol, table_cells) if against_paper else None
    first += [table for table in (ranks, short) if table is not None]
    others = (
        verdict_table(protocol, compared, tests),
        tree_table(protocol, rows),
        control_table(protocol, compared),
        comparison_table(protocol, tests),
    )
    return [*first, *(table for table in others if table.rows)]


def _against_rival(
    protocol: Protocol, table_cells: Sequence[Cell], rows: pd.DataFrame, against_paper: bool
) -> list[Table]:
    """Select by validation from the trainings of a protocol and its rival together."""
    rival = PROTOCOLS[protocol.rival]
    both = joined(cells(rival, rows), table_cells)
    name = f"{protocol.name}-or-{rival.name}"
    named = replace(protocol, name=name, title=f"{protocol.title}, or as `{rival.name}` has it")
    return [accuracy_table(named, both, rule, against_paper) for rule in rules_of(protocol.folds)]


def _provenance_of_rows(rows: pd.DataFrame) -> str:
    columns = [name for name in rows.columns if name.startswith("run_")]
    runs = rows.drop_duplicates("run_id")[columns].rename(columns=lambda name: name[4:])
    hours = rows["seconds"].sum() / 3600
    trees = set(rows.loc[rows["tree"] != "", "run_trees"])
    provenance = _provenance(runs.to_dict("records"), trees)
    return f"{len(rows):,} trainings, {hours:.1f} hours of training; {provenance}."


def _provenance(runs: Sequence[Mapping[str, str]], trees: set[str]) -> str:
    """Describe devices and versions of runs, and the versions of sepool that built their trees."""
    fields = []
    for name in ("device", "engine", "sepool", "torch", "torch_geometric", "python"):
        values = ", ".join(sorted({run[name] for run in runs} - {""}))
        fields.append(f"{name.replace('_', '-')} {values or 'unknown'}")
    if trees:
        fields.insert(3, f"trees built by sepool {', '.join(sorted(trees))}")
    return "; ".join(fields)


def _no_protocol(results: StrPath, rows: pd.DataFrame) -> str:
    """Describe rows that belong to no table."""
    counts = rows["protocol"].value_counts(sort=False)
    numbers = ", ".join(f"{count:,} of {name}" for name, count in counts.items())
    start = f"nothing to report in {results}: its rows ({numbers})"
    if set(counts.index) & set(PROTOCOLS):
        return f"{start} have rules or configurations that no protocol has any more"
    return (
        f"{start} belong to no protocol of the catalog; for a protocol of your own call "
        "sepool_experiments.report.cells.cells, as in docs/tutorials/research.md"
    )


def _count_ignored(rows: pd.DataFrame) -> str:
    used = sum(len(own_rows(protocol, rows)) for protocol in PROTOCOLS.values())
    if used == len(rows):
        return ""
    return (
        f"{len(rows) - used:,} rows are left out: they were made by rules or configurations that "
        "no protocol has.\n"
    )
