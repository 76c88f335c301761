"""The picture of the page of results: what the hierarchy is worth, task by task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from scipy import stats

from sepool import viz
from sepool.viz.drawing import new_figure
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.longrange import FLAT_NET, TREE_NET, LongRange
from sepool_experiments.report import cells, comparisons, tree_study
from sepool_experiments.report.long_range import Choice, choices
from sepool_experiments.results.rows import Rows

RESULTS = Path(__file__).parents[1] / "results"
INK = "#2b3038"
LINES = (
    ((TREE_NET, "best"), "best tree", "#0072b2", "o"),
    ((TREE_NET, "random"), "the same tree, leaves permuted", "#e69f00", "s"),
    ((FLAT_NET, ""), "flat, deeper, more weights", "#9aa3ad", "D"),
)
Errors = dict[tuple[str, str], np.ndarray]  # by system and tree, one a seed
POOLED = {"table1": "SEP-G", "table3": "SEP-N", "sepn-search": "SEP-N light"}


def draw(path: Path) -> None:
    """Draw errors of message passing along trees, and gains of pooling along the best tree."""
    rows = Rows.read(RESULTS)
    passing, pooling = list(errors(rows)), list(gains(rows))
    figure = new_figure(10, 1.2 + 0.3 * max(len(passing), len(pooling)))
    left = figure.add_axes((0.13, 0.24, 0.36, 0.66))
    right = figure.add_axes((0.68, 0.24, 0.3, 0.66))
    draw_errors(left, passing)
    draw_gains(right, pooling)
    viz.save_figure(figure, path)


def errors(rows: cells.pd.DataFrame) -> Iterator[tuple[str, Errors]]:
    """Yield a task and the errors of every line, one a seed, in those of the flat model."""
    for name, table in PROTOCOLS.items():
        if not isinstance(table, LongRange) or name.endswith("-quick"):
            continue
        outcomes = choices(table, cells.own_rows(table, rows))
        for dataset in table.datasets:
            flat = outcomes.get((dataset, FLAT_NET, ""))
            if flat is None:
                continue
            unit = error(table, dataset, flat).mean()
            yield (
                dataset,
                {
                    line: error(table, dataset, outcomes[(dataset, *line)]) / unit
                    for line, *_ in LINES
                    if (dataset, *line) in outcomes
                },
            )


def error(table: LongRange, dataset: str, choice: Choice) -> np.ndarray:
    """Return the error of every seed: wrong predictions in percent, or the absolute error."""
    score = 100 * choice.selected.accuracy.mean(axis=0).to_numpy()
    return -score if table.metric(dataset) == "mae" else 100 - score


def draw_errors(axes: Axes, tasks: list[tuple[str, dict[tuple[str, str], np.ndarray]]]) -> None:
    for y, (_, lines) in enumerate(tasks):
        for line, label, colour, marker in LINES:
            if line in lines:
                values = lines[line]
                spread = stats.sem(values) if len(values) > 1 else 0.0
                style = {"color": colour, "ms": 6, "capsize": 2, "label": label if not y else None}
                axes.errorbar(values.mean(), y, xerr=2 * spread, fmt=marker, **style)
    axes.set_yticks(range(len(tasks)), [name for name, _ in tasks])
    axes.set_xlabel("test error, that of the flat model = 1")
    axes.set_title("Message passing along the tree", size=11, color=INK)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.3, -0.2), frameon=False, fontsize=8, ncols=3)
    _finish(axes, len(tasks), 1.0)


def gains(rows: cells.pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Yield a dataset, the gain of pooling along the best tree over a random one, its error."""
    for name, system in POOLED.items():
        table = PROTOCOLS[name]
        compared = comparisons_of(table, rows)
        for record in compared:
            yield f"{record['dataset']}, {system}", record["difference"], record["error"]


def comparisons_of(table: object, rows: cells.pd.DataFrame) -> list[comparisons.Record]:
    made = tree_study.control_table(table, cells.rivals(table, cells.cells(table, rows)))
    return [
        record
        for record in made.records
        if record["rule"] == "customary" and str(record["system"]).endswith("(best)")
    ]


def draw_gains(axes: Axes, records: list[tuple[str, float, float]]) -> None:
    for y, (_, gain, spread) in enumerate(records):
        axes.errorbar(gain, y, xerr=2 * spread, fmt="o", color=LINES[0][2], ms=6, capsize=2)
    axes.set_yticks(range(len(records)), [name for name, *_ in records])
    axes.set_xlabel("points of accuracy above random trees")
    axes.set_title("Pooling along the tree", size=11, color=INK)
    _finish(axes, len(records), 0.0)


def _finish(axes: Axes, count: int, even: float) -> None:
    axes.axvline(even, color=INK, lw=0.8, ls=":")
    axes.set_ylim(count - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
