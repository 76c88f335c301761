"""Rows of sepool 0.1: lines of JSON in ``<protocol>/<dataset>.jsonl`` and ``.curves.jsonl``.

``{"run": {...}}`` describes a run; every other line is a row that names its run. A crash may have
left half a line at the end of a file, which is ignored. Any other line that is no row is an error
with its place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from sepool_experiments.protocols.units import Config
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.results.stored import (
    CONFIG,
    IDENTITY,
    MEASURED,
    Measured,
    Runs,
    Stored,
    config_text,
    record_of,
)

SUFFIX, CURVES_SUFFIX = ".jsonl", ".curves.jsonl"
_PLACE = "not a line of results ({}); restore the file or remove this line"


def read_json_lines(folder: Path) -> tuple[Stored, list[Path], int]:
    """Return the rows of a protocol, their files, and the number of loss curves without a row.

    A crash between both leaves a curve without a row.
    """
    files = sorted(folder.glob(f"*{SUFFIX}"))
    with_curves = [path for path in files if path.name.endswith(CURVES_SUFFIX)]
    curves = {
        (*unit.values(), row["run"]): row["curve"]
        for path in with_curves
        for unit, row, _ in _read(path)
    }
    runs: Runs = {}
    records = []
    for path in files:
        for unit, row, run in _read(path) if path not in with_curves else ():
            runs.setdefault((run.id, unit["dataset"]), run)
            measured = {k: v for k, v in row.items() if k not in (*IDENTITY, *CONFIG, "run")}
            curve = curves.pop((*unit.values(), run.id), None)
            records.append(record_of(unit, run.id, measured, curve))
    return Stored.of(records, runs), files, len(curves)


def _read(path: Path) -> Iterator[tuple[dict[str, Any], Measured, RunInfo]]:
    """Rows of a file, with their identity and configuration, and their run."""
    runs: dict[str, RunInfo] = {}
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith("\n") or not line.strip():
                continue  # torn by a crash
            try:
                row = json.loads(line)
                if isinstance(row["run"], dict):
                    run = _run_of(row["run"])
                    runs[run.id] = run
                    continue
                _check(row)
                config = Config.from_dict({name: row[name] for name in CONFIG if name in row})
                if "curve" not in row and row["run"] not in runs:
                    raise ValueError(f"no line above describes its run {row['run']!r}")
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}:{number}: {_PLACE.format(error)}") from None
            unit = {**{name: row[name] for name in IDENTITY}, "config": config_text(config)}
            yield unit, row, runs.get(row["run"], _NO_RUN)


def _run_of(values: Mapping[str, str]) -> RunInfo:
    run = RunInfo.from_dict({**values, "trees": values.get("sepool", "")})
    if not run.id or not all(isinstance(value, str) for value in asdict(run).values()):
        raise ValueError(f"a run must have an id, and texts as values, got {values!r}")
    return run


def _check(row: Measured) -> None:
    """Refuse impossible values; what is missing is no fault, for figures measure other values."""
    needed = {*IDENTITY, "run"}
    if row.keys() & {"val_loss", "val_accuracy"}:  # of a table, not of a figure
        needed |= set(MEASURED)
    if missing := sorted(needed - row.keys()):
        raise ValueError(f"{missing[0]} is missing")
    for name in row.keys() & _CHECKS.keys():
        expected, fits = _CHECKS[name]
        if not fits(row[name]):
            raise ValueError(f"{name} must be {expected}, got {row[name]!r}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_loss(value: Any) -> bool:
    return value is None or _is_number(value)  # null: not finite


def _is_pairs(value: Any) -> bool:
    return all(len(pair) == 2 and isinstance(pair[0], str) for pair in value)


def _is_curve(value: Any) -> bool:
    return all(len(pair) == 2 and all(map(_is_loss, pair)) for pair in value)


def _same_type(default: Any) -> Callable[[Any], bool]:
    return lambda value: type(value) is type(default)


_TEXT = ("a text", _same_type(""))
_COUNT = ("a whole number from 0", lambda value: type(value) is int and value >= 0)
_FRACTION = ("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
_SECONDS = ("a number from 0", lambda value: _is_number(value) and 0 <= value < math.inf)
_NUMBER = ("a number", _is_number)
_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **{
        field.name: _NUMBER
        if isinstance(field.default, float)
        else (f"of the type of {field.default!r}", _same_type(field.default))
        for field in fields(Config)
    },
    **dict.fromkeys(("dataset", "system", "tree", "run"), _TEXT),
    **dict.fromkeys(("fold", "seed", "epochs", "best_epoch"), _COUNT),
    **dict.fromkeys(("val_accuracy", "test_accuracy"), _FRACTION),
    "seconds": _SECONDS,
    "val_loss": ("a number", _is_loss),
    "curve": ("pairs of losses", _is_curve),
    "extra": ("pairs of a name and a value", _is_pairs),
}
_NO_RUN = RunInfo.from_dict({})  # of a file of curves
