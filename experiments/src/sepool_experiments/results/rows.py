"""Results on disk: SQLite while a run writes (`database`), Parquet once packed (`stored`).

A folder of results has a folder a protocol. Its rows are those of ``rows.parquet`` and, after them,
those of ``rows.sqlite``; of a unit that is in both the first row counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pyarrow.compute as pc

from sepool.files.atomic import StrPath
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Unit
from sepool_experiments.results.database import DATABASE, read_database
from sepool_experiments.results.run_info import RunInfo
from sepool_experiments.results.stored import (
    CONFIG,
    CURVES,
    IDENTITY,
    MEASURED,
    ROWS,
    Stored,
    read_parquet,
)

OLD = "*.jsonl"  # rows of sepool 0.1


class Rows:
    """All results under a folder."""

    @staticmethod
    def read(folder: StrPath) -> pd.DataFrame:
        """Read the rows of all tables; those of figures measure other values and are left out.

        Args:
            folder: folder of all results.

        Returns:
            A row a training: its identity, every setting, the measured values, the text of its
            configuration (``config``), its ``key`` and the fields of its run (``run_id`` ...).

        Raises:
            ValueError: a file is damaged, or of sepool 0.1.
        """
        frames = []
        for path in protocol_folders(folder):
            stored = read_protocol(path, curves=False)
            if stored.rows.num_rows and set(MEASURED) <= set(stored.rows.column_names):
                frames.append(_frame(stored, path.name))
        if not frames:
            return pd.DataFrame(columns=_columns())
        return pd.concat(frames, ignore_index=True)


def protocol_folders(folder: StrPath) -> list[Path]:
    """Folders of protocols in a folder of results, by name."""
    files = (path for name in (ROWS, DATABASE, OLD) for path in Path(folder).glob(f"*/{name}"))
    return sorted({path.parent for path in files})


def read_protocol(folder: Path, curves: bool = True) -> Stored:
    """Rows of one protocol, the first of each unit."""
    if old := next(iter(sorted(folder.glob(OLD))), None):
        raise ValueError(
            f"{old} has the format of sepool 0.1; `sepool pack {folder.parent}` converts it"
        )
    recent = read_database(folder)  # first: rows that are packed meanwhile are then read twice
    packed = read_parquet(folder, curves)
    return Stored.joined(part for part in (packed, recent) if part).without_repeats()


def finished(folder: StrPath, protocol: Protocol) -> set[str]:
    """Keys of the finished units."""
    path = Path(folder, protocol.name)
    stored = read_protocol(path, curves=False)
    check_runs(path, stored, protocol.digest)
    return {unit.key for unit in stored.units(protocol.name)}


def check_same_data(folder: StrPath, protocol: Protocol, data: Mapping[str, str]) -> None:
    """Refuse to add results to those of data with other fingerprints; runs without one pass."""
    path = Path(folder, protocol.name)
    check_runs(path, read_protocol(path, curves=False), protocol.digest, data)


def check_runs(
    folder: Path, stored: Stored, digest: str, data: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Refuse results of a folder that were made by other rules, or of other data."""
    for (_, dataset), run in stored.runs.items():
        if run.digest != digest:
            raise ValueError(
                f"{folder} holds results of other rules ({run.digest}, these are {digest}); choose "
                "another --out"
            )
        mark = data.get(dataset)
        if mark and run.data not in ("", mark):
            raise ValueError(
                f"{folder} holds results of other graphs or folds of {dataset} (data {run.data}, "
                f"these are {mark}); choose another --out, or the --data of before"
            )


def read_curves(folder: StrPath) -> Iterator[tuple[Unit, list[tuple[float, float]]]]:
    """Stored loss curves: pairs of training and validation loss, an epoch each."""
    for path in protocol_folders(folder):
        stored = read_protocol(path)
        rows = stored.rows.filter(pc.is_valid(stored.rows[CURVES[0]]))
        curves = zip(*(rows[name].to_pylist() for name in CURVES), strict=True)
        for unit, (train, val) in zip(Stored(rows, {}).units(path.name), curves, strict=True):
            yield unit, list(zip(train, val, strict=True))


def _frame(stored: Stored, protocol: str) -> pd.DataFrame:
    """Rows with every setting and the fields of their runs."""
    units = stored.units(protocol)
    texts = {config: str(config) for config in {unit.config for unit in units}}
    frame = stored.rows.select([*IDENTITY, *MEASURED, "run"]).to_pandas()
    frame = frame.assign(
        protocol=protocol,
        key=[unit.key for unit in units],
        config=[texts[unit.config] for unit in units],
        **{name: [getattr(unit.config, name) for unit in units] for name in CONFIG},
    )
    runs = [
        {"run": name, "dataset": dataset, **{f"run_{key}": text for key, text in vars(run).items()}}
        for (name, dataset), run in stored.runs.items()
    ]
    return frame.merge(pd.DataFrame(runs), on=["run", "dataset"], how="left")[_columns()]


def _columns() -> list[str]:
    runs = [f"run_{field.name}" for field in fields(RunInfo)]
    return ["protocol", *IDENTITY, *CONFIG, *MEASURED, "config", "key", *runs]
