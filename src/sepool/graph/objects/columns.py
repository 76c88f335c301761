"""Nodes and weights in the columns of a table of edges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Edges, as_weights
from sepool.graph.ids import rank_codes, rank_ids
from sepool.graph.objects.named import named_edges
from sepool.graph.objects.numpy import whole_ids


class BadRow(ValueError):
    """Raised for a bad value of a table; ``row`` counts from 0, ``text`` leaves it out."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(f"row {row}: {text}")
        self.row, self.text = row, text


def edges_of_ids(u: NDArray[Any], v: NDArray[Any], w: Any) -> Edges:
    """Return the edges of two columns of numbers; nodes are ordered by them."""
    weights = column_weights(w, len(u))
    if not len(u):
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), weights, 0)
    (a, b), n, names = rank_ids(whole_ids(u), whole_ids(v))
    return Edges(a, b, weights, n, names=names)


def edges_of_codes(u: NDArray[Any], v: NDArray[Any], names: Sequence[Hashable], w: Any) -> Edges:
    """Return the edges of two columns of names, as indices into ``names``.

    Nodes are ordered by first appearance, row by row; names that do not occur are no nodes.
    """
    a, b, order = rank_codes(u, v, len(names))
    return named_edges(a, b, column_weights(w, len(u)), [names[i] for i in order.tolist()])


def column_weights(values: Any, num_edges: int) -> NDArray[np.float64] | None:
    """Return one weight an edge; fail on impossible ones with the row."""
    weights = as_weights(values, num_edges)
    if weights is not None and weights.size and not 0 <= weights.min() <= weights.max() < np.inf:
        row = int(np.argmin((weights >= 0) & (weights < np.inf)))
        text = f"a weight must be a finite number and not negative, got {weights[row]:g}"
        raise BadRow(row, text)
    return weights


def refuse_missing(u: NDArray[np.bool_], v: NDArray[np.bool_], names: Sequence[Any]) -> None:
    """Fail on nodes that are missing from the columns of these names."""
    for missing, name in zip((u, v), names, strict=False):
        if missing.any():
            text = f"no node in column {name!r}; leave out rows without both ends"
            raise BadRow(int(missing.argmax()), text)


def refuse_mixed(u: Any, v: Any, names: Sequence[Any]) -> None:
    """Fail on columns of the two ends that differ in type."""
    if u != v:
        raise TypeError(
            f"column {names[0]!r} holds {u}, column {names[1]!r} {v}; convert them to one type"
        )
