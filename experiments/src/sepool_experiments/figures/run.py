"""``sepool reproduce figure3`` and ``figure4``: training, table and picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sepool_experiments.backends.run import Plan
from sepool_experiments.data.checks import check_data
from sepool_experiments.protocols.figures import Figure


def reproduce(plan: Plan, data: Path, device: str, log: Callable[[str], None]) -> list[Path]:
    """Train the missing units, and write table and picture of all results."""
    figure = plan.protocol
    assert isinstance(figure, Figure)
    if figure.name.startswith("figure3"):
        from sepool_experiments.figures import figure3

        figure3.run(plan, device, log)
        return figure3.write(plan.out, figure)
    from sepool_experiments.figures import figure4

    for dataset in figure.datasets:
        check_data(data, dataset, (), figure.folds)
    figure4.run(plan, data, device, log)
    return figure4.write(plan.out, figure, data)
