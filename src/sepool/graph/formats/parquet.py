"""Parquet, Arrow and Feather files: columns of the ends and of the weight."""

from __future__ import annotations

from typing import Any

from sepool.extras import needs
from sepool.graph.columns import choose_columns
from sepool.graph.edges import Edges
from sepool.graph.formats.opening import GraphFile
from sepool.graph.formats.options import FileOptions
from sepool.graph.objects.arrow import edges_of_table

NO_ROWS = "no edges in this file; expected a table with a row an edge"


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


def _edges(file: GraphFile, table: Any, names: list[str], note: str) -> Edges:
    if not len(table):
        raise ValueError(NO_ROWS)
    edges = edges_of_table(table, names)
    file.note(note)
    return edges


def _damaged(error: Exception, name: str) -> Exception:
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return ValueError(f"this is no whole {name} file ({str(error).splitlines()[0].rstrip('.')})")
