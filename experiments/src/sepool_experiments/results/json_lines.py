"""Rows of sepool 0.1: lines of JSON in ``<protocol>/<dataset>.jsonl`` and ``.curves.jsonl``.

``{"run": {...}}`` describes a run; every other line is a row that names its run. A crash may have
left half a line at the end of a file, which is ignored. Any other line that is no row is an error
with its place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sepool_experiments.protocols.units import Config
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.results.stored import (
    CONFIG,
    IDENTITY,
    MEASURED,
    Measured,
    Stored,
    config_text,
    record_of,
)

SUFFIX, CURVES_SUFFIX = ".jsonl", ".curves.jsonl"
_DEFAULTS = {field.name: field.default for field in fields(Config)}
_COUNTS = ("fold", "seed", "epochs", "best_epoch")
_FRACTIONS = ("val_accuracy", "test_accuracy")


@dataclass(frozen=True)
class JsonLines:
    """Rows of a protocol, their files, and the number of loss curves without a row."""

    stored: Stored
    files: tuple[Path, ...]
    orphans: int

    @classmethod
    def read(cls, folder: Path) -> JsonLines:
        """Read all files of a protocol."""
        files = tuple(sorted(folder.glob(f"*{SUFFIX}")))
        curves: dict[Any, Any] = {}
        for path in files:
            if path.name.endswith(CURVES_SUFFIX):
                curves.update(_read_curves(path))
        runs: dict[tuple[str, str], RunInfo] = {}
        records = []
        for path in files:
            if path.name.endswith(CURVES_SUFFIX):
                continue
            dataset_runs, rows = _read_rows(path)
            runs |= {(name, path.stem): run for name, run in dataset_runs.items()}
            for row in rows:
                runs.setdefault((row["run"], row["dataset"]), dataset_runs[row["run"]])
                unit = _unit_of(row)
                measured = {k: v for k, v in row.items() if k not in (*IDENTITY, *CONFIG, "run")}
                curve = curves.pop((*unit.values(), row["run"]), None)
                records.append(record_of(unit, row["run"], measured, curve))
        return cls(Stored.of(records, runs), files, len(curves))


def _unit_of(row: Measured) -> dict[str, Any]:
    """The identity of a row and the JSON of its configuration."""
    config = Config.from_dict({name: row[name] for name in CONFIG if name in row})
    return {**{name: row[name] for name in IDENTITY}, "config": config_text(config)}


def _read_rows(path: Path) -> tuple[dict[str, RunInfo], list[Measured]]:
    runs: dict[str, RunInfo] = {}
    rows: dict[int, Measured] = {}
    for number, line in _whole_lines(path):
        with _place(path, number):
            row = json.loads(line)
            if isinstance(row["run"], dict):
                run = RunInfo.from_dict({**row["run"], "trees": row["run"].get("sepool", "")})
                _check_run(run)
                runs[run.id] = run
            elif row["run"] in runs:
                _check_row(row)
                rows[number] = row
            else:
                raise ValueError(f"no line above describes its run {row['run']!r}")
    if any(row.keys() >= set(MEASURED) for row in rows.values()):  # of a table, not of a figure
        for number, row in rows.items():
            with _place(path, number):
                _check_has(row, MEASURED)
    return runs, list(rows.values())


def _read_curves(path: Path) -> dict[Any, Any]:
    """Loss curves by unit and run."""
    curves = {}
    for number, line in _whole_lines(path):
        with _place(path, number):
            row = json.loads(line)
            _check_unit(row)
            for pair in row["curve"]:
                if len(pair) != 2:
                    raise ValueError(f"curve must have pairs of losses, got {pair!r}")
                for loss in pair:
                    _check_loss("curve", loss)
            curves[(*_unit_of(row).values(), row["run"])] = row["curve"]
    return curves


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without the torn one that a crash may have left at the end."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith("\n") and line.strip():
                yield number, line


@contextmanager
def _place(path: Path, number: int) -> Iterator[None]:
    """Add the place of a line to what is wrong with it."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}:{number}: not a line of results ({error}); restore the file or remove this "
            "line"
        ) from None


def _check_run(run: RunInfo) -> None:
    if not run.id:
        raise ValueError("the run has no id")
    for field in fields(run):
        if not isinstance(value := getattr(run, field.name), str):
            raise ValueError(f"{field.name} must be a text, got {value!r}")


def _check_row(row: Measured) -> None:
    """Refuse impossible values; missing ones are no fault, for figures measure others."""
    _check_unit(row)
    for name in _FRACTIONS:
        if name in row and not (_is_number(row[name]) and 0 <= row[name] <= 1):
            raise ValueError(f"{name} must be a number from 0 to 1, got {row[name]!r}")
    if "seconds" in row and not (_is_number(row["seconds"]) and 0 <= row["seconds"] < math.inf):
        raise ValueError(f"seconds must be a number from 0, got {row['seconds']!r}")
    if "val_loss" in row:
        _check_loss("val_loss", row["val_loss"])


def _check_unit(row: Measured) -> None:
    _check_has(row, IDENTITY)
    for name in ("dataset", "system", "tree"):
        if not isinstance(row[name], str):
            raise ValueError(f"{name} must be a text, got {row[name]!r}")
    for name in _COUNTS:
        if name in row and (type(row[name]) is not int or row[name] < 0):
            raise ValueError(f"{name} must be a whole number from 0, got {row[name]!r}")
    for name in row.keys() & _DEFAULTS.keys():
        _check_setting(name, row[name], _DEFAULTS[name])


def _check_has(row: Measured, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in row:
            raise ValueError(f"{name} is missing")


def _check_setting(name: str, value: Any, default: Any) -> None:
    if isinstance(default, tuple):
        for pair in value:
            if len(pair) != 2 or not isinstance(pair[0], str):
                raise ValueError(f"{name} must be pairs of a name and a value, got {value!r}")
    elif isinstance(default, float):
        if not _is_number(value):
            raise ValueError(f"{name} must be a number, got {value!r}")
    elif type(value) is not type(default):
        raise ValueError(f"{name} must be of the type of {default!r}, got {value!r}")


def _check_loss(name: str, value: Any) -> None:
    if value is not None and not _is_number(value):  # null: a loss that is not finite
        raise ValueError(f"{name} must be a number, got {value!r}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
