"""``sepool reproduce figure3`` and ``figure4``: training, table and picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sepool.viz.drawing import save_figure
from sepool_experiments.backends.run import Plan, device_name
from sepool_experiments.data.checks import check_data
from sepool_experiments.figures import figure3, figure3_table, figure4, figure4_table
from sepool_experiments.figures.journal import by_line, keep_array, read_rows
from sepool_experiments.protocols.figures import Figure
from sepool_experiments.results.database import Writer
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.tables import write_table


def reproduce(plan: Plan, data: Path, device: str, log: Callable[[str], None]) -> list[Path]:
    """Train the missing units, and write table and picture of all results."""
    assert isinstance(plan.protocol, Figure)
    if not is_figure3(plan.protocol):
        for dataset in plan.protocol.datasets:
            check_data(data, dataset, (), plan.protocol.folds)
    run(plan, data, device, log)
    return write(plan.out, plan.protocol, data)


def is_figure3(figure: Figure) -> bool:
    """Return True for the full figure and its short trial."""
    return figure.name.startswith("figure3")


def run(plan: Plan, data: Path, device: str, log: Callable[[str], None]) -> None:
    """Train the missing units of a plan, and save every result at once."""
    figure = plan.protocol
    assert isinstance(figure, Figure)
    line_name = (figure3_table if is_figure3(figure) else figure4_table).line_name
    groups = by_line(plan.todo)
    with Writer(plan.out, figure, RunInfo.now(figure, device_name(device), "replicas")) as writer:
        for number, units in enumerate(groups, 1):
            first = units[0]
            trainings = f"trainings: {len(units)}"
            log(f"{number}/{len(groups)} {first.dataset}, {line_name(first)}, {trainings}")
            if is_figure3(figure):
                trained = figure3.train(units, figure, device)
            else:
                trained = figure4.train(units, figure, data, device)
            for unit, measured, array, message in trained:
                if unit.fold == unit.seed == 0:
                    keep_array(plan.out, figure, unit, array)
                writer.add_measured(unit, measured)
                log(f"  fold {unit.fold}, seed {unit.seed}: {message}")


def write(out: Path, figure: Figure, data: Path) -> list[Path]:
    """Write the table and draw the picture, from the rows and their arrays."""
    rows = read_rows(out, figure)
    if is_figure3(figure):
        table, drawn = figure3_table.table(figure, rows), figure3.draw(out, figure, rows)
    else:
        table, drawn = figure4_table.table(figure, rows), figure4.draw(out, figure, rows, data)
    paths = write_table(table, out / figure.name)
    for suffix in (".png", ".svg"):
        paths.append(out / figure.name / f"{figure.name}{suffix}")
        save_figure(drawn, paths[-1])
    return paths
