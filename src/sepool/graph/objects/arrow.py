"""Arrow tables, record batches, streams and datasets, a row an edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool.graph.columns import choose_columns
from sepool.graph.edges import Edges
from sepool.graph.objects.columns import edges_of_codes, edges_of_ids, refuse_missing, refuse_mixed


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
    return edges_of_table(_read(table, chosen), chosen)


def edges_of_table(table: Any, names: Sequence[str], *, trim: bool = False) -> Edges:
    """Return the edges of the columns with these names: two ends, and perhaps the weight.

    With ``trim`` blanks around the names of nodes do not count.
    """
    u, v = (_uniform(table[name]) for name in names[:2])
    refuse_missing(u.is_null().to_numpy(), v.is_null().to_numpy(), names)
    w = _weights(table[names[2]]) if len(names) == 3 else None
    if all(_is_number(column.type) for column in (u, v)):
        return edges_of_ids(u.to_numpy(), v.to_numpy(), w)
    refuse_mixed(_value_type(u), _value_type(v), names)
    a, b, words = _encode(u, v, trim)
    return edges_of_codes(a, b, words, w)


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


def _uniform(column: Any) -> Any:
    """Return a column with all strings of one type, and dictionaries of strings alone."""
    import pyarrow as pa

    dtype, is_view = _value_type(column), getattr(pa.types, "is_string_view", pa.types.is_string)
    is_text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or is_view(dtype)
    dtype = pa.large_string() if is_text else dtype
    encoded = dtype != column.type and pa.types.is_dictionary(column.type) and is_text
    if encoded and not any(chunk.dictionary.null_count for chunk in column.chunks):
        dtype = pa.dictionary(pa.int32(), dtype)
    return column if column.type == dtype else column.cast(dtype)


def _encode(u: Any, v: Any, trim: bool) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """Return two columns as indices into the words of one dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [c if pa.types.is_dictionary(c.type) else c.dictionary_encode() for c in (u, v)]
    chunks = [chunk for column in columns for chunk in column.chunks]
    chunks = pa.chunked_array(chunks, columns[0].type).unify_dictionaries().chunks
    if not chunks:
        return np.empty(0, np.int64), np.empty(0, np.int64), []
    words = chunks[0].dictionary
    words = (pc.utf8_trim_whitespace(words) if trim else words).dictionary_encode()  # words differ
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    codes = words.indices.to_numpy()[codes]
    return codes[: len(u)], codes[len(u) :], words.dictionary.to_pylist()


def _weights(column: Any) -> NDArray[Any]:
    """Return a column as an array, missing numbers as NaN."""
    import pyarrow as pa

    dtype = _value_type(column)
    if dtype != column.type or pa.types.is_decimal(dtype):
        column = column.cast(pa.float64() if pa.types.is_decimal(dtype) else dtype)
    values: NDArray[Any] = column.to_numpy()
    return values


def _value_type(column: Any) -> Any:
    import pyarrow as pa

    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def _is_number(dtype: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype))
