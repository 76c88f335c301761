"""Coding trees of tables of edges that need not fit into memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from sepool.files.atomic import StrPath, check_output
from sepool.large.engine import Engine, remove
from sepool.large.entropy import structural_entropy
from sepool.large.levels import store_tree
from sepool.large.options import Options, Progress, memory_bytes
from sepool.large.reading import Input, check_input, files_of, open_input, store_edges
from sepool.large.result import LargeTree
from sepool.large.rounds import coarsen
from sepool.large.state import Figures, State, check_manifest, head_of, manifest_of, open_state

_SPACE = 3  # free bytes on disk for a byte of the input


def coding_tree(
    edges: StrPath | Iterable[StrPath],
    *,
    height: int | None = None,
    memory: str | int = "2GB",
    engine: str = "duckdb",
    threads: int | None = None,
    folder: StrPath | None = None,
    output: StrPath = "labels.parquet",
    columns: Sequence[str] | None = None,
    weighted: bool = True,
    scale: float | None = None,
    master: str | None = None,
    progress: Progress | None = None,
) -> LargeTree:
    r"""Search a coding tree of low structural entropy of a graph in Parquet or CSV.

    Rounds in SQL contract the graph until it fits into memory; the search in memory goes on from
    there. Both engines write the same labels, with any number of threads.

    Args:
        edges: file, folder, pattern (``edges/*.parquet``) or several of these, a row an edge; CSV
            has a line of names. Repeated edges add up, self-loops are dropped.
        height: level of the root; None for the depth that the contracted graph supports.
        memory: size such as "2GB", for the engine and for the search in memory.
        engine: "duckdb", in this process, or "spark".
        threads: number of threads, all cores by default.
        folder: folder of the intermediate tables; a killed run goes on after its last complete
            round if called with the same one. A temporary one beside the output by default.
        output: the labels: node, level_1, ..., level_(height - 1); a folder with Spark.
        columns: names of both ends, and of the weight; customary names by default.
        weighted: False ignores the column of weights.
        scale: factor that makes weights whole numbers; further digits are rounded.
        master: URL of the Spark cluster, which shares the folder; this machine by default.
        progress: callback for a `Report` of every step.

    Raises:
        ValueError: columns, ids or weights that cannot be used; the folder of another run.
        OSError: a folder that is full or not writable.

    Example:
        >>> import os, tempfile
        >>> place = tempfile.mkdtemp()
        >>> path = os.path.join(place, "edges.csv")
        >>> with open(path, "w") as file:
        ...     _ = file.write("source,target\n0,1\n1,2\n2,0\n2,3\n3,4\n4,5\n5,3\n")
        >>> result = coding_tree(path, height=2, output=os.path.join(place, "labels.parquet"))
        >>> result.counts, round(result.entropy, 4)
        ((6, 2, 1), 1.6995)
    """
    options = Options(
        height=height,
        memory=memory_bytes(memory),
        engine=engine,
        threads=threads or 0,
        columns=None if columns is None else tuple(columns),
        weighted=weighted,
        scale=scale,
        master=master,
    )
    files = files_of(edges)
    target = _checked_output(output)
    if folder is not None:
        return _run(options, files, _checked_folder(Path(folder), files, options), target, progress)
    parent = _checked_folder(target.parent, files, None)
    place = Path(tempfile.mkdtemp(prefix="sepool-", dir=parent))
    try:
        return _run(options, files, place, target, progress, temporary=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def open_engine(options: Options, folder: Path) -> Engine:
    """Start the engine of the options."""
    if options.engine == "spark":
        from sepool.large.spark import SparkEngine

        return SparkEngine(folder, options.memory, options.threads, options.master)
    from sepool.large.duck import DuckEngine

    return DuckEngine(folder, options.memory, options.threads)


def _run(
    options: Options,
    files: list[str],
    folder: Path,
    target: Path,
    progress: Progress | None,
    temporary: bool = False,
) -> LargeTree:
    engine = open_engine(options, folder)
    try:
        data = open_input(engine, files, options)
        state = open_state(engine, options, files, progress)
        counts = _read(state, data, options)
        contractions = coarsen(state, options, counts)
        height = store_tree(state, options, counts["volume"], contractions)
        figures = _finish(state, height, data, target)
        return LargeTree(
            height=height,
            counts=tuple(figures[f"count_{level}"] for level in range(height + 1)),
            entropy=figures["entropy"],
            rounds=sum(" moves " in name or "contraction" in name for name in state.steps),
            edges=counts["edges"],
            self_loops=counts["self_loops"],
            repeated=counts["repeated"],
            output=str(target),
            folder=None if temporary else str(folder),
        )
    finally:
        engine.close()


def _read(state: State, data: Input, options: Options) -> Figures:
    def work() -> Figures:
        counts = check_input(state.engine, data, options.scale)
        store_edges(state.engine, data, counts, options)
        return counts

    tables = ("names", "edges_0", "labels_0_0") if data.named else ("edges_0", "labels_0_0")
    return state.run("reading", tables, work)


def _finish(state: State, height: int, data: Input, target: Path) -> Figures:
    """Write the labels and return the entropy and the counts of all levels."""
    engine = state.engine
    levels = [f"level_{level}" for level in range(1, height)]

    def work() -> Figures:
        entropy = structural_entropy(engine, "edges_0", "tree", height)
        counts = ", ".join(f"COUNT(DISTINCT {name})" for name in ["id", *levels])
        row = [*engine.rows(f"SELECT {counts} FROM tree")[0], 1]
        return {"entropy": entropy, **{f"count_{k}": int(n) for k, n in enumerate(row)}}

    figures = state.run("entropy", (), work)
    shown = "".join(f", t.{name} AS {name}" for name in levels)
    name, join = ("n.name", " JOIN names AS n ON n.id = t.id") if data.named else ("t.id", "")
    draft = target.with_name(f"{target.name}.draft")
    remove(draft)
    engine.write(f"SELECT {name} AS node{shown} FROM tree AS t{join} ORDER BY node", str(draft))
    remove(target)
    os.replace(draft, target)
    return figures


def _checked_output(output: StrPath) -> Path:
    if not os.fspath(output).endswith((".parquet", ".pq")):
        raise ValueError(f"output must end in .parquet, got {os.fspath(output)}")
    if os.path.isdir(output) and os.path.exists(os.path.join(output, "_SUCCESS")):
        return Path(output).resolve()  # of an earlier run with Spark
    return Path(check_output(output))


def _checked_folder(folder: Path, files: list[str], options: Options | None) -> Path:
    """Return the folder, if it is writable, has free space and no other run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise PermissionError(
            f"the folder {folder} is not writable: {error.strerror}; choose another folder"
        ) from None
    need = _SPACE * sum(os.path.getsize(path) for path in files if os.path.exists(path))
    free = shutil.disk_usage(folder).free
    if free < need:
        raise OSError(
            f"the folder {folder} has {free / 1e9:.1f} GB free, the tables need about "
            f"{need / 1e9:.1f} GB; choose a folder on a larger disk"
        )
    if options is not None and manifest_of(folder).exists():
        check_manifest(manifest_of(folder), head_of(options, files))
    return folder.resolve()
