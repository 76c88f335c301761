"""One system against the others: paired tests, who wins where, and ranks over datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from scipy import stats

from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.report.accuracy import REFERENCES
from sepool_experiments.report.cells import Cell, Line, matched
from sepool_experiments.report.stats import compare, holm, rules_of
from sepool_experiments.report.tables import MISSING, Record, Table, number, signed

LEVEL = 0.05  # of significance, after correction
MATCHED = (
    "Each with what validation chose for it from the trainings that both have; systems that share "
    "no configuration choose from the whole grid of each, where it was trained."
)
HOLM = "Holm: corrected for the number of comparisons by this rule."


def paired_tests(protocol: Protocol, table_cells: Sequence[Cell]) -> list[Record]:
    """Tests of the first row of SEP with results against every other row, on every dataset."""
    records: list[Record] = []
    reference = reference_line(table_cells)
    bases = {cell.dataset: cell for cell in table_cells if cell.line == reference}
    for rule in rules_of(protocol.folds):
        found: list[Record] = []
        for cell in (cell for cell in table_cells if bases and cell.line != reference):
            first, second = matched(bases[cell.dataset], cell, rule)
            if first and second and (test := compare(first, second, protocol.folds)):
                who: Record = {"first": str(reference), "second": str(cell.line), "rule": rule}
                found.append({"dataset": cell.dataset, **who, **asdict(test)})
        records += with_holm(found)
    return records


def with_holm(records: Sequence[Record]) -> list[Record]:
    """The tests with p-values that are corrected for their number."""
    corrected = holm([number(record["p"]) for record in records])
    return [record | {"p_holm": p} for record, p in zip(records, corrected, strict=True)]


def reference_line(table_cells: Sequence[Cell]) -> Line | None:
    """The line that the others are compared with: the first of SEP's that has results."""
    for cell in table_cells:
        if cell.line.system in REFERENCES and cell.selected["customary"] is not None:
            return cell.line
    return None


def comparison_table(protocol: Protocol, tests: Sequence[Record]) -> Table:
    """All paired tests, one a line."""
    return Table(
        name=f"{protocol.name}-tests",
        title=f"{protocol.title}: paired tests",
        note=(
            f"Difference of test accuracy, first less second, ± its standard error; {names(tests)}"
            ", on differences over the same folds and seeds, averaged over seeds where there are "
            f"several folds. {MATCHED} {HOLM}"
        ),
        header=("dataset", "first", "second", "rule", "difference", "pairs", "p", "p (Holm)"),
        rows=tuple(row_of(record, "dataset", "first", "second", "rule") for record in tests),
        records=tuple(tests),
    )


def names(tests: Sequence[Record]) -> str:
    """Which tests these are."""
    return " or ".join(sorted({str(record["test"]) for record in tests}))


def row_of(record: Record, *columns: str) -> tuple[str, ...]:
    """A test as cells of a table, behind these columns."""
    texts = (str(record[name]) for name in columns)
    p_values = (f"{number(record[name]):.2g}" for name in ("p", "p_holm"))
    difference = f"{signed(number(record['difference']))} ± {number(record['error']):.2f}"
    return *texts, difference, str(record["pairs"]), *p_values


def verdict_table(
    protocol: Protocol, table_cells: Sequence[Cell], tests: Sequence[Record]
) -> Table:
    """On which datasets the first system wins, ties and loses against each other one.

    The same system along other trees is no rival.
    """
    records: list[Record] = []
    sentences = []
    reference = reference_line(table_cells)
    own = {str(cell.line) for cell in table_cells if reference and cell.line.name == reference.name}
    for rule in rules_of(protocol.folds):
        mine = [
            record for record in tests if record["rule"] == rule and record["second"] not in own
        ]
        for second in dict.fromkeys(str(record["second"]) for record in mine):
            against = [record for record in mine if record["second"] == second]
            lists = {word: _datasets(against, word) for word in ("wins", "ties", "losses")}
            who: Record = {"first": against[0]["first"], "second": second, "rule": rule}
            counts: Record = {word: len(some) for word, some in lists.items()}
            on: Record = {f"{word}_on": ", ".join(some) for word, some in lists.items()}
            records.append({**who, **counts, **on})
        if mine:
            wins, ties, losses = (len(_datasets(mine, word)) for word in ("wins", "ties", "losses"))
            sentences.append(
                f"By the {rule} rule {mine[0]['first']} wins {wins} of {len(mine)} comparisons, "
                f"ties {ties} and loses {losses}."
            )
    return Table(
        name=f"{protocol.name}-verdicts",
        title=f"{protocol.title}: who wins where",
        note=(
            f"{' '.join(sentences)} A win or a loss is a paired test with p (Holm) below "
            f"{LEVEL:g}, anything else a tie: no difference was shown, which is not the same as "
            "none."
        ),
        header=("against", "rule", "wins", "ties", "losses", "wins on", "ties on", "loses on"),
        rows=tuple(_verdict_row(record) for record in records),
        records=tuple(records),
    )


