"""The table of figure 3: how far from the original the reconstructions are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sepool_experiments.figures.journal import Row, by_line
from sepool_experiments.protocols.figures import MSE_ALONE, Figure
from sepool_experiments.protocols.units import Unit
from sepool_experiments.report.tables import MISSING, Record, Table


def line_name(unit: Unit) -> str:
    """What a line of the table is called.

    >>> from sepool_experiments.protocols.figures import FIGURE3
    >>> [line_name(group[0]) for group in by_line(FIGURE3.units(["ring"], ["DiffPool", "SEP"]))]
    ['DiffPool', 'DiffPool, MSE alone', 'SEP', 'SEP (paper)', 'SEP (random)']
    """
    name = f"{unit.system} ({unit.tree})" if unit.tree not in ("", "best") else unit.system
    return f"{name}, MSE alone" if MSE_ALONE in unit.config.extra else name


def table(figure: Figure, rows: Sequence[Row]) -> Table:
    """The errors of every system on every graph."""
    lines: list[tuple[str, ...]] = []
    records: list[Record] = []
    for name in dict.fromkeys(line_name(units[0]) for units in by_line(figure.units())):
        cells = [rows_of(rows, name, graph) for graph in figure.datasets]
        lines.append((name, *(text for mine in cells for text in _texts(mine, figure.seeds))))
        for graph, mine in zip(figure.datasets, cells, strict=True):
            errors = errors_of(mine)
            record: Record = {"graph": graph, "system": name, "trainings": len(mine)}
            record["mse"] = float(errors.mean()) if len(mine) else np.nan
            record["mse_std"] = float(errors.std(ddof=1)) if len(mine) > 1 else np.nan
            record["mse_least"] = float(errors.min()) if len(mine) else np.nan
            for key in ("height", "level", "clusters"):
                record[key] = mine[0].measured.get(key) if mine else None
            records.append(record)
    titles = [title for graph in figure.datasets for title in (graph, f"{graph}, least")]
    return Table(
        name=figure.name,
        title=f"{figure.title}: mean square error of the coordinates",
        note=(
            "Mean over seeds ± their standard deviation, and the least of them; one model a seed, "
            "with the weights of its lowest error. A quarter of the nodes stays; SEP takes the "
            f"height and level that come closest: {_levels(rows)}. DiffPool and MinCutPool train "
            "with the losses that belong to them; MSE alone: without. SEP along the lowest-entropy "
            "tree; paper: Algorithm 1 as written; random: the lowest-entropy tree with its leaves "
            "permuted. * Not all seeds are there yet."
        ),
        header=("system", *titles),
        rows=tuple(lines),
        records=tuple(records),
    )


def rows_of(rows: Sequence[Row], name: str, graph: str) -> list[Row]:
    """The rows of one line on one graph."""
    return [row for row in rows if row.unit.dataset == graph and line_name(row.unit) == name]


def errors_of(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Mean square errors; NaN where a training ended in nothing finite."""
    return np.array([row.measured["mse"] for row in rows], float)


def _texts(rows: Sequence[Row], seeds: int) -> tuple[str, str]:
    if not rows:
        return MISSING, MISSING
    errors = errors_of(rows)
    spread = f" ± {errors.std(ddof=1):.1e}" if len(errors) > 1 else ""
    mark = " *" if len(errors) < seeds else ""
    return f"{errors.mean():.2e}{spread}{mark}", f"{errors.min():.2e}"


def _levels(rows: Sequence[Row]) -> str:
    texts = {}
    for unit, seen in ((row.unit, row.measured) for row in rows if "level" in row.measured):
        place = f"level {seen['level']} of height {seen['height']}, {seen['clusters']} clusters"
        texts[f"{line_name(unit)} on the {unit.dataset}"] = place
    return "; ".join(f"{name} {place}" for name, place in texts.items()) or MISSING
