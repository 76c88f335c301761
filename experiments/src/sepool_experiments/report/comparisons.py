"""Paired tests of one system against the others, verdicts, and ranks over datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from scipy import stats

from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.report.accuracy import REFERENCES
from sepool_experiments.report.cells import Cell, Line, matched
from sepool_experiments.report.stats import compare, holm, rules_of
from sepool_experiments.tables import MISSING, Record, Table, number, signed

LEVEL = 0.05  # of significance, after correction
VERDICTS = ("wins", "ties", "losses")
MATCHED = (
    "Each with what validation chose for it from the trainings that both have; systems that share "
    "no configuration choose from the whole grid of each, where it was trained."
)
HOLM = "Holm: corrected for the number of comparisons by this rule."


def paired_tests(protocol: Protocol, table_cells: Sequence[Cell]) -> list[Record]:
    """Test the first row of SEP with results against every other row, on every dataset."""
    records: list[Record] = []
    reference = reference_line(table_cells)
    bases = {cell.dataset: cell for cell in table_cells if cell.line == reference}
    for rule in rules_of(protocol.folds):
        tests: list[Record] = []
        for cell in (cell for cell in table_cells if bases and cell.line != reference):
            first, second = matched(bases[cell.dataset], cell, rule)
            if first and second and (test := compare(first, second, protocol.folds)):
                pair: Record = {"first": str(reference), "second": str(cell.line), "rule": rule}
                tests.append({"dataset": cell.dataset, **pair, **asdict(test)})
        records += with_holm(tests)
    return records


def with_holm(records: Sequence[Record]) -> list[Record]:
    """Add p-values corrected for the number of tests."""
    corrected = holm([number(record["p"]) for record in records])
    return [record | {"p_holm": p} for record, p in zip(records, corrected, strict=True)]


def reference_line(table_cells: Sequence[Cell]) -> Line | None:
    """Return the line that the others are compared with: the first of SEP with results."""
    for cell in table_cells:
        if cell.line.system in REFERENCES and cell.selected["customary"] is not None:
            return cell.line
    return None


def comparison_table(protocol: Protocol, tests: Sequence[Record]) -> Table:
    """Return all paired tests, one a line."""
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
    """Return the names of the tests."""
    return " or ".join(sorted({str(record["test"]) for record in tests}))


def row_of(record: Record, *columns: str) -> tuple[str, ...]:
    """Return a test as cells of a table, after these columns."""
    texts = (str(record[name]) for name in columns)
    p_values = (f"{number(record[name]):.2g}" for name in ("p", "p_holm"))
    difference = f"{signed(number(record['difference']))} ± {number(record['error']):.2f}"
    return *texts, difference, str(record["pairs"]), *p_values


def verdict_table(
    protocol: Protocol, table_cells: Sequence[Cell], tests: Sequence[Record]
) -> Table:
    """Return wins, ties and losses of the first system against each other one, with datasets.

    The first system along other trees is left out.
    """
    records: list[Record] = []
    sentences = []
    reference = reference_line(table_cells)
    own = {str(cell.line) for cell in table_cells if reference and cell.line.name == reference.name}
    for rule in rules_of(protocol.folds):
        others = [
            record for record in tests if record["rule"] == rule and record["second"] not in own
        ]
        for second in dict.fromkeys(str(record["second"]) for record in others):
            against = [record for record in others if record["second"] == second]
            lists = {verdict: _datasets(against, verdict) for verdict in VERDICTS}
            pair: Record = {"first": against[0]["first"], "second": second, "rule": rule}
            counts: Record = {verdict: len(names) for verdict, names in lists.items()}
            on: Record = {f"{verdict}_on": ", ".join(names) for verdict, names in lists.items()}
            records.append({**pair, **counts, **on})
        if others:
            wins, ties, losses = (len(_datasets(others, verdict)) for verdict in VERDICTS)
            sentences.append(
                f"By the {rule} rule {others[0]['first']} wins {wins} of {len(others)} "
                f"comparisons, ties {ties} and loses {losses}."
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


def _datasets(tests: Sequence[Record], verdict: str) -> list[str]:
    return [str(record["dataset"]) for record in tests if _verdict(record) == verdict]


def _verdict(test: Record) -> str:
    if number(test["p_holm"]) >= LEVEL:
        return "ties"
    return "wins" if number(test["difference"]) > 0 else "losses"


def _verdict_row(record: Record) -> tuple[str, ...]:
    columns = ("second", "rule", "wins", "ties", "losses", "wins_on", "ties_on", "losses_on")
    return tuple(str(record[name]) or "none" for name in columns)


def ranking_table(protocol: Protocol, table_cells: Sequence[Cell]) -> Table | None:
    """Return ranks of the systems on every dataset, and means over their common datasets.

    A system with several trees has the rank of the first with results. None with fewer than two
    systems, or in a table not by systems.
    """
    lines = _first_lines(table_cells)
    if protocol.rows_by != "system" or len(lines) < 2:
        return None
    rules = rules_of(protocol.folds)
    by_rule = {rule: _ranks(lines, table_cells, rule) for rule in rules}
    shown = sorted(by_rule["customary"], key=_rank_key)
    means = {(r["system"], r["rule"]): r["mean_rank"] for part in by_rule.values() for r in part}
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
    """Return one line a system, the first with results."""
    first: dict[str, Line] = {}
    for cell in table_cells:
        if cell.selected["customary"] is not None:
            first.setdefault(cell.line.name, cell.line)
    return list(first.values())


def _ranks(lines: Sequence[Line], table_cells: Sequence[Cell], rule: str) -> list[Record]:
    by_dataset: dict[str, list[float]] = {}
    for dataset in dict.fromkeys(cell.dataset for cell in table_cells):
        chosen = {cell.line: cell.selected[rule] for cell in table_cells if cell.dataset == dataset}
        means = [one.mean if (one := chosen.get(line)) else np.nan for line in lines]
        if np.isfinite(means).sum() > 1:  # a single system has no rank
            negative = [-round(mean, 9) for mean in means]
            by_dataset[dataset] = stats.rankdata(negative, nan_policy="omit").tolist()
    common = [ranks for ranks in by_dataset.values() if not np.isnan(ranks).any()]
    over = np.mean(common, axis=0) if common else np.full(len(lines), np.nan)
    records: list[Record] = []
    for i, line in enumerate(lines):
        own = {name: ranks[i] for name, ranks in by_dataset.items()}
        shown: Record = {name: None if np.isnan(rank) else rank for name, rank in own.items()}
        head: Record = {"system": str(line), "rule": rule, "mean_rank": float(over[i])}
        records.append({**head, "datasets": len(common), **shown})
    return records


def _rank_key(record: Record) -> tuple[float, str]:
    mean = number(record["mean_rank"])
    return (np.inf if np.isnan(mean) else mean), str(record["system"])


def _rank(value: str | int | float | None) -> str:
    rank = number(value)
    return MISSING if np.isnan(rank) else f"{rank:.3g}"
