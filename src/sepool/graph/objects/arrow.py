"""Arrow tables, record batches, streams and datasets, a row an edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from sepool.extras import needs
from sepool.graph.columns import choose_columns
from sepool.graph.edges import Edges
from sepool.graph.objects.columns import (
    edges_of_codes,
    edges_of_ids,
    refuse_missing,
    refuse_mixed,
)


def from_arrow(
    table: Any,
    weight: str | None,
    symmetrise: bool,
    columns: Sequence[Hashable] | None = None,
) -> Edges:
    """Read an Arrow table, or any object with its stream; other columns than numbers hold names."""
    with needs("io", f"a graph in a {type(table).__name__}"):
        import pyarrow as pa

    if not hasattr(type(table), "schema") or not isinstance(table.schema, pa.Schema):
        table = pa.RecordBatchReader.from_stream(table)
    chosen = choose_columns(table.schema.names, columns, weight).chosen
    table = _read(table, chosen)
    u, v, *weights = (_decoded(table[name]) for name in chosen)
    refuse_missing(np.concatenate([u.is_null().to_numpy(), v.is_null().to_numpy()]), chosen)
    w = weights[0].to_numpy() if weights else None
    if all(_is_number(column.type) for column in (u, v)):
        return edges_of_ids(u.to_numpy(), v.to_numpy(), w)
    refuse_mixed(u.type, v.type, chosen)
    ends = pa.chunked_array([*u.chunks, *v.chunks], u.type).combine_chunks()
    ends = ends.dictionary_encode()
    codes = ends.indices.to_numpy(zero_copy_only=False)
    return edges_of_codes(codes, ends.dictionary.to_pylist(), w)


def _read(table: Any, names: list[str]) -> Any:
    """Return the table of some columns."""
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    elif isinstance(table, pa.RecordBatchReader):
        table = table.read_all()
    elif not isinstance(table, pa.Table):  # a dataset
        return table.to_table(columns=names)
    return table.select(names)


def _decoded(column: Any) -> Any:
    """Return a column without dictionaries, all strings of one type."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_view = getattr(pa.types, "is_string_view", pa.types.is_string)
    if pa.types.is_string(column.type) or is_view(column.type):
        column = column.cast(pa.large_string())
    return column


def _is_number(dtype: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype))
