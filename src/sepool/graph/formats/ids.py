"""Numbers of nodes, from ids or names; whole numbers are ordered, names by first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Ids, Names
from sepool.graph.formats.edge_line import is_whole

_NAMELESS = "a node has no name; leave the row out, or name both ends of the edge"


class BadRow(ValueError):
    """Raised for a bad value of a table; ``row`` counts from 0."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(text)
        self.row = row


def rank_ids(*columns: Ids) -> tuple[list[Ids], int, Names | None]:
    """Return the rank of every id, the number of ids, and the ids in order.

    The ids are None, and the columns stay as they are, if they are 0, 1, 2, ... without a gap.
    """
    used = [ids for ids in columns if ids.size]
    if not used:
        return list(columns), 0, None
    low, high = min(int(ids.min()) for ids in used), max(int(ids.max()) for ids in used)
    if low >= 0 and high <= 4 * sum(map(len, used)):  # dense: a table is faster than sorting
        occurs = np.zeros(high + 1, np.bool_)
        for ids in used:
            occurs[ids] = True
        if occurs.all():
            return list(columns), high + 1, None
        values, number = np.flatnonzero(occurs), np.cumsum(occurs) - 1
        return [number[ids] for ids in columns], len(values), tuple(values.tolist())
    values, rank = np.unique(np.concatenate(columns), return_inverse=True)
    ends = np.cumsum([len(ids) for ids in columns])[:-1]
    plain = values[0] == 0 and values[-1] == len(values) - 1
    return np.split(rank, ends), len(values), None if plain else tuple(values.tolist())


def name_nodes(words: Sequence[str], u: Ids, v: Ids) -> tuple[Ids, Ids, Names | None]:
    """Return the edges of nodes with these names; names that are all whole numbers sort them."""
    if not all(map(is_whole, words)):
        return u, v, tuple(words)
    numbers = np.array([int(word) for word in words], np.int64)
    (rank,), _, names = rank_ids(numbers)
    return rank[u], rank[v], names


def number_columns(u: Any, v: Any) -> tuple[Ids, Ids, int, Names | None]:
    """Return the edges of two Arrow columns of ids or names, their number of nodes and names."""
    import pyarrow as pa

    for column in (u, v):
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise BadRow(
                row, "a node has no name; leave the row out, or name both ends of the edge"
            )
    u, v = (_plain(column) for column in (u, v))
    if all(pa.types.is_integer(column.type) for column in (u, v)):
        (a, b), n, names = rank_ids(_as_signed(u), _as_signed(v))
        return a, b, n, names
    a, b, words = _encode(u, v)
    return _number_words(a, b, words)


def _plain(column: Any) -> Any:
    """Return a column of integers, strings or encoded strings; fail on other types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    dtype = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if dtype != column.type and not _is_text(dtype):
        column = column.cast(dtype)
    if pa.types.is_floating(dtype):  # pandas makes floats of integers with gaps
        broken = pc.not_equal(column, pc.floor(column)).to_numpy()
        broken |= ~(np.abs(column.to_numpy()) < 2.0**53)
        if broken.any():
            row = int(np.flatnonzero(broken)[0])
            raise BadRow(row, f"a node id must be a whole number or text, got {column[row]}")
        return column.cast(pa.int64())
    if not (pa.types.is_integer(dtype) or _is_text(dtype)):
        raise ValueError(f"node ids must be whole numbers or text, got a column of {dtype}")
    return column


def _is_text(dtype: Any) -> bool:
    import pyarrow as pa

    view = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or view(dtype))


def _as_signed(column: Any) -> Ids:
    ids: NDArray[Any] = column.to_numpy()
    if ids.dtype.kind == "u" and ids.size and ids.max() >= 2**63:
        raise BadRow(int(ids.argmax()), f"a node id must be below 2^63, got {ids.max()}")
    return ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64)


def _encode(u: Any, v: Any) -> tuple[Ids, Ids, Any]:
    """Return two columns as codes of the words of one dictionary, blanks around words removed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    code = pa.dictionary(pa.int32(), pa.large_string())
    chunks = []
    for column in (u, v):
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.large_string()).dictionary_encode()
        chunks += column.cast(code).chunks
    chunks = pa.chunked_array(chunks, code).unify_dictionaries().chunks
    if not chunks:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), pa.array([], pa.large_string())
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    trimmed = pc.utf8_trim_whitespace(chunks[0].dictionary).dictionary_encode()
    codes = trimmed.indices.to_numpy()[codes]
    return codes[: len(u)], codes[len(u) :], trimmed.dictionary


def _number_words(u: Ids, v: Ids, words: Any) -> tuple[Ids, Ids, int, Names | None]:
    import pyarrow as pa
    import pyarrow.compute as pc

    (a, b), n, used = rank_ids(u, v)  # a dictionary may have words that do not occur
    if used is not None:
        words = words.take(pa.array(used))
    empty = np.flatnonzero(pc.equal(words, "").to_numpy(zero_copy_only=False))
    if empty.size:
        row = int(np.flatnonzero((a == empty[0]) | (b == empty[0]))[0])
        raise BadRow(row, _NAMELESS)
    if pc.all(pc.match_substring_regex(words, "^(0|-?[1-9][0-9]{0,18})$")).as_py():
        try:
            numbers = words.cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            pass  # beyond 64 bits: names
        else:
            (c, d), n, names = rank_ids(numbers[a], numbers[b])
            return c, d, n, names
    ends = np.column_stack([a, b]).ravel()
    first = np.empty(n, np.int64)
    first[ends[::-1]] = np.arange(len(ends))[::-1]  # of several values the last stays
    order = np.argsort(first)
    number = np.empty(n, np.int64)
    number[order] = np.arange(n)
    return number[a], number[b], n, tuple(words.take(pa.array(order)).to_pylist())
