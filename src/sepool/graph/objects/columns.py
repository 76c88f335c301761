"""Columns of tables of edges, and the nodes in them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import WEIGHT, Edges, as_weights
from sepool.graph.formats.edge_line import HEADERS, WEIGHTS
from sepool.graph.formats.ids import rank_ids
from sepool.graph.objects.named import named_edges
from sepool.graph.objects.numpy import whole_ids

_ENDS = "source and target, src and dst, from and to, node1 and node2 or id1 and id2"


class EdgeColumns(NamedTuple):
    """The columns of the two ends and of the weights."""

    u: Any
    v: Any
    w: Any  # None: every edge weighs 1

    def distinct(self) -> list[Any]:
        """Return every column once."""
        return list(dict.fromkeys(name for name in self if name is not None))


def edge_columns(
    names: Sequence[Hashable], columns: Sequence[Hashable] | None, weight: str | None
) -> EdgeColumns:
    """Choose the columns of a table's edges.

    Args:
        names: of all columns.
        columns: (source, target) or (source, target, weight); None chooses by customary names.
        weight: the column of the weights; the default stands for the customary names, too.

    Example:
        >>> edge_columns(["date", "src", "dst", "weight"], None, "weight")
        EdgeColumns(u='src', v='dst', w='weight')
    """
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"the table has several columns {name!r}; rename them")
    if columns is None:
        u, v = _customary_ends(names)
        return EdgeColumns(u, v, _weight_column(names, weight, {u, v}))
    if isinstance(columns, str) or not isinstance(columns, Sequence) or len(columns) not in (2, 3):
        raise TypeError(
            "columns must be the names (source, target) or (source, target, weight), got "
            f"{columns!r}"
        )
    for name in columns:
        if name not in names:
            raise ValueError(f"the table has no column {name!r}; it has {_listed(names)}")
    if columns[0] == columns[1]:
        raise ValueError(f"source and target must be different columns, got {columns[0]!r} twice")
    w = columns[2] if len(columns) == 3 else None
    if weight not in (None, WEIGHT):
        if w is not None and w != weight:
            raise ValueError(f"columns= has the weights in {w!r}, weight= in {weight!r}; pass one")
        w = _weight_column(names, weight, set())
    return EdgeColumns(columns[0], columns[1], None if weight is None else w)


def edges_of_ids(u: NDArray[Any], v: NDArray[Any], w: Any) -> Edges:
    """Return the edges of two columns of numbers; nodes are ordered by them."""
    ids = whole_ids(np.concatenate([u, v])) if len(u) else np.empty(0, np.int64)
    weights = as_weights(w, len(u))
    if not len(ids):
        return Edges(ids, ids, weights, 0)
    (rank,), n, names = rank_ids(ids)
    return Edges(rank[: len(u)], rank[len(u) :], weights, n, names=names)


def edges_of_codes(codes: NDArray[Any], names: Sequence[Hashable], w: Any) -> Edges:
    """Return the edges of two columns of names.

    Args:
        codes: the index into ``names`` of every entry of the first column, then of the second.
        names: every name once; nodes are ordered by first appearance, row by row.
        w: the weights, or None.
    """
    num_edges = len(codes) // 2
    ends = codes.reshape(2, num_edges).astype(np.int64)
    by_row = ends.T.ravel()
    first = np.full(len(names), len(by_row))
    first[by_row[::-1]] = np.arange(len(by_row))[::-1]  # the last assignment to an index holds
    order = np.argsort(first, kind="stable")[: int((first < len(by_row)).sum())]
    position = np.empty(len(names), np.int64)
    position[order] = np.arange(len(order))
    u, v = position[ends]
    return named_edges(u, v, as_weights(w, num_edges), [names[i] for i in order.tolist()])


def refuse_missing(missing: NDArray[np.bool_], columns: EdgeColumns) -> None:
    """Fail on nodes that are missing; ``missing`` has the first column, then the second."""
    if missing.any():
        column, row = divmod(int(missing.argmax()), len(missing) // 2)
        raise ValueError(
            f"row {row} has no node in column {columns[column]!r}; drop rows without both ends"
        )


def refuse_mixed(u: Any, v: Any, columns: EdgeColumns) -> None:
    """Fail on columns of the two ends that differ in type."""
    if u != v:
        raise TypeError(
            f"column {columns.u!r} holds {u}, column {columns.v!r} {v}; convert them to one type"
        )


def _customary_ends(names: Sequence[Hashable]) -> tuple[Hashable, Hashable]:
    words = [(str(name).lower(), name) for name in names]
    pairs = [
        (u, v)
        for pair in HEADERS
        for word, u in words
        for other, v in words
        if (word, other) == pair
    ]
    if len(pairs) == 1:
        return pairs[0]
    if not pairs:
        raise ValueError(
            f"no columns are named {_ENDS}; choose from {_listed(names)}, as in columns=('u', 'v')"
        )
    raise ValueError(
        f"the ends of an edge could be {' or '.join(map(repr, pairs))}; pass one as columns="
    )


def _weight_column(
    names: Sequence[Hashable], weight: str | None, ends: set[Hashable]
) -> Hashable | None:
    if weight is None:
        return None
    if weight in names:
        return weight
    if weight != WEIGHT:
        raise ValueError(f"the table has no column {weight!r}; it has {_listed(names)}")
    rest = [name for name in names if name not in ends]
    exact = [name for name in rest if str(name).lower() == WEIGHT]
    fits = exact or [name for name in rest if str(name).lower() in WEIGHTS]
    if len(fits) > 1:
        raise ValueError(f"the weights could be in {_listed(fits)}; choose one, as in weight='w'")
    return fits[0] if fits else None


def _listed(names: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, names)) or "none"
