"""Tables as Parquet in one folder, and the interface of the engines that make them."""

from __future__ import annotations

import os
import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]


class Engine(ABC):
    """SQL over tables that are Parquet in a folder; a table is complete or absent.

    Subclasses differ in the session, in reading and writing, and in numbering rows; statements are
    the same.

    Attributes:
        best: aggregate of the ``rank`` of the row of the largest ``score``, then ``rank``.
    """

    best: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spill = folder / "spill"
        self.spilled = 0  # the peak since the last `start_meter`

    @abstractmethod
    def view(self, name: str, files: Sequence[str]) -> list[tuple[str, str]]:
        """Make files a view and return the names and types of its columns."""

    @abstractmethod
    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    @abstractmethod
    def arrays(self, sql: str) -> Columns:
        """Return the columns of a query."""

    @abstractmethod
    def stream(self, sql: str) -> Iterator[Columns]:
        """Yield the rows of a query in parts."""

    @abstractmethod
    def write(self, sql: str, path: str) -> None:
        """Write the rows of a query as Parquet, a file or a folder."""

    @abstractmethod
    def numbered(self, names: str) -> None:
        """Store the table ``names(id, name)``: the ranks of the column of the view ``names``."""

    @abstractmethod
    def close(self) -> None:
        """End the session."""

    def path(self, table: str) -> Path:
        """Return the path of a table."""
        return self.folder / f"{table}.parquet"

    def attach(self, table: str) -> None:
        """Make a complete table of the folder a view."""
        self.view(table, [str(self.path(table))])

    def store(self, table: str, sql: str) -> None:
        """Store the rows of a query as a table, which replaces one of the same name."""
        draft = self.folder / f"{table}.draft"
        remove(draft)
        with self._metered():
            self.write(sql, str(draft))
        remove(self.path(table))
        os.replace(draft, self.path(table))
        self.attach(table)

    def hold(self, table: str, sql: str) -> None:
        """Store a table that the same step drops."""
        self.store(table, sql)

    def put(self, table: str, columns: Columns) -> None:
        """Store arrays as a table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        draft = self.folder / f"{table}.draft"
        remove(draft)
        pq.write_table(pa.table(columns), draft)
        remove(self.path(table))
        os.replace(draft, self.path(table))
        self.attach(table)

    def drop(self, *tables: str) -> None:
        """Remove tables that no later step reads."""
        for table in tables:
            remove(self.path(table))

    def number(self, sql: str) -> int:
        """Return the only value of a query, 0 for NULL."""
        return int(self.rows(sql)[0][0] or 0)

    @contextmanager
    def _metered(self) -> Iterator[None]:
        """Record the peak of bytes in the spill folder while the block runs."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.05):
                self.spilled = max(self.spilled, size_of(self.spill))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder; files that vanish meanwhile are left out."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                continue
    return total


def to_numpy(table: Any) -> Columns:
    """Return the columns of an Arrow table or batch."""
    columns = zip(table.schema.names, table.columns, strict=True)
    return {name: np.asarray(column.to_numpy(zero_copy_only=False)) for name, column in columns}
