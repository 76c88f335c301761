"""Paired comparisons of one system along different trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from sepool_experiments.protocols.catalog import TREES, Protocol
from sepool_experiments.report.cells import Cell, Line, matched, variants_of
from sepool_experiments.report.comparisons import HOLM, MATCHED, TEST_COLUMNS, names, with_holm
from sepool_experiments.report.stats import compare, rules_of
from sepool_experiments.tables import Record, Table, figure, signed

CONTROL = "random"
ALL = "all"


def tree_table(protocol: Protocol, rows: pd.DataFrame) -> Table:
    """Compare every two trees of a system over all common units, without selection."""
    records: list[Record] = []
    named = rows.assign(variant=variants_of(protocol, rows))
    if protocol.rows_by != "name":
        named = named[named["variant"] == ""]
    for key, group in named.groupby(["system", "variant"], sort=True):
        name, variant = map(str, key)
        system = Line(name, variant=variant).name
        for pair in combinations([tree for tree in TREES if tree in set(group["tree"])], 2):
            by_dataset = group.groupby("dataset")
            differences = [_difference(str(data), part, pair) for data, part in by_dataset]
            compared = [record for record in differences if record is not None]
            records += [{"system": system, **record} for record in compared]
            if len(compared) > 1:
                records.append({"system": system, **_over_datasets(compared)})
    return Table.of(
        name=f"{protocol.name}-trees",
        title=f"{protocol.title}: does the tree matter?",
        note=(
            "Mean test accuracy in percent over all configurations, folds and seeds that were "
            "trained with both trees, and the mean of the paired differences ± its standard error "
            "over these trainings, which share folds and are not independent; beside it the "
            "standard error over the means of folds (of seeds, where the split is fixed). "
            f"{ALL}: the mean over datasets, ± the standard error over them."
        ),
        columns={
            **{name: name for name in ("system", "dataset", "first", "second")},
            "first, mean": lambda r: figure(r["first_mean"]),
            "second, mean": lambda r: figure(r["second_mean"]),
            "first less second": lambda r: (
                f"{signed(r['first_less_second'])} ± {r['standard_error']:.2f}"
            ),
            "± over folds": lambda r: (
                "" if np.isnan(r["standard_error_folds"]) else f"{r['standard_error_folds']:.2f}"
            ),
            "trainings": lambda r: f"{r['trainings']:,}",
        },
        records=records,
    )


def _difference(dataset: str, rows: pd.DataFrame, pair: tuple[str, str]) -> Record | None:
    units, some = ["config", "fold", "seed"], rows[rows["tree"].isin(pair)]
    both = 100 * some.pivot(index=units, columns="tree", values="test_accuracy").dropna()
    if both.shape[1] < 2 or len(both) < 2:
        return None
    first, second = pair
    gain = both[first] - both[second]
    single = gain.index.get_level_values("fold").nunique() == 1
    parts = gain.groupby(level="seed" if single else "fold").mean()
    return {
        "dataset": dataset,
        "first": first,
        "second": second,
        "first_mean": float(both[first].mean()),
        "second_mean": float(both[second].mean()),
        "first_less_second": float(gain.mean()),
        "standard_error": float(stats.sem(gain)),
        "standard_error_folds": float(stats.sem(parts)) if len(parts) > 1 else np.nan,
        "trainings": len(both),
    }


def _over_datasets(records: Sequence[Record]) -> Record:
    table = pd.DataFrame.from_records(records)
    means = table[["first_mean", "second_mean", "first_less_second"]].mean().to_dict()
    return {
        **records[0],
        "dataset": ALL,
        **{str(name): float(mean) for name, mean in means.items()},
        "standard_error": float(stats.sem(table["first_less_second"])),
        "standard_error_folds": np.nan,
        "trainings": int(table["trainings"].sum()),
    }


def control_table(protocol: Protocol, table_cells: Sequence[Cell]) -> Table:
    """Compare each tree with random trees, both with their selected configurations."""
    rules = rules_of(protocol.folds)
    tests = (list(_controls(table_cells, rule, protocol.folds)) for rule in rules)
    records = [record for by_rule in tests for record in with_holm(by_rule)]
    return Table.of(
        name=f"{protocol.name}-control",
        title=f"{protocol.title}: against random trees",
        note=(
            "Test accuracy along a tree less that along a random one (the lowest-entropy tree with "
            f"its leaves permuted), ± the standard error; {names(records)}. {MATCHED} {HOLM}"
        ),
        columns={**{name: name for name in ("dataset", "system", "rule")}, **TEST_COLUMNS},
        records=records,
    )


def _controls(table_cells: Sequence[Cell], rule: str, folds: int) -> Iterator[Record]:
    by_key = {(cell.line, cell.dataset): cell for cell in table_cells}
    for (line, dataset), cell in by_key.items():
        other = by_key.get((replace(line, tree=CONTROL), dataset))
        if line.tree in ("", CONTROL) or other is None:
            continue
        first, second = matched(cell, other, rule)
        if first and second and (test := compare(first, second, folds)):
            yield {"dataset": dataset, "system": str(line), "rule": rule, **asdict(test)}
