"""Packing of rows to Parquet: those of finished runs (SQLite) and those of sepool 0.1 (JSON)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sepool.files.atomic import StrPath
from sepool_experiments.results.database import DATABASE, only_writer, read_database
from sepool_experiments.results.json_lines import SUFFIX, JsonLines
from sepool_experiments.results.parquet import ROWS, read_parquet, write_parquet
from sepool_experiments.results.rows import protocol_folders, read_protocol
from sepool_experiments.results.stored import IDENTITY, Stored

_ROW = (*IDENTITY, "config", "run")


@dataclass(frozen=True)
class Packed:
    """Outcome of packing one protocol.

    Args:
        folder: folder of the protocol.
        trainings: rows in its Parquet file.
        added: rows that were not there before.
        size: bytes of the Parquet file.
        orphans: loss curves without a row, which are left out.
    """

    folder: Path
    trainings: int
    added: int
    size: int
    orphans: int


def pack(folder: StrPath, add: StrPath | None = None) -> list[Packed]:
    """Pack what is not packed yet; packed files of other formats are removed.

    Packing again after a crash goes on from there: rows are removed only after the Parquet file
    has them. The rows of the folder ``add`` join them; it stays as it is.
    """
    added = [] if add is None else protocol_folders(add)
    others = {path.name: read_protocol(path) for path in added}
    names = {path.name for path in protocol_folders(folder)} | others.keys()
    outcomes = (_pack_protocol(Path(folder, name), others.get(name)) for name in sorted(names))
    return [outcome for outcome in outcomes if outcome is not None]


def _pack_protocol(folder: Path, other: Stored | None) -> Packed | None:
    if other is None and not (folder / DATABASE).exists() and not any(folder.glob(f"*{SUFFIX}")):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    with only_writer(folder):
        lines = JsonLines.read(folder)
        packed, recent = read_parquet(folder), read_database(folder)
        before = packed.rows.num_rows if packed else 0
        # Repeats are what an interrupted packing has left.
        stored = Stored.joined([part for part in (packed, lines.stored, recent) if part])
        if other is not None:
            _check_fit(folder, stored, other)
            stored = Stored.joined([stored, other])
        stored = stored.without_repeats(_ROW)
        write_parquet(folder, stored)
        for path in (*lines.files, folder / DATABASE):
            path.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm"):  # of a run that was killed
            (folder / f"{DATABASE}{suffix}").unlink(missing_ok=True)
    total = stored.rows.num_rows
    return Packed(folder, total, total - before, (folder / ROWS).stat().st_size, lines.orphans)


def _check_fit(folder: Path, stored: Stored, other: Stored) -> None:
    """Refuse rows of other rules, or of other graphs or folds of a dataset."""
    rules = {run.digest for run in stored.runs.values()}
    marks = {(dataset, run.data) for (_, dataset), run in stored.runs.items() if run.data}
    datasets = {dataset for dataset, _ in marks}
    for (_, dataset), run in other.runs.items():
        if rules and run.digest not in rules:
            raise ValueError(
                f"{folder} holds results of other rules ({', '.join(sorted(rules))}) than those to "
                f"add ({run.digest})"
            )
        if run.data and dataset in datasets and (dataset, run.data) not in marks:
            raise ValueError(
                f"{folder} holds results of other graphs or folds of {dataset} than those to add "
                f"(data {run.data})"
            )