def _datasets(tests: Sequence[Record], word: str) -> list[str]:
    return [str(record["dataset"]) for record in tests if _verdict(record) == word]


def _verdict(test: Record) -> str:
    if number(test["p_holm"]) >= LEVEL:
        return "ties"
    return "wins" if number(test["difference"]) > 0 else "losses"


def _verdict_row(record: Record) -> tuple[str, ...]:
    columns = ("second", "rule", "wins", "ties", "losses", "wins_on", "ties_on", "losses_on")
    return tuple(str(record[name]) or "none" for name in columns)


def ranking_table(protocol: Protocol, table_cells: Sequence[Cell]) -> Table | None:
    """Ranks of the systems on every dataset, and their means over datasets that all are on.

    Of a system with several trees, the first that has results takes part.

    Returns:
        The table; None with fewer than two systems, or where rows are no systems.
    """
    lines = _first_lines(table_cells)
    if protocol.rows_by != "system" or len(lines) < 2:
        return None
    rules = rules_of(protocol.folds)
    by_rule = {rule: _ranks(lines, table_cells, rule) for rule in rules}
    shown = sorted(by_rule["customary"], key=_place)
    means = {(r["system"], r["rule"]): r["mean_rank"] for some in by_rule.values() for r in some}
    datasets = [name for name in shown[0] if name in {cell.dataset for cell in table_cells}]
    common = [name for name in datasets if all(record[name] is not None for record in shown)]
    rows = []
    for record in shown:
        over = (_rank(means[record["system"], rule]) for rule in rules)
        rows.append((str(record["system"]), *over, *(_rank(record[name]) for name in datasets)))
    return Table(
        name=f"{protocol.name}-ranks",
        title=f"{protocol.title}: ranks",
        note=(
            f"1 is the highest mean test accuracy of the {len(shown)} systems with results; equals "
            "share the mean of their ranks. Mean ranks are over the datasets on which all of them "
            f"have results: {', '.join(common) or 'none'}. Ranks on single datasets are by the "
            "customary rule, among the systems that are there."
        ),
        header=("system", *(f"mean rank, {rule}" for rule in rules), *datasets),
        rows=tuple(rows),
        records=(*shown, *by_rule.get("strict", ())),
    )


def _first_lines(table_cells: Sequence[Cell]) -> list[Line]:
    """One line a system, the first with results."""
    there = (cell.line for cell in table_cells if cell.selected["customary"] is not None)
    first: dict[str, Line] = {}
    for line in there:
        first.setdefault(line.name, line)
    return list(first.values())


def _ranks(lines: Sequence[Line], table_cells: Sequence[Cell], rule: str) -> list[Record]:
    found: dict[str, list[float]] = {}
    for dataset in dict.fromkeys(cell.dataset for cell in table_cells):
        chosen = {cell.line: cell.selected[rule] for cell in table_cells if cell.dataset == dataset}
        means = [one.mean if (one := chosen.get(line)) else np.nan for line in lines]
        if np.isfinite(means).sum() > 1:  # alone, one is the first of one
            negative = [-round(mean, 9) for mean in means]
            found[dataset] = stats.rankdata(negative, nan_policy="omit").tolist()
    common = [ranks for ranks in found.values() if not np.isnan(ranks).any()]
    over = np.mean(common, axis=0) if common else np.full(len(lines), np.nan)
    records: list[Record] = []
    for place, line in enumerate(lines):
        own = {name: ranks[place] for name, ranks in found.items()}
        shown: Record = {name: None if np.isnan(rank) else rank for name, rank in own.items()}
        head: Record = {"system": str(line), "rule": rule, "mean_rank": float(over[place])}
        records.append({**head, "datasets": len(common), **shown})
    return records


def _place(record: Record) -> tuple[float, str]:
    mean = number(record["mean_rank"])
    return (np.inf if np.isnan(mean) else mean), str(record["system"])


def _rank(value: str | int | float | None) -> str:
    rank = number(value)
    return MISSING if np.isnan(rank) else f"{rank:.3g}"
