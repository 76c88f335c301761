"""Colours of nodes and edges: features as whole numbers, the same in any order of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sepool.segments import Ints, pointers


class Colours(NamedTuple):
    """Colours that order interchangeable nodes; None where all are alike.

    Attributes:
        nodes: one a node, graph after graph.
        arcs: one for every entry of the compressed rows.
    """

    nodes: Ints | None = None
    arcs: Ints | None = None


def rank_rows(rows: Any) -> Ints:
    """Rank of every row among the distinct rows, in lexicographic order.

    Args:
        rows: real numbers, one row or one number an entry; NaN ranks last.

    Example:
        >>> rank_rows([[1, 5], [0, 7], [1, 5], [1, 2]]).tolist()
        [2, 0, 2, 1]
    """
    array = np.asarray(rows)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected real numbers as colours or features, got {array.dtype}")
    if array.size == 0:  # no rows, or rows of no features
        return np.zeros(len(array), np.int64)
    keys = _sortable(array.reshape(len(array), -1))
    if keys.shape[1] > 1:  # bytes are compared from the first on: rows as numbers of many digits
        keys = keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1])))
    ranks: Ints = np.unique(keys.ravel(), return_inverse=True)[1].reshape(-1)
    return ranks.astype(np.int64, copy=False)


def rank_groups(group: Ints, values: Ints, size: int) -> Ints:
    """Rank of the sorted values of every group, by their number and lexicographically; 0 if empty.

    Args:
        group: the group of every value.
        values: whole numbers.
        size: the number of groups.

    Example:
        >>> rank_groups(np.array([0, 2, 2, 3, 3]), np.array([9, 1, 4, 4, 1]), 4).tolist()
        [1, 0, 2, 2]
    """
    order = np.lexsort((values, group))
    counts = np.bincount(group, minlength=size)
    start, ranks = pointers(counts), np.zeros(size, np.int64)
    base = 1
    for count in np.unique(counts[counts > 0]).tolist():
        members = np.flatnonzero(counts == count)
        inner = rank_rows(values[order[start[members][:, None] + np.arange(count)]])
        ranks[members] = base + inner
        base += int(inner.max()) + 1
    return ranks


def rank_pairs(first: Ints, second: Ints) -> Ints:
    """Rank of every pair of whole numbers.

    Example:
        >>> rank_pairs(np.array([1, 0, 1]), np.array([0, 5, 2])).tolist()
        [1, 0, 2]
    """
    return rank_rows(np.column_stack([first, second]))


def colours_of(arrays: Sequence[Any], nodes: Ints) -> Colours:
    """Return the colours of many graphs, checked.

    Args:
        arrays: for every graph an array of one colour, or one row of features, a node.
        nodes: the number of nodes of every graph.
    """
    if len(arrays) != len(nodes):
        raise ValueError(f"colours has {len(arrays)} entries for {len(nodes)} graphs")
    parts = []
    for i, (array, size) in enumerate(zip(arrays, nodes.tolist(), strict=True)):
        part = np.asarray(array)
        if part.ndim == 0 or len(part) != size:
            raise ValueError(
                f"graph {i}: expected one colour or row of features for each of its {size} nodes, "
                f"got an array of shape {part.shape}"
            )
        parts.append(part)
    return Colours(rank_parts(parts))


def rank_parts(parts: Sequence[NDArray[Any]]) -> Ints | None:
    """Rank the rows of several arrays, all at once where they have one width; None without any."""
    if not parts:
        return None
    if len({(part.shape[1:], part.dtype) for part in parts}) == 1:
        return rank_rows(np.concatenate(parts))
    return np.concatenate([rank_rows(part) for part in parts])  # only ranks in a graph are compared


def edge_colours(
    indptr: Ints, neighbors: Ints, row: Ints, col: Ints, values: Ints
) -> tuple[Ints, Ints | None]:
    """Colours of the entries of compressed rows by those of edges, and of nodes by self-loops.

    The colour of an entry stands for those of all edges between its nodes, in its own direction and
    in the other.

    Args:
        indptr: the rows.
        neighbors: the nodes in them.
        row: the first nodes of the edges.
        col: the second nodes of the edges.
        values: the colours of the edges.

    Returns:
        One colour an entry; one a node, or None without self-loops.
    """
    n, loop = len(indptr) - 1, row == col
    owner = np.repeat(np.arange(n), np.diff(indptr))
    place, edge = owner * n + neighbors, row[~loop] * n + col[~loop]
    entry = np.searchsorted(place, edge)
    listed = np.zeros(len(entry), np.bool_)
    if len(place):
        listed = place[np.minimum(entry, len(place) - 1)] == edge  # edges of weight 0 have none
    forward = rank_groups(entry[listed], values[~loop][listed], len(place))
    backward = np.empty_like(forward)
    backward[np.argsort(neighbors * n + owner)] = forward
    arcs = forward if np.array_equal(forward, backward) else rank_pairs(forward, backward)
    return arcs, rank_groups(row[loop], values[loop], n) if loop.any() else None


def _sortable(array: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in the same order whose bytes begin with the highest."""
    if array.dtype.kind in "bu":
        return np.ascontiguousarray(array, f">u{array.dtype.itemsize}")
    bits = 8 * array.dtype.itemsize
    if array.dtype.kind == "i":
        sign = np.array(1 << (bits - 1), f"u{bits // 8}")
        native = array.astype(f"i{bits // 8}", copy=False)
        return np.ascontiguousarray(native.view(sign.dtype) ^ sign, f">u{bits // 8}")
    bits = bits if bits == 32 else 64
    array = array.astype(f"f{bits // 8}", copy=False)
    number = np.where(np.isnan(array), array.dtype.type(np.nan), array) + array.dtype.type(0)
    code = np.ascontiguousarray(number).view(f"u{bits // 8}")  # -0 has become 0
    sign = np.array(1 << (bits - 1), code.dtype)
    return np.ascontiguousarray(np.where(code & sign, ~code, code | sign), f">u{bits // 8}")
