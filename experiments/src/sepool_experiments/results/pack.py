"""Packing of rows to Parquet: those of finished runs (SQLite) and those of sepool 0.1 (JSON)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sepool.files.atomic import StrPath
from sepool_experiments.results.database import DATABASE, only_writer, read_database
from sepool_experiments.results.json_lines import SUFFIX, JsonLines
from sepool_experiments.results.parquet import ROWS, read_parquet, write_parquet
from sepool_experiments.results.rows import protocol_folders
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


def pack(folder: StrPath) -> list[Packed]:
    """Pack what is not packed yet; packed files of other formats are removed.

    Packing again after a crash goes on from there: rows are removed only after the Parquet file
    has them.

    Args:
        folder: folder of all results.

    Returns:
        The protocols that had something to pack.

    Raises:
        ValueError: a file is damaged, or another process writes rows.
    """
    paths = protocol_folders(folder)
    return [outcome for path in paths if (outcome := _pack_protocol(path)) is not None]


def _pack_protocol(folder: Path) -> Packed | None:
    if not (folder / DATABASE).exists() and not any(folder.glob(f"*{SUFFIX}")):
        return None
    with only_writer(folder):
        lines = JsonLines.read(folder)
        packed, recent = read_parquet(folder), read_database(folder)
        before = packed.rows.num_rows if packed else 0
        parts = (packed, lines.stored, recent)
        # Repeats are what an interrupted packing has left.
        stored = Stored.joined(part for part in parts if part).without_repeats(_ROW)
        write_parquet(folder, stored)
        for path in (*lines.files, folder / DATABASE):
            path.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm"):  # of a run that was killed
            (folder / f"{DATABASE}{suffix}").unlink(missing_ok=True)
    total = stored.rows.num_rows
    return Packed(folder, total, total - before, (folder / ROWS).stat().st_size, lines.orphans)
