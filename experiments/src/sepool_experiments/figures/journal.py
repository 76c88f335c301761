"""Rows of a figure, and the arrays that it is drawn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sepool.files.archive import read_archive, write_archive
from sepool.files.atomic import StrPath
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Unit
from sepool_experiments.results.rows import read_protocol
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.results.stored import COLUMNS, Measured

Arrays = dict[str, NDArray[Any]]
FORMAT, VERSION = "sepool-figure", 1
Trained = tuple[Unit, Measured, NDArray[Any], str]  # values, array of the picture, a message


@dataclass(frozen=True)
class Row:
    """One unit, its measured values by name, and the run that made it."""

    unit: Unit
    measured: Measured
    run: RunInfo


def read_rows(folder: StrPath, protocol: Protocol) -> list[Row]:
    """Rows that the present rules of a figure have made."""
    stored = read_protocol(Path(folder, protocol.name), curves=False)
    rows = []
    for unit, values in zip(stored.units(protocol.name), stored.rows.to_pylist(), strict=True):
        run = stored.runs[values["run"], values["dataset"]]
        if run.digest == protocol.digest:
            measured = {
                name: value
                for name, value in values.items()
                if name not in COLUMNS and value is not None
            }
            rows.append(Row(unit, measured, run))
    return rows


def keep_array(folder: StrPath, protocol: Protocol, unit: Unit, array: NDArray[Any]) -> None:
    """Store an array that the figure is drawn from; see `kept_arrays`."""
    path = Path(folder, protocol.name, f"{unit.dataset}.npz")
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = _read(path)
    arrays[unit.key] = array
    write_archive(path, FORMAT, VERSION, arrays)


def kept_arrays(folder: StrPath, protocol: Protocol, graph: str) -> Arrays:
    """Stored arrays of a graph, by the key of their unit."""
    return _read(Path(folder, protocol.name, f"{graph}.npz"))


def _read(path: Path) -> Arrays:
    return read_archive(path, FORMAT, VERSION) if path.exists() else {}


def by_line(units: Iterable[Unit]) -> list[list[Unit]]:
    """Group units that differ in fold and seed alone.

    >>> from sepool_experiments.protocols.figures import FIGURE3
    >>> [len(group) for group in by_line(FIGURE3.units(["ring"], ["ASAP", "DiffPool"]))]
    [5, 5, 5]
    """
    groups: dict[Any, list[Unit]] = {}
    for unit in units:
        key = (unit.dataset, unit.system, unit.tree, unit.config)
        groups.setdefault(key, []).append(unit)
    return list(groups.values())
