"""The edges of the input: columns, weights, ids, and one row a pair of nodes."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sepool.graph.columns import choose_columns
from sepool.large import statements
from sepool.large.engine import Engine
from sepool.large.options import Options
from sepool.large.statements import double

ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
_WHOLE = re.compile(r"u?(big|huge|small|tiny)?int(eger)?|decimal\(\d+,\s*0\)|long|short")
_SCALES = tuple(10**k for k in range(1, 10))


def files_of(edges: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the files of a path, a folder, a pattern, or several of these, sorted.

    Example:
        >>> files_of("missing/*.parquet")
        Traceback (most recent call last):
        FileNotFoundError: no file matches missing/*.parquet
    """
    entries = [edges] if isinstance(edges, (str, os.PathLike)) else list(edges)
    files: list[str] = []
    for path_like in entries:
        entry = os.fspath(path_like)
        if "://" in entry:
            files.append(entry)
            continue
        if os.path.isdir(entry):
            matches = [path for end in ENDINGS for path in glob.glob(f"{entry}/*{end}")]
        else:
            matches = [entry] if os.path.exists(entry) else glob.glob(entry)
        if not matches:
            raise FileNotFoundError(f"no file matches {entry}")
        files += [os.path.abspath(path) for path in sorted(matches)]
    for path in files:
        if not path.endswith(ENDINGS) and "://" not in path:
            raise ValueError(f"{path} must end in one of {', '.join(ENDINGS)}")
    if len({path.endswith((".parquet", ".pq")) for path in files}) > 1:
        raise ValueError(f"expected Parquet or CSV, got both: {files[0]}, {files[-1]}")
    return files


@dataclass(frozen=True)
class Input:
    """Expressions for the ends and the weight of a row of the view ``input``.

    Attributes:
        u: one end.
        v: the other end.
        w: the weight as it is, or None without weights.
        whole: True if the weight is a whole number by its type.
        named: True if ids are text.
    """

    u: str
    v: str
    w: str | None
    whole: bool
    named: bool


def open_input(engine: Engine, files: list[str], options: Options) -> Input:
    """Make the view ``input`` and return its columns, chosen as by `sepool.as_graph`."""
    columns = engine.view("input", files)
    names = [name for name, _ in columns]
    weight = "weight" if options.weighted else None
    try:
        choice = choose_columns(names, options.columns, weight)
    except ValueError as error:
        raise ValueError(f"{files[0]}: {error}") from None
    types = [_WHOLE.fullmatch(column_type) is not None for _, column_type in columns]
    u, v, *weights = choice.places
    w = f'"{names[weights[0]]}"' if weights else None
    whole = all(types[place] for place in weights)
    return Input(f'"{names[u]}"', f'"{names[v]}"', w, whole, not (types[u] and types[v]))


def check_input(engine: Engine, data: Input, scale: float | None) -> dict[str, int]:
    """Return the counts of rows; fail for ids and weights that cannot be used."""
    w = "1" if data.w is None else data.w
    number = f"CAST({w} AS DOUBLE)"
    scaled = f"{number} * {double(scale or 1.0)}"
    sums = {
        "rows": "1",
        "null_ids": f"CASE WHEN {data.u} IS NULL OR {data.v} IS NULL THEN 1 ELSE 0 END",
        "null_weights": f"CASE WHEN {w} IS NULL THEN 1 ELSE 0 END",
        "negative": f"CASE WHEN {number} < 0 THEN 1 ELSE 0 END",
        "infinite": f"CASE WHEN {number} > {double(1e300)} OR {number} <> {number} "
        "THEN 1 ELSE 0 END",
        "broken": "0"
        if data.whole or scale
        else f"CASE WHEN {number} <> FLOOR({number}) THEN 1 ELSE 0 END",
        "self_loops": f"CASE WHEN {data.u} = {data.v} THEN 1 ELSE 0 END",
    }
    query = ", ".join(f"SUM({value}) AS {name}" for name, value in sums.items())
    row = engine.rows(f"SELECT {query}, SUM({scaled}) AS total FROM input")[0]
    counts = {name: int(value or 0) for name, value in zip(sums, row, strict=False)}
    _refuse(counts)
    if counts["broken"]:
        raise ValueError(
            f"{counts['broken']:,} weights are no whole numbers; {_scale_for(engine, number)}"
        )
    if not counts["rows"]:
        raise ValueError("the input has no rows")
    if float(row[-1]) >= 2.0**50:
        raise ValueError(
            f"the weights sum up to {float(row[-1]):.3g}, more than 2^50; choose a smaller scale"
        )
    return counts


