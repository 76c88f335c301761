"""Stored rows of one protocol: an Arrow table of trainings and the runs that made them.

Packed, they are ``<folder>/<protocol>/rows.parquet`` and ``runs.parquet``, compressed with zstd.
Both are written whole, the runs first, so that every row has its run at any moment. pandas, DuckDB
and Polars read them; ``rows.merge(runs, left_on=["run", "dataset"], right_on=["id", "dataset"])``
gives every training its provenance.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sepool.files.atomic import atomic_write
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
ROWS, RUNS = "rows.parquet", "runs.parquet"
_RUN = ("dataset", *(field.name for field in fields(RunInfo)))
_DISTINCT = ("val_loss", "mse")  # nearly every value differs: a dictionary would be larger
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
        repeated = self.rows.select(list(names)).to_pandas().duplicated()
        return replace(self, rows=self.rows.filter(pa.array(~repeated, pa.bool_())))

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
    """The measured values of a result, rounded; None for a loss that is not finite."""
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
    unit: dict[str, Any], run: str, measured: Measured, curve: Sequence[Sequence[Any]] | None
) -> Measured:
    """A row as a record; None among the values stands for a number that is not finite."""
    numbers = {name: _number(value) for name, value in measured.items()}
    parts = {
        name: None if curve is None else [_number(pair[i]) for pair in curve]
        for i, name in enumerate(CURVES)
    }
    return {**unit, "run": run, **numbers, **parts}


def _number(value: Any) -> Any:
    return math.nan if value is None else value


def write_parquet(folder: Path, stored: Stored) -> None:
    """Write the rows of a protocol; earlier files are replaced."""
    runs = [{**asdict(run), "dataset": dataset} for (_, dataset), run in stored.runs.items()]
    _write(folder / RUNS, pa.Table.from_pylist(runs, pa.schema([(n, pa.string()) for n in _RUN])))
    _write(folder / ROWS, stored.rows)


def read_parquet(folder: Path, curves: bool = True) -> Stored | None:
    """Packed rows of a protocol; None without."""
    path = folder / ROWS
    if not path.exists():
        return None
    rows = _read(path, list(COLUMNS), () if curves else CURVES)
    table = _read(folder / RUNS, _RUN)
    runs = {(run["id"], run["dataset"]): RunInfo.from_dict(run) for run in table.to_pylist()}
    made_by = set(zip(rows["run"].to_pylist(), rows["dataset"].to_pylist(), strict=True))
    if unknown := made_by - runs.keys():
        raise ValueError(f"{path}: {RUNS} lacks the runs {sorted(unknown)}; restore both files")
    return Stored(rows, runs)


def _write(path: Path, table: pa.Table) -> None:
    texts = [name for name in table.column_names if name not in _DISTINCT]
    with atomic_write(path) as file:
        pq.write_table(table, file, compression="zstd", compression_level=15, use_dictionary=texts)


def _read(path: Path, needed: Sequence[str], unread: Sequence[str] = ()) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if missing := [name for name in needed if name not in names]:
                raise ValueError(f"no columns {', '.join(missing)}")
            return file.read([name for name in names if name not in unread])
    except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors
        raise ValueError(f"{path}: no readable rows ({error}); restore the file") from None
