"""Results on disk: lines of JSON that are only ever added to.

``<folder>/<protocol>/<dataset>.jsonl`` has two kinds of lines: ``{"run": {...}}`` says by what
code, machine and command the rows that name this run were made; every other line is the result of
one unit, with those settings of its configuration that differ from the defaults. Loss curves, kept
for a few units, are in ``<dataset>.curves.jsonl``.

A killed program leaves whole lines and at most one torn one at the end, which is ignored by readers
and cut off by the next writer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sepool.files.atomic import StrPath
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Result, Unit
from sepool_experiments.results.lines import (
    CONFIG,
    IDENTITY,
    MEASURED,
    RunInfo,
    curve_to_row,
    cut_torn_line,
    dump,
    number,
    result_to_row,
    row_to_unit,
)
from sepool_experiments.results.resultsfile import ResultsFile, read_curve_rows

if TYPE_CHECKING:
    import pandas as pd

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

CURVES = ".curves.jsonl"
SYNC_SECONDS = 1.0


class Rows:
    """All results under a folder."""

    @staticmethod
    def read(folder: StrPath) -> pd.DataFrame:
        """Reads every finished unit, the first result of each if there are several.

        Args:
            folder: the folder that `Writer` was given.

        Returns:
            A table with a row a unit: its identity, every setting, what was measured, the text of
            its configuration (``config``), its ``key`` and the fields of its run (``run_id`` ...).
        """
        import pandas as pd

        records: list[dict[str, Any]] = []
        seen: set[str] = set()
        for path in sorted(Path(folder).glob("*/*.jsonl")):
            if path.name.endswith(CURVES):
                continue
            file = ResultsFile.read(path)
            runs = {
                run.id: {f"run_{name}": value for name, value in asdict(run).items()}
                for run in file.runs.values()
            }
            for row in file.rows:
                if any(name not in row for name in MEASURED):
                    continue  # of a figure, for which other things are measured
                unit = row_to_unit(row, file.runs[row["run"]].protocol)
                if (key := unit.key) not in seen:
                    seen.add(key)
                    records.append(_record(unit, key, row) | runs[row["run"]])
        return pd.DataFrame.from_records(records, columns=_columns())


def finished(folder: StrPath, protocol: Protocol) -> set[str]:
    """Keys of the units that are done.

    Raises:
        ValueError: the folder holds results that were made by other rules.
    """
    keys: set[str] = set()
    for path in sorted(Path(folder, protocol.name).glob("*.jsonl")):
        if path.name.endswith(CURVES):
            continue
        file = ResultsFile.read(path)
        for run in file.runs.values():
            if run.digest != protocol.digest:
                raise ValueError(
                    f"{path} holds results of another protocol {run.protocol!r} (rules "
                    f"{run.digest}, these are {protocol.digest}); choose another --out"
                )
        keys.update(row_to_unit(row, protocol.name).key for row in file.rows)
    return keys


def check_same_data(folder: StrPath, protocol: Protocol, data: Mapping[str, str]) -> None:
    """Refuses to add results to those of other data.

    Args:
        folder: the folder of all results.
        protocol: the rules that the results are made by.
        data: the mark of every dataset and its folds (see `sepool_experiments.data.fingerprint`).

    Raises:
        ValueError: earlier runs had other data; those that do not say which are let pass.
    """
    for dataset, mark in data.items():
        path = Path(folder, protocol.name, f"{dataset}.jsonl")
        runs = ResultsFile.read(path).runs.values() if path.exists() else ()
        for run in runs:
            if mark and run.data not in ("", mark):
                raise ValueError(
                    f"{path} holds results of other graphs or folds of {dataset} (data {run.data}, "
                    f"these are {mark}); choose another --out, or the --data of before"
                )


def read_curves(folder: StrPath) -> Iterator[tuple[Unit, list[tuple[float, float]]]]:
    """The loss curves that were kept: pairs of training and validation loss, an epoch each.

    Raises:
        ValueError: a line is damaged.
    """
    for path in sorted(Path(folder).glob(f"*/*{CURVES}")):
        for row in read_curve_rows(path):
            curve = [(number(train), number(val)) for train, val in row["curve"]]
            yield row_to_unit(row, path.parent.name), curve


class AppendFile:
    """A file that is added to by one process at a time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            cut_torn_line(self.number)
        except BaseException:
            os.close(self.number)
            raise
        self.begun = False

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"another process writes to {self.path}; wait for it, or choose another --out"
            ) from None

    def add(self, text: str) -> None:
        """Hands lines to the system, after which only a failing machine can lose them."""
        data = text.encode()
        while data:
            data = data[os.write(self.number, data) :]

    def close(self) -> None:
        os.close(self.number)


