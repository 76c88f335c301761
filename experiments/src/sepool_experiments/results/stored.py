"""Stored rows of one protocol: an Arrow table of trainings and the runs that made them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sepool_experiments.protocols.units import Config, Result, Unit
from sepool_experiments.results.run_info import RunInfo

CONFIG = tuple(field.name for field in fields(Config))
IDENTITY = ("dataset", "system", "tree", "fold", "seed")
MEASURED = ("epochs", "best_epoch", "val_loss", "val_accuracy", "test_accuracy", "seconds")
CURVES = ("curve_train", "curve_val")
# What every row has; the other columns depend on what its protocol measures.
COLUMNS = {
    **dict.fromkeys(("dataset", "system", "tree"), pa.string()),
    **dict.fromkeys(("fold", "seed"), pa.int64()),
    **dict.fromkeys(("config", "run"), pa.string()),
    **dict.fromkeys(CURVES, pa.list_(pa.float64())),
}
_DIGITS = {"val_loss": 6, "val_accuracy": 6, "test_accuracy": 6, "seconds": 3}
_CURVE_DIGITS = 4
_UNIT = (*IDENTITY, "config")

Measured = dict[str, Any]
Runs = dict[tuple[str, str], RunInfo]


@dataclass(frozen=True)
class Stored:
    """Rows of one protocol.

    Args:
        rows: a row a training: its identity, its configuration (the settings that differ from the
            defaults, as JSON), the id of its run, the measured values, and for a few trainings the
            losses of every epoch. A loss that is not finite is NaN; what was not measured is null.
        runs: the runs, by id and dataset.
    """

    rows: pa.Table
    runs: Runs

    @classmethod
    def of(cls, records: Sequence[Measured], runs: Runs) -> Stored:
        """Build from records, one a row."""
        names = dict.fromkeys([*COLUMNS, *(name for record in records for name in record)])
        columns = {
            name: pa.array([record.get(name) for record in records], COLUMNS.get(name))
            for name in names
        }
        return cls(pa.table(columns), runs)

    @classmethod
    def joined(cls, parts: Iterable[Stored]) -> Stored:
        """Join parts; datasets in the order of their names, the rows of each in their own."""
        parts = list(parts) or [cls.of([], {})]
        rows = pa.concat_tables([part.rows for part in parts], promote_options="permissive")
        order = np.argsort(rows["dataset"].to_numpy(zero_copy_only=False), kind="stable")
        runs = {key: run for part in parts for key, run in part.runs.items()}
        return cls(rows.take(order), runs)

    def without_repeats(self, names: Sequence[str] = _UNIT) -> Stored:
        """The first row of every unit, or of every combination of these columns."""
        first: dict[Any, int] = {}
        values = zip(*(self.rows[name].to_pylist() for name in names), strict=True)
        for place, value in enumerate(values):
            first.setdefault(value, place)
        return replace(self, rows=self.rows.take(pa.array(first.values(), pa.int64())))

    def units(self, protocol: str) -> list[Unit]:
        """The unit of every row."""
        texts = self.rows["config"].to_pylist()
        configs = {text: Config.from_dict(json.loads(text)) for text in dict.fromkeys(texts)}
        rows = zip(*(self.rows[name].to_pylist() for name in _UNIT), strict=True)
        return [
            Unit(protocol, dataset, system, tree, configs[text], fold, seed)
            for dataset, system, tree, fold, seed, text in rows
        ]


def measured_of(result: Result) -> Measured:
    """The measured values of a result, rounded; None for a loss that is not finite.

    >>> unit = Unit("table1", "MUTAG", "SEP-G", "best", Config(), fold=0, seed=1)
    >>> measured_of(Result(unit, 90, 40, 0.31, 0.9, 8 / 9, 2.5))["test_accuracy"]
    0.888889
    """
    values = {name: getattr(result, name) for name in MEASURED}
    return {
        name: value if isinstance(value, int) else rounded(value, _DIGITS[name])
        for name, value in values.items()
    }


def rounded(value: float, digits: int = _CURVE_DIGITS) -> float | None:
    """A rounded number, None if it is not finite."""
    return round(float(value), digits) if math.isfinite(value) else None


def config_text(config: Config) -> str:
    """The settings that differ from the defaults, as JSON.

    >>> config_text(Config(hidden=128, dropout=0.5))
    '{"hidden":128,"dropout":0.5}'
    """
    return json.dumps(config.changes(), separators=(",", ":"))


def record_of(
    unit: dict[str, Any], run: str, measured: Measured, curve: Iterable[Sequence[Any]] | None
) -> Measured:
    """A row as a record; None among the values stands for a number that is not finite."""
    losses = None if curve is None else [tuple(map(_number, pair)) for pair in curve]
    parts = [None if losses is None else [pair[i] for pair in losses] for i in range(2)]
    numbers = {name: _number(value) for name, value in measured.items()}
    return {**unit, "run": run, **numbers, **dict(zip(CURVES, parts, strict=True))}


def _number(value: Any) -> Any:
    return math.nan if value is None else value
