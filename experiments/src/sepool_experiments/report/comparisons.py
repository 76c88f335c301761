"""Paired tests of one system against the others, verdicts, and ranks over datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

import numpy as np
import pandas as pd

from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.report.accuracy import REFERENCES
from sepool_experiments.report.cells import Cell, Line, matched
from sepool_experiments.report.stats import compare, holm, rules_of
from sepool_experiments.tables import MISSING, Column, Record, Table, signed

LEVEL = 0.05  # of significance, after correction
VERDICTS = ("wins", "ties", "losses")
MATCHED = (
    "Each with what validation chose for it from the trainings that both have; systems that share "
    "no configuration choose from the whole grid of each, where it was trained."
)
HOLM = "Holm: corrected for the number of comparisons by this rule."
TEST_COLUMNS: dict[str, Column] = {
    "difference": lambda test: f"{signed(test['difference'])} ± {test['error']:.2f}",
    "pairs": "pairs",
    "p": lambda test: f"{test['p']:.2g}",
    "p (Holm)": lambda test: f"{test['p_holm']:.2g}",
}


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
    corrected = holm([record["p"] for record in records])
    return [record | {"p_holm": p} for record, p in zip(records, corrected, strict=True)]


def reference_line(table_cells: Sequence[Cell]) -> Line | None:
    """Return the line that the others are compared with: the first of SEP with results."""
    for cell in table_cells:
        if cell.line.system in REFERENCES and cell.selected["customary"] is not None:
            return cell.line
    return None


def comparison_table(protocol: Protocol, tests: Sequence[Record]) -> Table:
    """Return all paired tests, one a line."""
    return Table.of(
        name=f"{protocol.name}-tests",
        title=f"{protocol.title}: paired tests",
        note=(
            f"Difference of test accuracy, first less second, ± its standard error; {names(tests)}"
            ", on differences over the same folds and seeds, averaged over seeds where there are "
            f"several folds. {MATCHED} {HOLM}"
        ),
        columns={
            **{name: name for name in ("dataset", "first", "second", "rule")},
            **TEST_COLUMNS,
        },
        records=list(tests),
    )


def names(tests: Sequence[Record]) -> str:
    """Return the names of the tests."""
    return " or ".join(sorted({record["test"] for record in tests}))


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
    others = [test for test in tests if test["second"] not in own]
    for rule, of_rule in groupby(others, key=lambda test: str(test["rule"])):
        against = list(of_rule)
        first, counts = against[0]["first"], Counter(map(_verdict, against))
        sentences.append(
            f"By the {rule} rule {first} wins {counts['wins']} of {len(against)} comparisons, ties "
            f"{counts['ties']} and loses {counts['losses']}."
        )
        for second in dict.fromkeys(test["second"] for test in against):
            lists: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
            for test in against:
                if test["second"] == second:
                    lists[_verdict(test)].append(test["dataset"])
            numbers = {verdict: len(datasets) for verdict, datasets in lists.items()}
            on = {f"{verdict}_on": ", ".join(datasets) for verdict, datasets in lists.items()}
            records.append({"first": first, "second": second, "rule": rule, **numbers, **on})
    return Table.of(
        name=f"{protocol.name}-verdicts",
        title=f"{protocol.title}: who wins where",
        note=(
            f"{' '.join(sentences)} A win or a loss is a paired test with p (Holm) below "
            f"{LEVEL:g}, anything else a tie: no difference was shown, which is not the same as "
            "none."
        ),
        columns={
            **{"against": "second", "rule": "rule"},
            **{verdict: verdict for verdict in VERDICTS},
            "wins on": lambda record: record["wins_on"] or "none",
            "ties on": lambda record: record["ties_on"] or "none",
            "loses on": lambda record: record["losses_on"] or "none",
        },
        records=records,
    )


def _verdict(test: Record) -> str:
    if test["p_holm"] >= LEVEL:
        return "ties"
    return "wins" if test["difference"] > 0 else "losses"


def ranking_table(protocol: Protocol, table_cells: Sequence[Cell]) -> Table | None:
    """Return ranks of the systems on every dataset, and means over their common datasets.

    A system with several trees has the rank of the first with results. None with fewer than two
    systems, or in a table not by systems.
    """
    first: dict[str, Line] = {}
    for cell in table_cells:
        if cell.selected["customary"] is not None:
            first.setdefault(cell.line.name, cell.line)
    if protocol.rows_by != "system" or len(first) < 2:
        return None
    rules = rules_of(protocol.folds)
    by_rule = {rule: _ranks(list(first.values()), table_cells, rule) for rule in rules}
    ranks = by_rule["customary"].sort_values(["mean_rank", "system"])
    by_rule["customary"] = ranks
    means = {rule: frame.set_index("system")["mean_rank"] for rule, frame in by_rule.items()}
    datasets = list(ranks.columns[4:])
    common = [name for name in datasets if ranks[name].notna().all()]
    rows = []
    for _, row in ranks.iterrows():
        over = (_rank(means[rule][row["system"]]) for rule in rules)
        rows.append((row["system"], *over, *(_rank(row[name]) for name in datasets)))
    return Table(
        name=f"{protocol.name}-ranks",
        title=f"{protocol.title}: ranks",
        note=(
            f"1 is the highest mean test accuracy of the {len(ranks)} systems with results; equals "
            "share the mean of their ranks. Mean ranks are over the datasets on which all of them "
            f"have results: {', '.join(common) or 'none'}. Ranks on single datasets are by the "
            "customary rule, among the systems that are there."
        ),
        header=("system", *(f"mean rank, {rule}" for rule in rules), *datasets),
        rows=tuple(rows),
        records=tuple(record for part in by_rule.values() for record in part.to_dict("records")),
    )


def _ranks(lines: Sequence[Line], table_cells: Sequence[Cell], rule: str) -> pd.DataFrame:
    """Return mean ranks and the ranks on every dataset with results of two systems."""
    datasets = list(dict.fromkeys(cell.dataset for cell in table_cells))
    means = pd.DataFrame(np.nan, index=list(map(str, lines)), columns=datasets)
    for cell in table_cells:
        if cell.line in lines and (chosen := cell.selected[rule]):
            means.loc[str(cell.line), cell.dataset] = chosen.mean
    ranks = means.loc[:, means.count() > 1].round(9).rank(ascending=False)
    common = ranks.dropna(axis="columns")
    head = {"rule": rule, "mean_rank": common.mean(axis="columns"), "datasets": common.shape[1]}
    return pd.DataFrame(head).join(ranks).rename_axis("system").reset_index()


def _rank(rank: float) -> str:
    return MISSING if np.isnan(rank) else f"{rank:.3g}"
