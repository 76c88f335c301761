"""Progress display of a run, with running means."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from sepool_experiments.protocols.units import Result, Unit

PLAIN_SECONDS = 30.0


@dataclass
class _Cell:
    """Counts and sums of accuracies of one dataset and system."""

    total: int = 0
    done: int = 0
    val: float = 0.0
    test: float = 0.0

    def add(self, result: Result) -> None:
        self.done += 1
        self.val += result.val_accuracy
        self.test += result.test_accuracy

    def texts(self) -> tuple[str, str, str]:
        if not self.done:
            return f"0/{self.total:,}", "", ""
        val, test = (f"{100 * part / self.done:.2f}" for part in (self.val, self.test))
        return f"{self.done:,}/{self.total:,}", val, test


def _cell_key(unit: Unit) -> tuple[str, str, str]:
    return unit.dataset, unit.system, unit.tree


@dataclass
class Board:
    """Counts of results by dataset, system and tree.

    Example:
        >>> from sepool_experiments.protocols.units import Config
        >>> unit = Unit("table1", "MUTAG", "SEP-G", "best", Config(), fold=0, seed=0)
        >>> board = Board([unit])
        >>> board.add(Result(unit, 9, 5, 0.3, 0.75, 0.5, 1.0))
        >>> print(board.line(now=board.start + 2))
        1/1 trainings, 0.5 a second, 0:00:00 left; MUTAG SEP-G (best) val 75.00 test 50.00
    """

    units: Sequence[Unit]
    start: float = field(default_factory=time.monotonic)
    done: int = 0
    cells: dict[tuple[str, str, str], _Cell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for unit in self.units:
            self.cells.setdefault(_cell_key(unit), _Cell()).total += 1

    def add(self, result: Result) -> None:
        """Count one result."""
        self.done += 1
        self.cells[_cell_key(result.unit)].add(result)

    def pace(self, now: float | None = None) -> str:
        """Return rate and time left, if known."""
        spent = (time.monotonic() if now is None else now) - self.start
        if not self.done or spent <= 0:
            return "time left unknown"
        left = round((len(self.units) - self.done) * spent / self.done)
        clock = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
        return f"{self.done / spent:.3g} a second, {clock} left"

    def line(self, now: float | None = None) -> str:
        """Return the board as one line of a log."""
        means = []
        for (dataset, system, tree), cell in self.cells.items():
            if cell.done:
                _, val, test = cell.texts()
                name = f"{system} ({tree})" if tree else system
                means.append(f"{dataset} {name} val {val} test {test}")
        head = f"{self.done:,}/{len(self.units):,} trainings, {self.pace(now)}"
        return "; ".join([head, *means[-3:]])

    def table(self) -> Table:
        """Return the running means, a row for every cell."""
        table = Table(box=None, pad_edge=False)
        for title in ("dataset", "system", "tree"):
            table.add_column(title)
        for title in ("done", "val %", "test %"):
            table.add_column(title, justify="right")
        for key, cell in self.cells.items():
            table.add_row(*key, *cell.texts())
        return table


class _Screen:
    """Live view of a board."""

    def __init__(self, board: Board) -> None:
        self.board = board
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns)
        self.task: TaskID = self.bar.add_task("", total=len(board.units))

    def __rich__(self) -> Group:
        self.bar.update(self.task, completed=self.board.done, description=self.board.pace())
        return Group(self.bar, self.board.table())


@dataclass
class Reporter:
    """Counts results on a board and prints messages."""

    board: Board
    console: Console
    last: float = field(default_factory=time.monotonic)

    def add(self, result: Result) -> None:
        """Count a result; without a terminal, print a line every half minute."""
        self.board.add(result)
        if not self.console.is_terminal and time.monotonic() - self.last >= PLAIN_SECONDS:
            self.last = time.monotonic()
            self.log(self.board.line())

    def log(self, text: str) -> None:
        """Print a line above the live view."""
        self.console.print(text)


@contextmanager
def watch(units: Sequence[Unit]) -> Iterator[Reporter]:
    """Show the progress of units while the block runs, live if stderr is a terminal."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    board = Board(units)
    if console.is_terminal:
        with Live(_Screen(board), console=console, refresh_per_second=4):
            yield Reporter(board, console)
    else:
        yield Reporter(board, console)
        console.print(board.line())