def _refuse(counts: dict[str, int]) -> None:
    for name, text in (
        ("null_ids", "rows have no id at one end; fill or remove them"),
        ("null_weights", "weights are null; fill or remove them, or ignore the weights"),
        ("negative", "weights are negative; expected 0 or more"),
        ("infinite", "weights are not finite; expected numbers"),
    ):
        if counts[name]:
            raise ValueError(f"{counts[name]:,} {text}")


def _scale_for(engine: Engine, number: str) -> str:
    """Return the advice on the smallest power of ten that makes the weights whole."""
    errors = ", ".join(
        f"MAX(ABS({number} * {double(s)} - FLOOR({number} * {double(s)} + 5e-1)))" for s in _SCALES
    )
    for scale, error in zip(_SCALES, engine.rows(f"SELECT {errors} FROM input")[0], strict=True):
        if float(error) < 1e-6:
            return f"pass scale={scale} (--scale {scale}), which makes all of them whole"
    return "pass scale=1e6 (--scale 1e6), which rounds them to millionths"


def store_edges(engine: Engine, data: Input, counts: dict[str, int], options: Options) -> None:
    """Store ``edges_0(u, v, w)`` and ``labels_0``, and ``names`` where ids are text."""
    u, v, joins = data.u, data.v, ""
    if data.named:
        ends = " UNION ".join(
            f"SELECT CAST({end} AS STRING) AS name FROM input" for end in (data.u, data.v)
        )
        engine.numbered(ends)
        joins = (
            f" JOIN names AS a ON a.name = CAST({data.u} AS STRING)"
            f" JOIN names AS b ON b.name = CAST({data.v} AS STRING)"
        )
        u, v = "a.id", "b.id"
    w = "CAST(1 AS BIGINT)"
    if data.w is not None:
        number = f"CAST({data.w} AS DOUBLE) * {double(options.scale or 1.0)}"
        exact = data.whole and options.scale is None
        w = f"CAST({data.w if exact else f'FLOOR({number} + 5e-1)'} AS BIGINT)"
    rows = (
        f"SELECT CAST(LEAST({u}, {v}) AS BIGINT) AS u, CAST(GREATEST({u}, {v}) AS BIGINT) AS v, "
        f"{w} AS w FROM input{joins}"
    )
    engine.store(
        "all_edges",
        f"SELECT u, v, CAST(SUM(w) AS BIGINT) AS w, COUNT(*) AS n FROM ({rows}) AS r GROUP BY u, v",
    )
    counts["repeated"] = engine.number("SELECT SUM(n - 1) FROM all_edges WHERE u <> v")
    engine.store("edges_0", "SELECT u, v, w FROM all_edges WHERE u <> v AND w > 0")
    nodes = "SELECT u AS id FROM all_edges UNION SELECT v AS id FROM all_edges"
    volume = f"SELECT id, w AS volume FROM ({statements.degrees('edges_0')}) AS d"
    total = (
        f"SELECT n.id AS id, COALESCE(d.volume, 0) AS volume FROM ({nodes}) AS n "
        f"LEFT JOIN ({volume}) AS d ON d.id = n.id"
    )
    engine.store("labels_0_0", statements.singletons(f"({total})", "edges_0"))
    engine.drop("all_edges")
    counts["edges"] = engine.number("SELECT COUNT(*) FROM edges_0")
    counts["items"] = engine.number("SELECT COUNT(*) FROM labels_0_0")
    counts["volume"] = engine.number("SELECT SUM(volume) FROM labels_0_0")
