"""Edge lists, the common output of all readers, and their compressed rows."""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import whole_number

Ids = NDArray[Any]  # int32 or int64
Names = tuple[Hashable, ...]  # the labels of the nodes, in their order
WEIGHT = "weight"  # the edge attribute that holds the weights by default
Rows = tuple[  # indptr, indices, weights, loops, unit
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64] | None,
    NDArray[np.int64] | None,
    NDArray[np.float64],
]


class NoSuchAttribute(ValueError):
    """Raised when no edge of a graph has the attribute chosen for the weights."""


class DirectedGraph(ValueError):
    """Raised when a graph is directed, and its arcs may not count as undirected edges."""


class Edges(NamedTuple):
    """A list of edges; a reader makes one of every graph."""

    u: Ids
    v: Ids
    w: NDArray[np.float64] | None  # None: every edge weighs 1
    num_nodes: int
    both: bool = False  # True: every edge is listed in both directions
    names: Names | None = None  # None: the nodes are called 0, 1, 2, ...
    directed: bool | None = None  # None: rows are edges, or arcs if the caller asks for arcs


def concatenate(parts: Sequence[Edges]) -> tuple[Ids, Ids, NDArray[np.float64] | None]:
    """Join the columns of several edge lists."""
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
    num_threads: int = 1,
) -> Rows:
    """Return the compressed rows of several graphs with concatenated edge lists.

    Threads, 0 for all cores, work on one large graph; the rows do not depend on their number.
    """
    from sepool import _core  # here: a saved tree is read without the compiled core

    counts = np.diff(node_ptr)
    if counts.size and counts.min() < 1:
        which = f" {int(counts.argmin())}" if len(counts) > 1 else ""
        raise ValueError(f"graph{which} has no nodes; a coding tree needs at least one")
    w = None if w is None else np.ascontiguousarray(w)
    return _core.csr(
        node_ptr, edge_ptr, u, v, w, both=both, self_loops=self_loops, num_threads=num_threads
    )


def node_count(value: Any, low: int = 0) -> int:
    """Return a number of nodes, if it is one; the core has the exact limit."""
    number = whole_number("num_nodes", value, low)
    if number >= 2**31:
        raise ValueError(f"num_nodes must be below 2^31, got {number}")
    return number


def as_weights(values: Any, num_edges: int) -> NDArray[np.float64] | None:
    """Return one number an edge; the core refuses negative numbers, NaN and infinities."""
    if values is None:
        return None
    refuse_masked(values, "edge weights")
    try:
        weights = np.asarray(values)
    except ValueError:  # nested, with rows of several lengths
        weights = np.array([None])
    if weights.dtype.kind not in "biuf" and weights.size:
        listed = values if isinstance(values, (list, tuple)) else weights.ravel().tolist()
        odd = [(i, x) for i, x in enumerate(listed) if not _is_real(x)]
        if odd or weights.dtype.kind != "O":
            value = f"{odd[0][1]!r} for edge {odd[0][0]}" if odd else f"an array of {weights.dtype}"
            raise TypeError(
                f"edge weights must be real numbers, got {value}; convert them, or pass "
                "weight=None to ignore weights"
            )
    if weights.shape != (num_edges,):
        raise ValueError(f"expected {num_edges} weights, one an edge, got shape {weights.shape}")
    try:
        return weights.astype(np.float64, copy=False)
    except OverflowError:
        i = next(i for i, x in enumerate(weights) if abs(x) > sys.float_info.max)
        raise ValueError(f"the weight of edge {i} is above 1.8e308; scale the weights") from None


def _is_real(value: Any) -> bool:
    decimal = sys.modules.get("decimal")  # without it there are no decimals
    return isinstance(value, Real) or (decimal is not None and isinstance(value, decimal.Decimal))


def refuse_masked(values: Any, what: str) -> None:
    """Fail on masked entries, which a conversion to a plain array would unmask."""
    ma = sys.modules.get("numpy.ma")  # without it there are no masked arrays
    if ma is None:
        return
    parts = values if isinstance(values, (list, tuple)) else [values]
    if any(isinstance(part, ma.MaskedArray) and ma.is_masked(part) for part in parts):
        raise ValueError(
            f"{what} have masked entries; leave them out first, as in "
            "edges[~numpy.ma.getmaskarray(edges).any(axis=1)].data"
        )


def one_of_weights(column: Any, weights: Any) -> Any:
    """Return the weights of a third column or those passed beside the edges; fail on both."""
    if column is not None and weights is not None:
        raise ValueError("weights are given twice: as a third column and as an array")
    return weights if column is None else column


def refuse_unknown_attribute(weight: str, attributes: Collection[Any]) -> None:
    """Fail on an attribute that no edge has."""
    if weight not in attributes:
        others = ", ".join(map(str, attributes)) or "none"
        raise NoSuchAttribute(
            f"no edge has the attribute {weight!r}; edges have {others}; pass weight=None to "
            "ignore weights"
        )


def refuse_directed(directed: bool, symmetrise: bool, class_name: str) -> None:
    """Fail on a directed graph, unless its arcs may count as undirected edges."""
    if directed and not symmetrise:
        raise DirectedGraph(
            f"the graph is directed ({class_name}); make it undirected, or pass symmetrise=True "
            "to let every arc count as an undirected edge"
        )
