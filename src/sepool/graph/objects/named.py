"""Lists of named edges and dictionaries of neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.columns import HEADERS
from sepool.graph.edges import Edges, as_weights, one_of_weights
from sepool.graph.ids import name_nodes

_ROW = "(u, v) or (u, v, weight)"
_ROWS = (tuple, list, np.ndarray)


def named_edges(
    u: NDArray[Any], v: NDArray[Any], w: NDArray[np.float64] | None, names: Sequence[Hashable]
) -> Edges:
    """Return edges between nodes with names; nodes that are all integers are ordered by them."""
    if set(map(type, names)) != {str}:  # strings are usual, and faster without tests
        _refuse_odd_names(names)
        names = [int(name) if isinstance(name, Integral) else name for name in names]
    u, v, labels = name_nodes(names, u, v)
    return Edges(u, v, w, len(names), names=labels)


def from_named(rows: Iterable[Any], weights: Any = None) -> Edges | None:
    """Read rows ``u v`` or ``u v weight`` of nodes with names; None if all nodes are numbers."""
    index: dict[Hashable, int] = {}
    u, v, w = unpacked(rows)
    try:
        ends = [index.setdefault(x, len(index)) for pair in zip(u, v, strict=True) for x in pair]
    except TypeError:
        raise TypeError(
            f"the nodes of an edge must be hashable, got {_unhashable([*u, *v])!r}; make lists "
            "tuples"
        ) from None
    if all(isinstance(node, Number) for node in index):
        return None
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    weights = as_weights(one_of_weights(w, weights), len(pairs))
    return named_edges(pairs[:, 0], pairs[:, 1], weights, list(index))


def unpacked(rows: Iterable[Any]) -> tuple[list[Any], list[Any], list[Any] | None]:
    """Return the columns of rows of two or three entries; a row without a weight weighs 1."""
    rows = list(rows)
    for i, row in enumerate(rows):
        if not isinstance(row, _ROWS) or len(row) not in (2, 3):
            raise ValueError(f"expected edges as rows {_ROW}, one edge a row, got {row!r} at {i}")
    w = [row[2] if len(row) == 3 else 1 for row in rows]
    weighted = any(len(row) == 3 for row in rows)
    return [row[0] for row in rows], [row[1] for row in rows], w if weighted else None


def from_neighbours(graph: Mapping[Any, Any], symmetrise: bool) -> Edges:
    """Read ``{u: [v, ...]}`` or ``{u: {v: weight}}``.

    An edge counts once, listed from one end, from both or repeatedly, as in ``networkx.Graph``.
    With ``symmetrise`` every entry is an arc and counts.
    """
    _refuse_columns(graph)
    index: dict[Hashable, int] = {name: i for i, name in enumerate(graph)}
    ends: list[tuple[int, int]] = []
    weights: list[Any] = []
    for node, neighbours in graph.items():
        entries = _entries(node, neighbours, index)
        ends.extend((index[node], index.setdefault(other, len(index))) for other, _ in entries)
        weights.extend(weight for _, weight in entries)
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    weighted = any(isinstance(neighbours, Mapping) for neighbours in graph.values())
    w = as_weights(weights, len(pairs)) if weighted else None
    names = list(index)
    if not symmetrise:
        pairs, w = _once(pairs, w, names)
    return named_edges(pairs[:, 0], pairs[:, 1], w, names)


def _entries(node: Any, neighbours: Any, index: dict[Hashable, int]) -> list[tuple[Any, Any]]:
    """Return the neighbours of a node and their weights."""
    if isinstance(neighbours, Mapping):
        entries = list(neighbours.items())
        if any(isinstance(weight, Mapping) for _, weight in entries):
            raise TypeError(
                f"the edges of node {node!r} have dictionaries of attributes; pass "
                "networkx.Graph(graph)"
            )
        return entries
    if isinstance(neighbours, Set):  # in an order that does not depend on hashes
        neighbours = sorted(neighbours, key=repr)
    elif not isinstance(neighbours, _ROWS):
        raise TypeError(
            f"the neighbours of node {node!r} must be a list or a dictionary of weights, got "
            f"{neighbours!r}; pass edges with weights as a list of rows {_ROW}"
        )
    for other in neighbours:
        if not isinstance(other, Hashable):
            raise TypeError(f"the neighbours of node {node!r} must be hashable, got {other!r}")
        if isinstance(other, tuple) and other not in index and other[:1] and other[0] in index:
            raise ValueError(
                f"node {node!r} has the neighbour {other!r}; pass weights as "
                f"{{{node!r}: {{{other[0]!r}: weight}}}}"
            )
    return [(other, 1) for other in neighbours]


def _once(
    pairs: NDArray[np.int64], w: NDArray[np.float64] | None, names: Sequence[Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Drop repeated pairs; fail if their weights differ."""
    keys = pairs.min(axis=1) * len(names) + pairs.max(axis=1) if len(pairs) else pairs[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if w is None:
        return pairs[first], None
    other = w[first][inverse]
    differ = (w != other) & ~(np.isnan(w) | np.isnan(other))  # the core refuses NaN
    if differ.any():
        i = int(differ.argmax())
        a, b = pairs[i].tolist()
        raise ValueError(
            f"the edge of {names[b]!r} and {names[a]!r} weighs {other[i]:g} from one end and "
            f"{w[i]:g} from the other; list it once, or pass symmetrise=True to add both up"
        )
    return pairs[first], w[first]


def _refuse_columns(graph: Mapping[Any, Any]) -> None:
    """Fail on a dictionary of columns, which would become nodes."""
    words = {str(name).lower() for name in graph}
    if any(len(words) <= 3 and words.issuperset(pair) for pair in HEADERS):
        raise ValueError(
            f"{', '.join(map(repr, graph))} are names of columns, not of nodes; pass "
            "pandas.DataFrame(graph)"
        )


def _refuse_odd_names(names: Iterable[Any]) -> None:
    """Fail on names that are no names, such as None and 1.5."""
    for name in names:
        number = isinstance(name, Number) and not isinstance(name, Integral)
        if name is None or number or isinstance(name, (bool, np.bool_)):
            raise TypeError(f"node ids must be whole numbers or names, got {name!r}")


def _unhashable(nodes: Iterable[Any]) -> Any:
    return next(node for node in nodes if not _is_hashable(node))


def _is_hashable(node: Any) -> bool:
    try:
        hash(node)
    except TypeError:
        return False
    return True
