"""``sepool reproduce figure3`` and ``figure4``: trains what is missing, then writes and draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sepool_experiments.backends.run import Plan
from sepool_experiments.data.checks import check_data
from sepool_experiments.protocols.figures import Figure


def reproduce(plan: Plan, data: Path, device: str, say: Callable[[str], None]) -> list[Path]:
    """Trains what is not there yet, and makes table and picture of all that is there.

    Args:
        plan: what was asked for, of a `Figure`, and where to write.
        data: folder of the datasets.
        device: where to train.
        say: told, a line at a time, how far it is.

    Returns:
        The files that were written.

    Raises:
        ValueError: no data, or another process writes to the same files.
    """
    figure = plan.protocol
    assert isinstance(figure, Figure)
    if figure.name.startswith("figure3"):
        from sepool_experiments.figures import figure3

        figure3.run(plan, device, say)
        return figure3.write(plan.out, figure)
    from sepool_experiments.figures import figure4

    for dataset in figure.datasets:
        check_data(data, dataset, (), figure.folds)
    figure4.run(plan, data, device, say)
    return figure4.write(plan.out, figure, data)
