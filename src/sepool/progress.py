"""Progress bar for long work on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(what: str, show: bool = True) -> Iterator[Callable[[float, str], None] | None]:
    """Show a bar while the block runs, and yield the callback that moves it.

    Without a terminal as stderr, or without rich, there is no bar and None instead of a callback.

    Example:
        >>> with progress_bar("trees", show=False) as progress:
        ...     print(progress)
        None
    """
    if not show or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(done: float, stage: str) -> None:
            bar.update(task, total=1, completed=done, description=f"{what}: {stage}")

        yield update
