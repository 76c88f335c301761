"""Rows of a run in progress: one SQLite file a protocol, ``<folder>/<protocol>/rows.sqlite``.

Every result is one transaction. The file is in write-ahead mode with ``synchronous=NORMAL``: what
is committed survives the death of the process; a power failure may take the last transactions, but
never leaves a damaged file. Reports read while a run writes. One process at a time writes to a
protocol: it holds an exclusive SQLite transaction on ``rows.lock``, which the operating system ends
with the process.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from sepool.files.atomic import StrPath
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.results.stored import (
    IDENTITY,
    Measured,
    Runs,
    Stored,
    config_text,
    measured_of,
    record_of,
    rounded,
)

DATABASE, LOCK, VERSION = "rows.sqlite", "rows.lock", 1
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (
    id TEXT, dataset TEXT, info TEXT NOT NULL, PRIMARY KEY (id, dataset)
);
CREATE TABLE IF NOT EXISTS rows (
    key TEXT PRIMARY KEY, dataset TEXT NOT NULL, system TEXT NOT NULL, tree TEXT NOT NULL,
    fold INTEGER NOT NULL, seed INTEGER NOT NULL, config TEXT NOT NULL, run TEXT NOT NULL,
    measured TEXT NOT NULL, curve TEXT
);
PRAGMA user_version = {VERSION};
COMMIT;
"""


class Writer(ExitStack):
    """Adds the results of one run to a folder, as a context manager.

    A result survives the death of the process as soon as `add` returns.

    Args:
        folder: folder of all results.
        protocol: rules of the trainings.
        run: provenance of the results.
        data: mark of every dataset, where there is one (see `rows.check_same_data`).

    Raises:
        ValueError: another process writes to the same protocol.
        OSError: the disk is full.
    """

    def __init__(
        self,
        folder: StrPath,
        protocol: Protocol,
        run: RunInfo,
        data: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.path = Path(folder, protocol.name, DATABASE)
        self.run = run
        self.data = data or {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack, _write_errors(self.path):
            stack.enter_context(only_writer(self.path.parent))
            self.database = stack.enter_context(closing(sqlite3.connect(self.path, timeout=60)))
            self.database.execute("PRAGMA journal_mode = WAL")
            self.database.execute("PRAGMA synchronous = NORMAL")
            self.database.executescript(_SCHEMA)
            stack.callback(self._leave_one_file)
            self.enter_context(stack.pop_all())

    def add(self, result: Result) -> None:
        """Store the result of a training."""
        self.add_measured(result.unit, measured_of(result), result.curve)

    def add_measured(
        self,
        unit: Unit,
        measured: Measured,
        curve: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        """Store measured values (None: not finite) of a unit; the first ones of a unit stay."""
        run = replace(self.run, data=self.data.get(unit.dataset, ""))
        losses = None if curve is None else [[rounded(loss) for loss in pair] for pair in curve]
        row = (
            unit.key,
            *(getattr(unit, name) for name in IDENTITY),
            config_text(unit.config),
            run.id,
            _dump(measured),
            None if losses is None else _dump(losses),
        )
        with _write_errors(self.path), self.database:  # one transaction
            described = (run.id, unit.dataset, _dump(asdict(run)))
            self.database.execute("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", described)
            places = ", ".join("?" * len(row))
            self.database.execute(f"INSERT OR IGNORE INTO rows VALUES ({places})", row)

    def _leave_one_file(self) -> None:
        """Leave one plain file, which can be copied and read from a read-only disk."""
        with suppress(sqlite3.OperationalError):  # a report reads, or the disk is full
            self.database.execute("PRAGMA busy_timeout = 0")
            self.database.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to the rows of a protocol."""
    with closing(sqlite3.connect(folder / LOCK, timeout=0)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            raise ValueError(
                f"another process writes to {folder}; wait for it, or choose another --out"
            ) from None
        yield


def read_database(folder: Path) -> Stored | None:
    """Rows of the runs that were not packed yet, in the order of their completion; None without."""
    path = folder / DATABASE
    if not path.exists():
        return None
    address = f"{path.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=60)) as database:
            database.execute("BEGIN")  # one state of both tables
            ((version,),) = database.execute("PRAGMA user_version")
            if version > VERSION:
                raise ValueError(f"version {version} of the format; this sepool reads {VERSION}")
            ((state,),) = database.execute("PRAGMA quick_check(1)")
            if state != "ok":
                raise ValueError(state.splitlines()[-1])
            return _read(database) if version else None  # 0: not even the tables were made
    except (sqlite3.Error, ValueError) as error:
        raise ValueError(f"{path}: no readable rows ({error}); restore the file") from None


def _read(database: sqlite3.Connection) -> Stored:
    runs: Runs = {
        (name, dataset): RunInfo.from_dict(json.loads(info))
        for name, dataset, info in database.execute("SELECT id, dataset, info FROM runs")
    }
    names = (*IDENTITY, "config")
    select = f"SELECT {', '.join(names)}, run, measured, curve FROM rows ORDER BY rowid"
    records = []
    for *values, run, measured, curve in database.execute(select):
        unit = dict(zip(names, values, strict=True))
        losses = None if curve is None else json.loads(curve)
        records.append(record_of(unit, run, json.loads(measured), losses))
    return Stored.of(records, runs)


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Name the file in errors of SQLite."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(
            f"cannot write to {path}: {error}; what was stored before stays, and the same command "
            "goes on from there"
        ) from None
