"""Rows of a picture on disk: as those of the tables, but for what is measured."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from numpy.typing import NDArray

from sepool.files.archive import read_archive, write_archive
from sepool.files.atomic import StrPath
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Unit
from sepool_experiments.results.lines import CONFIG, IDENTITY, RunInfo, dump, row_to_unit
from sepool_experiments.results.resultsfile import ResultsFile
from sepool_experiments.results.rows import AppendFile

Arrays = dict[str, NDArray[Any]]
FORMAT, VERSION = "sepool-figure", 1


@dataclass(frozen=True)
class Row:
    """One unit, what was measured of it, by name, and by which run."""

    unit: Unit
    measured: dict[str, Any]
    run: RunInfo


class Journal:
    """Adds the rows of one run to ``<folder>/<protocol>/<graph>.jsonl``, as a context manager.

    Args:
        folder: the folder of all results.
        protocol: the rules that the results were made by.
        run: what else there is to know about them.
        graphs: files to lock at once, so that a conflict shows before any work is done.

    Raises:
        ValueError: another process is writing to one of the files.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from sepool_experiments.protocols.figures import FIGURE3
        >>> unit = FIGURE3.units(["ring"], ["SEP"])[0]
        >>> with TemporaryDirectory() as folder:
        ...     run = RunInfo.now(FIGURE3, "cpu", "replicas")
        ...     with Journal(folder, FIGURE3, run, ["ring"]) as journal:
        ...         journal.add(unit, {"mse": 0.25})
        ...     read_rows(folder, FIGURE3)[0].measured
        {'mse': 0.25}
    """

    def __init__(
        self, folder: StrPath, protocol: Protocol, run: RunInfo, graphs: Iterable[str]
    ) -> None:
        self.run = run
        with ExitStack() as opened:
            self.files = {}
            for graph in graphs:
                file = AppendFile(Path(folder, protocol.name, f"{graph}.jsonl"))
                opened.callback(file.close)
                self.files[graph] = file
            self.opened = opened.pop_all()

    def add(self, unit: Unit, measured: dict[str, Any]) -> None:
        """Writes one row; it is on the disk when this returns."""
        file = self.files[unit.dataset]
        row: dict[str, Any] = {name: getattr(unit, name) for name in IDENTITY}
        rows = [{**row, **unit.config.changes(), **measured, "run": self.run.id}]
        if not file.begun:
            rows.insert(0, {"run": asdict(self.run)})
            file.begun = True
        file.add(dump(rows))
        os.fsync(file.number)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.opened.close()


def read_rows(folder: StrPath, protocol: Protocol) -> list[Row]:
    """All rows of a picture that its rules have made, the first of each unit if there are several.

    Args:
        folder: the folder that `Journal` was given.
        protocol: the picture.
    """
    found: dict[str, Row] = {}
    known = {*IDENTITY, *CONFIG, "run"}
    for path in sorted(Path(folder, protocol.name).glob("*.jsonl")):
        file = ResultsFile.read(path)
        for row in file.rows:
            run = file.runs[row["run"]]
            if run.digest != protocol.digest:
                continue
            unit = row_to_unit(row, protocol.name)
            measured = {name: value for name, value in row.items() if name not in known}
            found.setdefault(unit.key, Row(unit, measured, run))
    return list(found.values())


def keep_array(folder: StrPath, protocol: Protocol, unit: Unit, array: NDArray[Any]) -> None:
    """Keeps what the picture is drawn from, beside the rows; see `kept_arrays`."""
    path = Path(folder, protocol.name, f"{unit.dataset}.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = _read(path)
    arrays[unit.key] = array
    write_archive(path, FORMAT, VERSION, arrays)


def kept_arrays(folder: StrPath, protocol: Protocol, graph: str) -> Arrays:
    """What was kept of a graph, by the key of the unit."""
    return _read(Path(folder, protocol.name, f"{graph}.npz"))


def _read(path: Path) -> Arrays:
    return read_archive(path, FORMAT, VERSION) if path.exists() else {}


def by_line(units: Iterable[Unit]) -> list[list[Unit]]:
    """Units that differ in fold and seed alone, together.

    >>> from sepool_experiments.protocols.figures import FIGURE3
    >>> [len(group) for group in by_line(FIGURE3.units(["ring"], ["ASAP", "DiffPool"]))]
    [5, 5, 5]
    """
    groups: dict[Any, list[Unit]] = {}
    for unit in units:
        key = (unit.dataset, unit.system, unit.tree, unit.config)
        groups.setdefault(key, []).append(unit)
    return list(groups.values())
