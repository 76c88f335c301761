"""Progress display of a run, with running means."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from sepool_experiments.protocols.units import Result, Unit

PLAIN_SECONDS = 30.0


def _cell_name(unit: Unit) -> str:
    tree = f" ({unit.tree})" if unit.tree else ""
    return f"{unit.dataset} {unit.system}{tree}"


class Reporter:
    """Counts results, one bar a dataset, system and tree, and prints messages."""

    def __init__(self, units: Sequence[Unit], console: Console) -> None:
        self.console, self.last = console, time.monotonic()
        self.progress = Progress(
            *(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), "{task.description}"),
            console=console,
            disable=not console.is_terminal,
            refresh_per_second=4,
            speed_estimate_period=3600,
        )
        self.progress.add_task("all", total=len(units))
        counts = Counter(map(_cell_name, units))
        self.bars = {name: self.progress.add_task(name, total=n) for name, n in counts.items()}
        self.sums = {name: np.zeros(3) for name in counts}  # trainings, accuracies

    def add(self, result: Result) -> None:
        """Count a result; without a terminal, print a line every half minute."""
        name = _cell_name(result.unit)
        self.sums[name] += 1, 100 * result.val_accuracy, 100 * result.test_accuracy
        val, test = self.sums[name][1:] / self.sums[name][0]
        means = f"{name} val {val:.2f} test {test:.2f}"
        self.progress.update(self.bars[name], advance=1, description=means)
        self.progress.advance(self.progress.tasks[0].id)
        if not self.console.is_terminal and time.monotonic() - self.last >= PLAIN_SECONDS:
            self.last = time.monotonic()
            self.log(self.line())

    def line(self) -> str:
        """Return counts, rate, time left and the last means as one line of a log."""
        total, *cells = self.progress.tasks
        pace = "time left unknown"
        if total.completed and total.elapsed:
            rate = total.completed / total.elapsed
            left = timedelta(seconds=round((total.remaining or 0) / rate))
            pace = f"{rate:.3g} a second, {left} left"
        means = [cell.description for cell in cells if cell.completed]
        return "; ".join([f"{total.completed:,}/{total.total:,} trainings, {pace}", *means[-3:]])

    def log(self, text: str) -> None:
        """Print a line above the bars."""
        self.console.print(text)


@contextmanager
def watch(units: Sequence[Unit]) -> Iterator[Reporter]:
    """Show the progress of units while the block runs, live if stderr is a terminal."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    reporter = Reporter(units, console)
    with reporter.progress:
        yield reporter
    if not console.is_terminal:
        reporter.log(reporter.line())
