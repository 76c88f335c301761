"""Choice of configurations, and tables, of the protocols of long-range tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import pandas as pd

from sepool_experiments.protocols.longrange import FLAT_NET, LONG_RANGE_TREES, TREE_NET, LongRange
from sepool_experiments.report.comparisons import HOLM, TEST_COLUMNS, with_holm
from sepool_experiments.report.stats import Selected, compare
from sepool_experiments.results.choice import Key, chosen_configs
from sepool_experiments.tables import MISSING, Record, Table, figure

UNTRAINED = 0.03  # validation score under the flat model that needs more training


@dataclass(frozen=True)
class Choice:
    """Result of one system, along one tree, on one dataset.

    Args:
        config: text of the configuration that validation chose.
        searched: number of configurations that it was chosen from.
        val: mean validation score of the search.
        selected: test scores of the seeds with all folds, in hundredths for a mean absolute error.
    """

    config: str
    searched: int
    val: float
    selected: Selected


def choices(protocol: LongRange, rows: pd.DataFrame) -> dict[Key, Choice]:
    """Return the results of all systems and trees with a complete seed."""
    results = {}
    for key, (config, searched, val) in chosen_configs(protocol, rows).items():
        own = rows[
            (rows[["dataset", "system", "tree"]] == list(key)).all(axis=1)
            & (rows["config"] == config)
        ]
        scores = own.pivot(index="fold", columns="seed", values="test_accuracy")
        complete = scores.reindex(range(protocol.folds)).dropna(axis="columns")
        if complete.shape[1]:
            unit = 100 if protocol.metric(key[0]) == "mae" else 1
            selected = Selected(complete / unit, (config,))
            results[key] = Choice(config, searched, val, selected)
    return results


def long_range_tables(protocol: LongRange, rows: pd.DataFrame) -> list[Table]:
    """Return the table of scores and that of paired tests."""
    outcomes = choices(protocol, rows)
    tables = [score_table(protocol, outcomes), difference_table(protocol, outcomes)]
    return [table for table in tables if table.rows]


def lines_of(outcomes: dict[Key, Choice]) -> list[tuple[str, str]]:
    """Return systems and trees with results: trees in the order of the protocol, then none."""
    usual = [*((TREE_NET, tree) for tree in LONG_RANGE_TREES), (FLAT_NET, "")]
    present = {key[1:] for key in outcomes}
    return [line for line in usual if line in present]


def line_name(system: str, tree: str) -> str:
    """Return the name of a row."""
    return f"{system} ({tree})" if tree else system


def score_table(protocol: LongRange, outcomes: dict[Key, Choice]) -> Table:
    """Return the scores, a row a system and tree, a column a dataset."""
    datasets = [name for name in protocol.datasets if name in {key[0] for key in outcomes}]
    lines, records = [], []
    for line in lines_of(outcomes):
        texts = []
        for dataset in datasets:
            choice = outcomes.get((dataset, *line))
            texts.append(_text(protocol, outcomes, (dataset, *line)))
            if choice:
                records.append(_record(protocol, (dataset, *line), choice))
        lines.append((line_name(*line), *texts))
    titles = {"accuracy": "", "mae": ", MAE", "auc": ", ROC-AUC"}
    return Table(
        name=f"{protocol.name}-scores",
        title=f"{protocol.title}: test scores",
        note=(
            "Accuracy or area under the ROC curve in percent, or mean absolute error (MAE; lower "
            "is better); mean ± standard deviation over seeds, over seeds of the mean of folds "
            "where there are folds. Every row has a search of its own over equally many "
            "configurations, chosen by validation; * fewer seeds than in the protocol; † more than "
            "3 points below the flat model on validation: not trained well enough for a control."
        ),
        header=("", *(name + titles[protocol.metric(name)] for name in datasets)),
        rows=tuple(lines),
        records=tuple(records),
    )


def _text(protocol: LongRange, outcomes: dict[Key, Choice], key: Key) -> str:
    choice = outcomes.get(key)
    if choice is None:
        return MISSING
    sign = -1 if protocol.metric(key[0]) == "mae" else 1
    star = "" if choice.selected.seeds >= protocol.seeds else " *"
    mark = " †" if untrained(protocol, outcomes, key) else ""
    return figure(sign * choice.selected.mean, choice.selected.spread, star + mark)


def untrained(protocol: LongRange, outcomes: dict[Key, Choice], key: Key) -> bool:
    """Test for a control that validates worse than the flat model by more than 3 points."""
    flat = outcomes.get((key[0], FLAT_NET, ""))
    if flat is None or protocol.metric(key[0]) == "mae":
        return False
    return outcomes[key].val < flat.val - UNTRAINED


def _record(protocol: LongRange, key: Key, choice: Choice) -> Record:
    dataset, system, tree = key
    sign = -1 if protocol.metric(dataset) == "mae" else 1
    return {
        "dataset": dataset,
        "system": system,
        "tree": tree,
        "metric": protocol.metric(dataset),
        "mean": sign * choice.selected.mean,
        "std_over_seeds": choice.selected.spread,
        "seeds": choice.selected.seeds,
        "folds": choice.selected.folds,
        "searched": choice.searched,
        "configuration": choice.config,
    }


def difference_table(protocol: LongRange, outcomes: dict[Key, Choice]) -> Table:
    """Compare the best trees with every other row, on every dataset."""
    records = with_holm(list(_differences(protocol, outcomes)))
    names = " or ".join(sorted({record["test"] for record in records}))
    return Table.of(
        name=f"{protocol.name}-tests",
        title=f"{protocol.title}: the best trees against the others",
        note=(
            "Test score along the best trees less that of the other, positive where the best trees "
            f"are better, ± the standard error; {names}. {HOLM}"
        ),
        columns={"dataset": "dataset", "against": "against", **TEST_COLUMNS},
        records=records,
    )


def _differences(protocol: LongRange, outcomes: dict[Key, Choice]) -> Iterator[Record]:
    best = (TREE_NET, LONG_RANGE_TREES[0])
    for dataset in protocol.datasets:
        first = outcomes.get((dataset, *best))
        for line in lines_of(outcomes):
            other = outcomes.get((dataset, *line))
            if first is None or other is None or line == best:
                continue
            if test := compare(first.selected, other.selected, protocol.folds):
                yield {"dataset": dataset, "against": line_name(*line), **asdict(test)}
