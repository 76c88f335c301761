"""Edges in few bytes: every undirected edge once, as the gap to the neighbour listed before it.

A list of edges is plain if it is sorted by row and column, without repeats, and lists every edge in
both directions, as PyG's datasets do. Of a plain list the upper triangle is enough: how many
neighbours with no lower number every node has, and the gaps between these neighbours. Cliques are
then runs of zeros. All other lists are kept as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import ArchiveError, Arrays
from sepool.graph.edges import pointers
from sepool.pyg.packing import EdgeBlocks, Ints, runs


def encode_edges(nodes: Ints, edges: EdgeBlocks) -> Arrays:
    """The edges of many graphs as the arrays of a file; weights are not among them.

    Example:
        >>> triangle = np.array([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]])
        >>> encode_edges(np.array([3]), EdgeBlocks(np.array([6]), *triangle))["gaps"]
        array([1, 0, 1])
    """
    found: dict[str, list[NDArray[Any]]] = {}
    for graphs, part in runs(edges.counts):
        some = EdgeBlocks(edges.counts[graphs], edges.row[part], edges.col[part])
        for name, array in _encode(nodes[graphs], some).items():
            found.setdefault(name, []).append(array)
    joined = {name: np.concatenate(arrays, axis=-1) for name, arrays in found.items()}
    return {"edge_counts": edges.counts, **joined}


def decode_edges(arrays: Arrays, nodes: Ints) -> tuple[Ints, Ints]:
    """The numbers of edges, and the rows and columns, that `encode_edges` was given.

    Raises:
        ArchiveError: the arrays do not fit together.

    Example:
        >>> pair = EdgeBlocks(np.array([2]), np.array([0, 1]), np.array([1, 0]))
        >>> decode_edges(encode_edges(np.array([2]), pair), np.array([2]))[1]
        array([[0, 1],
               [1, 0]])
    """
    counts, plain = arrays["edge_counts"].astype(np.int64), arrays["plain"].astype(np.bool_)
    degrees, gaps, other = (arrays[name] for name in ("degrees", "gaps", "other_edges"))
    if len(degrees) != nodes.sum() or degrees.sum(dtype=np.int64) != len(gaps):
        raise ArchiveError("the edges do not fit the nodes")
    if other.shape != (2, int(counts[~plain].sum())):
        raise ArchiveError("the number of edges is wrong")
    ends = np.empty((2, int(counts.sum())), np.int64)
    at = seen = 0
    first = pointers(nodes)
    for graphs, part in runs(counts):
        some = degrees[first[graphs.start] : first[graphs.stop]].astype(np.int64)
        after = at + int(some.sum())
        row, col = _decode(some, gaps[at:after].astype(np.int64), nodes[graphs])
        kept = np.repeat(~plain[graphs], counts[graphs])
        left = int(kept.sum())
        if len(row) != len(kept) - left:
            raise ArchiveError("the number of edges is wrong")
        ends[:, part][:, ~kept] = row, col
        ends[:, part][:, kept] = other[:, seen : seen + left]
        at, seen = after, seen + left
        _check_ends(nodes[graphs], counts[graphs], ends[:, part], ArchiveError)
    return counts, ends


def _encode(nodes: Ints, edges: EdgeBlocks) -> Arrays:
    _check_ends(nodes, edges.counts, np.stack([edges.row, edges.col]), ValueError)
    start = np.repeat(pointers(nodes)[:-1], edges.counts)
    row, col, n = edges.row + start, edges.col + start, int(nodes.sum())
    plain = _plain(row * n + col, col * n + row, edges.counts)
    kept = np.repeat(~plain, edges.counts)
    upper = (row <= col) & ~kept
    row, col = row[upper], col[upper]
    gaps = col - row
    new = np.diff(row, prepend=-1) > 0
    gaps[~new] = np.diff(col, prepend=0)[~new] - 1
    return {
        "plain": plain,
        "degrees": np.bincount(row, minlength=n),
        "gaps": gaps,
        "other_edges": np.stack([edges.row[kept], edges.col[kept]]),
    }


def _decode(degrees: Ints, gaps: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Rows and columns, local to their graphs, of plain lists."""
    n, ptr = len(degrees), pointers(degrees)
    row = np.repeat(np.arange(n), degrees)
    gaps[np.diff(row, prepend=-1) == 0] += 1
    total = np.concatenate([[0], np.cumsum(gaps)])
    col = total[1:] + (np.arange(n) - total[ptr[:-1]])[row]
    if len(col) and (col.max() >= n or col.min() < 0):
        raise ArchiveError("an edge leaves its graph")
    # Every row lists first its lower neighbours, which are the columns turned round.
    low, high = row[row != col], col[row != col]
    order = np.argsort(high.astype(np.min_scalar_type(n)), kind="stable")
    lower = np.bincount(high, minlength=n)
    begin = pointers(lower + degrees)
    ends = np.empty(begin[-1], np.int64)
    ends[np.arange(len(col)) + (begin[:-1] + lower - ptr[:-1])[row]] = col
    high, low = high[order], low[order]
    ends[np.arange(len(low)) + (begin[:-1] - pointers(lower)[:-1])[high]] = low
    shift = np.repeat(pointers(nodes)[:-1], nodes)
    lengths = np.diff(begin)
    return np.repeat(np.arange(n) - shift, lengths), ends - np.repeat(shift, lengths)


def _check_ends(nodes: Ints, counts: Ints, ends: Ints, error: type[ValueError]) -> None:
    if ends.size and (ends.min() < 0 or (ends >= np.repeat(nodes, counts)).any()):
        raise error("an edge leaves its graph: a node's number is too high, or below 0")


def _plain(there: Ints, back: Ints, counts: Ints) -> NDArray[np.bool_]:
    """Which graphs list their edges in order, once, and in both directions."""
    falls = np.flatnonzero(there[1:] <= there[:-1]) + 1
    back.sort()  # graphs keep their places
    broken = np.concatenate([falls, np.flatnonzero(back != there)])
    plain = np.ones(len(counts), np.bool_)
    plain[np.searchsorted(pointers(counts), broken, side="right") - 1] = False
    return plain
