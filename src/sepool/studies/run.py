"""``sepool reproduce figure3`` and ``figure4``: trains what is missing, then writes and draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sepool.bench.checks import check_data, check_device
from sepool.bench.run import Plan
from sepool.bench.units import Unit
from sepool.studies.protocols import Figure


def reproduce(
    figure: Figure, units: Sequence[Unit], out: Path, data: Path, device: str = "auto"
) -> list[Path]:
    """Trains what is not there yet, and makes table and picture of all that is there.

    Args:
        figure: which picture.
        units: what was asked for.
        out: folder of all results.
        data: folder of the datasets.
        device: where to train.

    Returns:
        The files that were written.

    Raises:
        ValueError: no such device, no data, or another process writes to the same files.
    """
    place = check_device(device)
    plan = Plan.of(figure, units, out)
    if old := len(plan.units) - len(plan.todo):
        print(f"{old:,} of {len(plan.units):,} results are in {out / figure.name} already")
    if figure.name.startswith("figure3"):
        from sepool.studies import figure3

        figure3.run(plan, place)
        paths = figure3.write(out, figure)
    else:
        from sepool.studies import figure4

        for dataset in figure.datasets:
            check_data(data, dataset, (), figure.folds)
        figure4.run(plan, data, place)
        paths = figure4.write(out, figure, data)
    print("\n".join(str(path) for path in paths))
    return paths
