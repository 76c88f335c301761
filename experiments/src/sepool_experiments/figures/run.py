"""``sepool reproduce figure3`` and ``figure4``: training, table and picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sepool.viz.drawing import save_figure
from sepool_experiments.backends.run import Plan
from sepool_experiments.data.checks import check_data
from sepool_experiments.figures import figure3, figure3_table, figure4, figure4_table
from sepool_experiments.figures.journal import read_rows
from sepool_experiments.protocols.figures import Figure
from sepool_experiments.tables import write_table


def reproduce(plan: Plan, data: Path, device: str, log: Callable[[str], None]) -> list[Path]:
    """Train the missing units, and write table and picture of all results."""
    figure = plan.protocol
    assert isinstance(figure, Figure)
    if figure.name.startswith("figure3"):
        figure3.run(plan, device, log)
    else:
        for dataset in figure.datasets:
            check_data(data, dataset, (), figure.folds)
        figure4.run(plan, data, device, log)
    return write(plan.out, figure, data)


def write(out: Path, figure: Figure, data: Path) -> list[Path]:
    """Write the table and draw the picture, from the rows and their arrays."""
    rows = read_rows(out, figure)
    if figure.name.startswith("figure3"):
        table, drawn = figure3_table.table(figure, rows), figure3.draw(out, figure, rows)
    else:
        table, drawn = figure4_table.table(figure, rows), figure4.draw(out, figure, rows, data)
    paths = write_table(table, out / figure.name)
    for suffix in (".png", ".svg"):
        paths.append(out / figure.name / f"{figure.name}{suffix}")
        save_figure(drawn, paths[-1])
    return paths
