"""Table of figure 3: errors of the reconstructions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sepool_experiments.figures.journal import Row, by_line
from sepool_experiments.protocols.figures import MSE_ALONE, Figure
from sepool_experiments.protocols.units import Unit
from sepool_experiments.tables import MISSING, Record, Table


def line_name(unit: Unit) -> str:
    """Return the name of a unit's line in the table.

    >>> from sepool_experiments.protocols.figures import FIGURE3
    >>> [line_name(group[0]) for group in by_line(FIGURE3.units(["ring"], ["DiffPool", "SEP"]))]
    ['DiffPool', 'DiffPool, MSE alone', 'SEP', 'SEP (paper)', 'SEP (random)']
    """
    name = f"{unit.system} ({unit.tree})" if unit.tree not in ("", "best") else unit.system
    return f"{name}, MSE alone" if MSE_ALONE in unit.config.extra else name


def table(figure: Figure, rows: Sequence[Row]) -> Table:
    """Return the errors of every system on every graph."""
    lines: list[tuple[str, ...]] = []
    records: list[Record] = []
    for name in dict.fromkeys(line_name(units[0]) for units in by_line(figure.units())):
        cells = [rows_of(rows, name, graph) for graph in figure.datasets]
        lines.append((name, *(text for cell in cells for text in _texts(cell, figure.seeds))))
        for graph, cell in zip(figure.datasets, cells, strict=True):
            errors = errors_of(cell)
            record: Record = {"graph": graph, "system": name, "trainings": len(cell)}
            record["mse"] = float(errors.mean()) if len(cell) else np.nan
            record["mse_std"] = float(errors.std(ddof=1)) if len(cell) > 1 else np.nan
            record["mse_least"] = float(errors.min()) if len(cell) else np.nan
            for key in ("height", "level", "clusters"):
                record[key] = cell[0].measured.get(key) if cell else None
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
    """Return the rows of one line on one graph."""
    return [row for row in rows if row.unit.dataset == graph and line_name(row.unit) == name]


def errors_of(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Return mean squared errors; NaN for diverged trainings."""
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
    for unit, row in ((row.unit, row.measured) for row in rows if "level" in row.measured):
        text = f"level {row['level']} of height {row['height']}, {row['clusters']} clusters"
        texts[f"{line_name(unit)} on the {unit.dataset}"] = text
    return "; ".join(f"{name} {text}" for name, text in texts.items()) or MISSING
