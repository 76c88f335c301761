"""Packed rows: ``<folder>/<protocol>/rows.parquet`` and ``runs.parquet``, compressed with zstd.

Both are written whole, the runs first, so that every row has its run at any moment. pandas, DuckDB
and Polars read them; ``rows.merge(runs, left_on=["run", "dataset"], right_on=["id", "dataset"])``
gives every training its provenance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sepool.files.atomic import atomic_write
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.results.stored import COLUMNS, CURVES, Stored

ROWS, RUNS = "rows.parquet", "runs.parquet"
_DISTINCT = ("val_loss", "mse")  # nearly every value differs: a dictionary would be larger


def write_parquet(folder: Path, stored: Stored) -> None:
    """Write the rows of a protocol; earlier files are replaced."""
    runs = [{**asdict(run), "dataset": dataset} for (_, dataset), run in stored.runs.items()]
    names = ("dataset", *(field.name for field in fields(RunInfo)))
    columns = {name: pa.array([run[name] for run in runs], pa.string()) for name in names}
    _write(folder / RUNS, pa.table(columns))
    _write(folder / ROWS, stored.rows)


def read_parquet(folder: Path, curves: bool = True) -> Stored | None:
    """Packed rows of a protocol; None without."""
    path = folder / ROWS
    if not path.exists():
        return None
    rows = _read(path, list(COLUMNS), () if curves else CURVES)
    table = _read(folder / RUNS, ["dataset", *(field.name for field in fields(RunInfo))])
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
