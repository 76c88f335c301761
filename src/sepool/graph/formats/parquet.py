"""Parquet, Arrow and Feather files: columns of the ends and of the weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.extras import needs
from sepool.graph.columns import choose_columns
from sepool.graph.edges import Edges
from sepool.graph.formats.ids import BadRow, number_columns
from sepool.graph.formats.opening import GraphFile
from sepool.graph.formats.options import FileOptions


def read_parquet(file: GraphFile, options: FileOptions) -> Edges:
    """Read a Parquet file; no other columns than the chosen are read."""
    with needs("io", f"reading {file.path}"):
        import pyarrow as pa
        from pyarrow import parquet
    stream = None if file.plain else file.seekable()
    content = stream or file.path
    try:
        schema = parquet.read_schema(content)
        columns = choose_columns(schema.names, options.columns, options.weight)
        chosen = columns.chosen
        text = [name for name in chosen[:2] if pa.types.is_string(schema.field(name).type)]
        if stream is not None:
            stream.seek(0)
        table = parquet.ParquetFile(content, read_dictionary=text, memory_map=file.plain).read(
            columns=chosen
        )
    except (pa.ArrowException, OSError) as error:
        raise _damaged(error, "Parquet") from None
    return _edges(file, table, chosen, f"Parquet; {columns.note}")


def read_arrow(file: GraphFile, options: FileOptions) -> Edges:
    """Read an Arrow file or stream, or a Feather file."""
    with needs("io", f"reading {file.path}"):
        import pyarrow as pa
        from pyarrow import ipc
    if file.head[:4] == b"FEA1":
        raise ValueError("this is Feather of version 1; write it again as Parquet or Arrow")
    try:
        content = pa.memory_map(file.path) if file.plain else pa.py_buffer(file.stream.read())
        if file.head[:6] == b"ARROW1":
            table = ipc.open_file(content).read_all()
        else:
            table = ipc.open_stream(content).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _damaged(error, "Arrow") from None
    columns = choose_columns(table.column_names, options.columns, options.weight)
    return _edges(file, table, columns.chosen, f"Arrow; {columns.note}")


def edges_of_columns(u: Any, v: Any, w: Any = None) -> Edges:
    """Return the edges of Arrow columns; fail on missing values and impossible weights."""
    if not len(u):
        raise ValueError("no edges in this file; expected a table with a row an edge")
    weights = None if w is None else _weights(w)
    a, b, num_nodes, names = number_columns(u, v)
    return Edges(a, b, weights, num_nodes, names=names)


def _weights(column: Any) -> Any:
    import pyarrow as pa

    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    if not any(is_type(column.type) for is_type in numeric):
        raise ValueError(f"weights must be numbers, got a column of {column.type}")
    weights = column.cast(pa.float64()).to_numpy()  # nulls become NaN
    if not weights.min() >= 0 or weights.max() == np.inf:
        row = int(np.flatnonzero(~((weights >= 0) & (weights < np.inf)))[0])
        value = "nothing" if column[row].as_py() is None else column[row].as_py()
        raise BadRow(row, f"a weight must be a finite number and not negative, got {value}")
    return weights


def _edges(file: GraphFile, table: Any, chosen: list[str], note: str) -> Edges:
    try:
        edges = edges_of_columns(*(table.column(name) for name in chosen))
    except BadRow as error:
        raise ValueError(f"row {error.row + 1}: {error}") from None
    file.note(note)
    return edges


def _damaged(error: Exception, name: str) -> Exception:
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return ValueError(f"this is no whole {name} file ({str(error).splitlines()[0].rstrip('.')})")
