"""Nodes in the columns of a table of edges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Edges, as_weights
from sepool.graph.formats.ids import rank_ids
from sepool.graph.objects.named import named_edges
from sepool.graph.objects.numpy import whole_ids


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


def refuse_missing(missing: NDArray[np.bool_], names: Sequence[Any]) -> None:
    """Fail on nodes that are missing; ``missing`` has the first column, then the second."""
    if missing.any():
        column, row = divmod(int(missing.argmax()), len(missing) // 2)
        raise ValueError(
            f"row {row} has no node in column {names[column]!r}; drop rows without both ends"
        )


def refuse_mixed(u: Any, v: Any, names: Sequence[Any]) -> None:
    """Fail on columns of the two ends that differ in type."""
    if u != v:
        raise TypeError(
            f"column {names[0]!r} holds {u}, column {names[1]!r} {v}; convert them to one type"
        )
