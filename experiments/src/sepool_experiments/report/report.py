"""The report: every table that there are results for, generated from the rows and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sepool.extras import needs
from sepool.files.atomic import StrPath, atomic_write
from sepool_experiments.figures import figure3_table, figure4_table
from sepool_experiments.figures.journal import Row, read_rows
from sepool_experiments.protocols.catalog import PROTOCOLS, Protocol
from sepool_experiments.protocols.figures import FIGURES, Figure
from sepool_experiments.report.accuracy import accuracy_table, shortfall_table
from sepool_experiments.report.cells import Cell, cells, joined, own_rows, rivals
from sepool_experiments.report.comparisons import (
    comparison_table,
    paired_tests,
    ranking_table,
    verdict_table,
)
from sepool_experiments.report.plots import write_plots
from sepool_experiments.report.published import citation
from sepool_experiments.report.stats import rules_of
from sepool_experiments.report.tables import Table, section, write_table, write_text
from sepool_experiments.report.tree_study import control_table, tree_table
from sepool_experiments.results.rows import Rows, read_curves

with needs("bench", "sepool_experiments.report.report"):
    import pandas as pd

PICTURES: dict[str, Callable[[Figure, Sequence[Row]], Table]] = {
    "figure3": figure3_table.table,
    "figure4": figure4_table.table,
}


@dataclass
class Report:
    """A page that grows, and what is on it.

    Args:
        folder: where its files go.
        parts: of the page, as Markdown.
        tables: all tables on it.
        files: all files that were written.
    """

    folder: Path
    parts: list[str] = field(default_factory=lambda: ["# Results", ""])
    tables: list[Table] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The page."""
        return "\n".join(self.parts)

    def head(self, protocol: Protocol, source: str) -> None:
        """Begins the section of a protocol."""
        self.parts += [f"## {protocol.title} (`{protocol.name}`)", "", source, ""]

    def add(self, table: Table) -> None:
        """Writes a table and puts it on the page."""
        self.files += write_table(table, self.folder)
        self.tables.append(table)
        self.parts.append(section(table))

    def show(self, pictures: Iterable[Path]) -> None:
        """Puts pictures on the page that are in its folder."""
        for path in pictures:
            self.files.append(path)
            self.parts.append(f"![{path.stem}]({path.name})\n")

    def write(self) -> None:
        """Writes the page itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files.append(self.folder / "report.md")
        write_text(self.files[-1], self.text)


def write_report(results: StrPath, out: StrPath, against_paper: bool = False) -> Report:
    """Writes all tables and plots, and a page with everything on it.

    Args:
        results: folder of the results.
        out: folder for ``report.md``, for every table as Markdown, CSV and LaTeX, and for plots.
        against_paper: show the published figures and the difference to them.

    Returns:
        The page, its tables and the files.

    Raises:
        ValueError: there are no results, or none of a protocol that sepool has.
    """
    rows = Rows.read(results)
    pictures = {name: read_rows(results, figure) for name, figure in FIGURES.items()}
    if rows.empty and not any(pictures.values()):
        raise ValueError(
            f"no results in {results}; `sepool reproduce table1 --quick` makes some in minutes"
        )
    if not any(pictures.values()) and all(own_rows(p, rows).empty for p in PROTOCOLS.values()):
        raise ValueError(_nothing_known(results, rows))
    curves = list(read_curves(results))
    report = Report(Path(out))
    for protocol in PROTOCOLS.values():
        mine = own_rows(protocol, rows)
        if mine.empty:
            continue
        table_cells = cells(protocol, rows)
        report.head(protocol, _source_of_rows(mine))
        for table in tables(protocol, table_cells, mine, against_paper):
            report.add(table)
        if protocol.rival:
            for table in _against_rival(protocol, table_cells, rows, against_paper):
                report.add(table)
        report.show(write_plots(protocol, table_cells, curves, report.folder))
    for name, found in pictures.items():
        if found:
            _add_picture(report, FIGURES[name], found, Path(results))
    if stale := _left_out(rows):
        report.parts.append(stale)
    if against_paper:
        report.parts.append(f"Published figures: {citation()}\n")
    report.write()
    return report


def _add_picture(report: Report, figure: Figure, rows: Sequence[Row], results: Path) -> None:
    """The table of a picture, and the picture as `sepool reproduce` has drawn it."""
    runs = {row.run.id: asdict(row.run) for row in rows}
    trees = {row.run.trees for row in rows if row.unit.tree}
    report.head(figure, f"{len(rows):,} rows; {_source(list(runs.values()), trees)}.")
    report.add(PICTURES[figure.name.removesuffix("-quick")](figure, rows))
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
    """All tables of a protocol: accuracies by each rule, ranks, tests, and the study of trees."""
    compared = rivals(protocol, table_cells)
    tests = paired_tests(protocol, compared)
    rules = rules_of(protocol.folds)
    made = [accuracy_table(protocol, table_cells, rule, against_paper) for rule in rules]
    ranks = ranking_table(protocol, table_cells)
    short = shortfall_table(protocol, table_cells) if against_paper else None
    made += [table for table in (ranks, short) if table is not None]
    others = (
        verdict_table(protocol, compared, tests),
        tree_table(protocol, rows),
        control_table(protocol, compared),
        comparison_table(protocol, tests),
    )
    return [*made, *(table for table in others if table.rows)]


def _against_rival(
    protocol: Protocol, table_cells: Sequence[Cell], rows: pd.DataFrame, against_paper: bool
) -> list[Table]:
    """What validation chooses from all that a protocol and its rival have trained."""
    rival = PROTOCOLS[protocol.rival]
    both = joined(cells(rival, rows), table_cells)
    name = f"{protocol.name}-or-{rival.name}"
    named = replace(protocol, name=name, title=f"{protocol.title}, or as `{rival.name}` has it")
    return [accuracy_table(named, both, rule, against_paper) for rule in rules_of(protocol.folds)]


def _source_of_rows(rows: pd.DataFrame) -> str:
    """By what the rows were made."""
    columns = [name for name in rows.columns if name.startswith("run_")]
    runs = rows.drop_duplicates("run_id")[columns].rename(columns=lambda name: name[4:])
    hours = rows["seconds"].sum() / 3600
    source = _source(runs.to_dict("records"), set(rows.loc[rows["tree"] != "", "run_trees"]))
    return f"{len(rows):,} trainings, {hours:.1f} hours of training; {source}."


def _source(runs: Sequence[Mapping[str, str]], trees: set[str]) -> str:
    words = []
    for name in ("device", "engine", "sepool", "torch", "torch_geometric", "python"):
        values = ", ".join(sorted({run[name] for run in runs} - {""}))
        words.append(f"{name.replace('_', '-')} {values or 'unknown'}")
    if trees:
        words.insert(3, f"trees built by sepool {', '.join(sorted(trees))}")
    return "; ".join(words)


def _nothing_known(results: StrPath, rows: pd.DataFrame) -> str:
    """What to do with rows of which no table is made."""
    counts = rows["protocol"].value_counts(sort=False)
    numbers = ", ".join(f"{count:,} of {name}" for name, count in counts.items())
    many = f"nothing to report in {results}: its rows ({numbers})"
    if set(counts.index) & set(PROTOCOLS):
        return f"{many} were made by rules or configurations that no protocol has any more"
    return (
        f"{many} are of no protocol that sepool has; for one of your own call "
        "sepool_experiments.report.cells.cells, as docs/tutorials/research.md does"
    )


def _left_out(rows: pd.DataFrame) -> str:
    used = sum(len(own_rows(protocol, rows)) for protocol in PROTOCOLS.values())
    if used == len(rows):
        return ""
    return (
        f"{len(rows) - used:,} rows are left out: they were made by rules or configurations that "
        "no protocol has.\n"
    )
