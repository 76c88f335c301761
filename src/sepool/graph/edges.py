"""Edge lists, the form in which every reader hands a graph on, and their sorted rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[Any]  # int32 or int64
WEIGHT = "weight"  # the attribute of edges that holds their weights, where nothing else is said
Rows = tuple[  # indptr, indices, weights, loops, unit
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64] | None,
    NDArray[np.int64] | None,
    NDArray[np.float64],
]


class NoSuchAttribute(ValueError):
    """No edge of a graph has the attribute that shall hold the weights."""


class Edges(NamedTuple):
    """A list of edges, as every reader hands it on."""

    u: Ids
    v: Ids
    w: NDArray[np.float64] | None  # None: every edge weighs 1
    num_nodes: int
    both: bool = False  # True: every edge is listed in both directions
    names: tuple[str, ...] | None = None  # None: the nodes are called 0, 1, 2, ...


def concatenate(parts: Sequence[Edges]) -> tuple[Ids, Ids, NDArray[np.float64] | None]:
    """The columns of several edge lists, one list after the other."""
    w = None
    if any(part.w is not None for part in parts):
        w = np.concatenate([np.ones(len(p.u)) if p.w is None else p.w for p in parts])
    return np.concatenate([p.u for p in parts]), np.concatenate([p.v for p in parts]), w


def sorted_rows(
    node_ptr: NDArray[np.int64],
    edge_ptr: NDArray[np.int64],
    u: Ids,
    v: Ids,
    w: NDArray[np.float64] | None,
    both: bool,
    self_loops: bool,
) -> Rows:
    """Compressed rows of several graphs, whose edge lists follow one another."""
    from sepool import _core  # here, because reading a saved tree needs no compiled core

    counts = np.diff(node_ptr)
    if counts.size and counts.min() < 1:
        which = f" {int(counts.argmin())}" if len(counts) > 1 else ""
        raise ValueError(f"graph{which} has no nodes; a coding tree needs at least one")
    w = None if w is None else np.ascontiguousarray(w)
    return _core.csr(node_ptr, edge_ptr, u, v, w, both=both, self_loops=self_loops)


def as_weights(values: Any, num_edges: int) -> NDArray[np.float64] | None:
    """One real number an edge; signs, NaN and infinities are left to the core."""
    if values is None:
        return None
    weights = np.asarray(values)
    if weights.shape != (num_edges,):
        raise ValueError(f"expected {num_edges} weights, one an edge, got shape {weights.shape}")
    if num_edges and weights.dtype.kind not in "biuf":
        given = values if isinstance(values, (list, tuple)) else weights.tolist()
        odd = [x for x in given if not isinstance(x, Real)]
        if odd or weights.dtype.kind != "O":
            raise TypeError(f"edge weights must be real numbers, got {[*odd, weights.dtype][0]!r}")
    return weights.astype(np.float64, copy=False)


def refuse_unknown_attribute(weight: str, there: Collection[str]) -> None:
    """A name that no edge knows is misspelt; that of the default may be missing."""
    if weight not in there:
        known = f"edges have {', '.join(map(str, there))}" if there else "edges have none"
        raise NoSuchAttribute(f"no edge has the attribute {weight!r}; {known}")


def refuse_directed(directed: bool, symmetrise: bool, kind: str) -> None:
    if directed and not symmetrise:
        raise ValueError(
            f"the graph is directed ({kind}); make it undirected, or pass symmetrise=True "
            "to let every arc count as an undirected edge"
        )