class Writer:
    """Adds the results of one run to a folder, as a context manager.

    A result is in the hands of the operating system when `add` returns, and on the disk a second
    later at most.

    Args:
        folder: the folder of all results; the files are in a folder of the protocol's name.
        protocol: the rules that the results were made by.
        run: what else there is to know about them.
        datasets: files to lock at once, so that a conflict shows before any work is done.
        data: the mark of every dataset, where it is known (see `check_same_data`).

    Raises:
        ValueError: another process is writing to one of the files.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from sepool_experiments.protocols.catalog import PROTOCOLS
        >>> protocol = PROTOCOLS["table1"]
        >>> unit = protocol.units(["MUTAG"])[0]
        >>> with TemporaryDirectory() as folder:
        ...     with Writer(folder, protocol, RunInfo.now(protocol, "cpu", "replicas")) as writer:
        ...         writer.add(Result(unit, 90, 40, 0.31, 0.9, 8 / 9, 2.5))
        ...     finished(folder, protocol) == {unit.key}
        True
    """

    def __init__(
        self,
        folder: StrPath,
        protocol: Protocol,
        run: RunInfo,
        datasets: Iterable[str] = (),
        data: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = Path(folder, protocol.name)
        self.run = run
        self.data = data or {}
        self._files: dict[str, AppendFile] = {}
        self._unsynced: set[int] = set()
        self._timer: threading.Timer | None = None
        self._mutex = threading.Lock()
        try:
            for dataset in datasets:
                self._open(f"{dataset}.jsonl")
        except BaseException:
            self.close()
            raise

    def add(self, result: Result) -> None:
        """Writes one result."""
        dataset = result.unit.dataset
        with self._mutex:
            if result.curve is not None:
                self._add(f"{dataset}{CURVES}", [curve_to_row(result, self.run.id)])
            file = self._open(f"{dataset}.jsonl")
            rows: list[dict[str, Any]] = [result_to_row(result, self.run.id)]
            if not file.begun:
                run = replace(self.run, data=self.data.get(dataset, ""))
                rows.insert(0, {"run": asdict(run)})
                file.begun = True
            self._add(f"{dataset}.jsonl", rows)
            if self._timer is None:
                self._timer = threading.Timer(SYNC_SECONDS, self._sync)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Waits until all is on the disk."""
        if self._timer is not None:
            self._timer.cancel()
        self._sync()
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _add(self, name: str, rows: list[dict[str, Any]]) -> None:
        file = self._open(name)
        file.add(dump(rows))
        self._unsynced.add(file.number)

    def _open(self, name: str) -> AppendFile:
        if name not in self._files:
            self._files[name] = AppendFile(self.folder / name)
        return self._files[name]

    def _sync(self) -> None:
        with self._mutex:
            self._timer = None
            for number in self._unsynced:
                os.fsync(number)
            self._unsynced.clear()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _record(unit: Unit, key: str, row: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {"protocol": unit.protocol}
    named.update((name, getattr(unit, name)) for name in IDENTITY)
    named.update((name, getattr(unit.config, name)) for name in CONFIG)
    named.update((name, number(row[name])) for name in MEASURED)
    named.update(config=str(unit.config), key=key)
    return named


def _columns() -> list[str]:
    runs = [f"run_{field.name}" for field in fields(RunInfo)]
    return ["protocol", *IDENTITY, *CONFIG, *MEASURED, "config", "key", *runs]
