"""Packing of rows to Parquet: those of finished runs (SQLite) and those of sepool 0.1 (JSON)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sepool.files.atomic import StrPath
from sepool_experiments.results.database import DATABASE, only_writer, read_database
from sepool_experiments.results.json_lines import SUFFIX, read_json_lines
from sepool_experiments.results.rows import check_runs, protocol_folders, read_protocol
from sepool_experiments.results.stored import (
    IDENTITY,
    ROWS,
    Stored,
    read_parquet,
    write_parquet,
)

_ROW = (*IDENTITY, "config", "run")


@dataclass(frozen=True)
class Packed:
    """Rows of one protocol in its Parquet file, those added, its bytes, and curves left out."""

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
        old, files, orphans = read_json_lines(folder)
        packed, recent = read_parquet(folder), read_database(folder)
        before = packed.rows.num_rows if packed else 0
        # Repeats are what an interrupted packing has left.
        stored = Stored.joined([part for part in (packed, old, recent) if part])
        if other is not None:
            for (_, dataset), run in other.runs.items():
                check_runs(folder, stored, run.digest, {dataset: run.data})
            stored = Stored.joined([stored, other])
        stored = stored.without_repeats(_ROW)
        write_parquet(folder, stored)
        for path in (*files, folder / DATABASE):
            path.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm"):  # of a run that was killed
            (folder / f"{DATABASE}{suffix}").unlink(missing_ok=True)
    total = stored.rows.num_rows
    return Packed(folder, total, total - before, (folder / ROWS).stat().st_size, orphans)
