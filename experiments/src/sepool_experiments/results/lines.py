"""One line of results: from a `Result` to JSON and back, and files that end in half a line."""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import sepool
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Config, Result, Unit

CONFIG = tuple(field.name for field in fields(Config))
IDENTITY = ("dataset", "system", "tree", "fold", "seed")
_DIGITS = {"val_loss": 6, "val_accuracy": 6, "test_accuracy": 6, "seconds": 3}
_BLOCK = 1 << 16
MEASURED = ("epochs", "best_epoch", "val_loss", "val_accuracy", "test_accuracy", "seconds")


@dataclass(frozen=True)
class RunInfo:
    """By what code, machine and command results were made, and of which data.

    Runs of before it was written down have no ``data`` (see `sepool_experiments.data.fingerprint`).
    """

    id: str
    protocol: str
    digest: str
    sepool: str
    torch: str
    torch_geometric: str
    python: str
    device: str
    engine: str
    command: str
    started: str
    data: str = ""

    @classmethod
    def now(cls, protocol: Protocol, device: str, engine: str) -> RunInfo:
        """A run of this program that starts now."""
        started = datetime.now(timezone.utc)
        program = Path(sys.argv[0]).name.replace("__main__.py", "sepool")  # python -m sepool
        return cls(
            id=secrets.token_hex(4),
            protocol=protocol.name,
            digest=protocol.digest,
            sepool=sepool.__version__,
            torch=_version("torch"),
            torch_geometric=_version("torch-geometric"),
            python=platform.python_version(),
            device=device,
            engine=engine,
            command=shlex.join([program, *sys.argv[1:]]),
            started=started.isoformat(timespec="seconds"),
        )


def result_to_row(result: Result, run: str) -> dict[str, Any]:
    """One line of a results file.

    >>> unit = Unit("table1", "MUTAG", "SEP-G", "best", Config(hidden=128), fold=0, seed=1)
    >>> row = result_to_row(Result(unit, 90, 40, 0.31, 0.9, 8 / 9, 2.5), "r1")
    >>> row["hidden"], row["test_accuracy"], "batch" in row
    (128, 0.888889, False)
    """
    unit = result.unit
    row: dict[str, Any] = {name: getattr(unit, name) for name in IDENTITY}
    row.update(unit.config.changes())
    for name in MEASURED:
        value = getattr(result, name)
        # JSON has no word for a loss that is not a number.
        row[name] = value if isinstance(value, int) else _rounded(value, _DIGITS[name])
    row["run"] = run
    return row


def row_to_unit(row: dict[str, Any], protocol: str) -> Unit:
    """The unit that a row is about."""
    config = Config.from_dict({name: row[name] for name in CONFIG if name in row})
    return Unit(protocol=protocol, config=config, **{name: row[name] for name in IDENTITY})


def curve_to_row(result: Result, run: str) -> dict[str, Any]:
    """One line of a file of curves."""
    row: dict[str, Any] = {name: getattr(result.unit, name) for name in IDENTITY}
    curve = [[_rounded(train, 4), _rounded(val, 4)] for train, val in result.curve or ()]
    return {**row, **result.unit.config.changes(), "run": run, "curve": curve}


def whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without the torn one that a crash may have left at the end."""
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith("\n") and line.strip():
                yield number, line


def dump(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as lines."""
    return "".join(json.dumps(row, separators=(",", ":"), allow_nan=False) + "\n" for row in rows)


def cut_torn_line(file_number: int) -> None:
    """Removes what a crash has left of the last line, by the number of an open file."""
    end = start = os.fstat(file_number).st_size
    newline = -1
    while start > 0 and newline < 0:
        start = max(start - _BLOCK, 0)
        os.lseek(file_number, start, os.SEEK_SET)
        newline = os.read(file_number, _BLOCK).rfind(b"\n")
    if (keep := start + newline + 1) < end:
        os.ftruncate(file_number, keep)


def _rounded(value: float, digits: int) -> float | None:
    return round(float(value), digits) if math.isfinite(value) else None


def number(value: Any) -> Any:
    """A number as read; null stands for one that was not finite."""
    return math.nan if value is None else value


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
