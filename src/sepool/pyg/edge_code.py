"""Compact edge lists: every undirected edge once, as the gap to the neighbour listed before it.

A list is plain if it is sorted by row and column, has no repeats, and lists every edge in both
directions, as the datasets of PyG do. Of a plain list the upper triangle is stored: the number of
neighbours of every node that are not lower, and the gaps between them, which are runs of zeros in
cliques. Other lists are stored as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.files.archive import ArchiveError, Arrays
from sepool.pyg.format import EdgeBlocks
from sepool.segments import Ints, pointers, runs


def encode_edges(nodes: Ints, edges: EdgeBlocks) -> Arrays:
    """Return the edges of many graphs, without weights, as the arrays of a file."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for graphs, part in runs(edges.counts):
        run = EdgeBlocks(edges.counts[graphs], edges.row[part], edges.col[part])
        for name, array in _encode(nodes[graphs], run).items():
            parts.setdefault(name, []).append(array)
    joined = {name: np.concatenate(arrays, axis=-1) for name, arrays in parts.items()}
    return {"edge_counts": edges.counts, **joined}


def decode_edges(arrays: Arrays, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of edges, and rows and columns, from the result of `encode_edges`.

    Raises:
        ArchiveError: the arrays do not fit together.
    """
    counts, plain = arrays["edge_counts"].astype(np.int64), arrays["plain"].astype(np.bool_)
    degrees, gaps, other = (arrays[name] for name in ("degrees", "gaps", "other_edges"))
    if len(degrees) != nodes.sum() or degrees.sum(dtype=np.int64) != len(gaps):
        raise ArchiveError("the edges do not fit the nodes")
    if other.shape != (2, int(counts[~plain].sum())):
        raise ArchiveError("the number of edges is wrong")
    edges = np.empty((2, int(counts.sum())), np.int64)
    first_gap = first_other = 0
    node_ptr = pointers(nodes)
    for graphs, part in runs(counts):
        degree = degrees[node_ptr[graphs.start] : node_ptr[graphs.stop]].astype(np.int64)
        last_gap = first_gap + int(degree.sum())
        row, col = _decode(degree, gaps[first_gap:last_gap].astype(np.int64), nodes[graphs])
        is_other = np.repeat(~plain[graphs], counts[graphs])
        last_other = first_other + int(is_other.sum())
        if len(row) != len(is_other) - (last_other - first_other):
            raise ArchiveError("the number of edges is wrong")
        edges[:, part][:, ~is_other] = row, col
        edges[:, part][:, is_other] = other[:, first_other:last_other]
        first_gap, first_other = last_gap, last_other
        _check_edges(nodes[graphs], counts[graphs], edges[:, part], ArchiveError)
    return counts, edges


def _encode(nodes: Ints, edges: EdgeBlocks) -> Arrays:
    _check_edges(nodes, edges.counts, np.stack([edges.row, edges.col]), ValueError)
    start = np.repeat(pointers(nodes)[:-1], edges.counts)
    row, col, n = edges.row + start, edges.col + start, int(nodes.sum())
    plain = _plain(row * n + col, col * n + row, edges.counts)
    is_other = np.repeat(~plain, edges.counts)
    upper = (row <= col) & ~is_other
    row, col = row[upper], col[upper]
    gaps = col - row
    first = np.diff(row, prepend=-1) > 0
    gaps[~first] = np.diff(col, prepend=0)[~first] - 1
    return {
        "plain": plain,
        "degrees": np.bincount(row, minlength=n),
        "gaps": gaps,
        "other_edges": np.stack([edges.row[is_other], edges.col[is_other]]),
    }


def _decode(degrees: Ints, gaps: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Return rows and columns, local to their graphs, of plain lists."""
    n, ptr = len(degrees), pointers(degrees)
    row = np.repeat(np.arange(n), degrees)
    gaps[np.diff(row, prepend=-1) == 0] += 1
    total = np.concatenate([[0], np.cumsum(gaps)])
    col = total[1:] + (np.arange(n) - total[ptr[:-1]])[row]
    if len(col) and (col.max() >= n or col.min() < 0):
        raise ArchiveError("an edge leaves its graph")
    # A row lists its lower neighbours first: the transpose of the upper triangle.
    low, high = row[row != col], col[row != col]
    order = np.argsort(high.astype(np.min_scalar_type(n)), kind="stable")
    lower = np.bincount(high, minlength=n)
    full_ptr = pointers(lower + degrees)
    columns = np.empty(full_ptr[-1], np.int64)
    columns[np.arange(len(col)) + (full_ptr[:-1] + lower - ptr[:-1])[row]] = col
    high, low = high[order], low[order]
    columns[np.arange(len(low)) + (full_ptr[:-1] - pointers(lower)[:-1])[high]] = low
    shift = np.repeat(pointers(nodes)[:-1], nodes)
    lengths = np.diff(full_ptr)
    return np.repeat(np.arange(n) - shift, lengths), columns - np.repeat(shift, lengths)


def _check_edges(nodes: Ints, counts: Ints, edges: Ints, error: type[ValueError]) -> None:
    if edges.size and (edges.min() < 0 or (edges >= np.repeat(nodes, counts)).any()):
        raise error("an edge leaves its graph: the number of a node is too high, or below 0")


def _plain(forward: Ints, backward: Ints, counts: Ints) -> NDArray[np.bool_]:
    """Test for every graph that its list is plain; ``backward`` is overwritten."""
    descents = np.flatnonzero(forward[1:] <= forward[:-1]) + 1
    backward.sort()  # edges stay within their graph
    violations = np.concatenate([descents, np.flatnonzero(backward != forward)])
    plain = np.ones(len(counts), np.bool_)
    plain[np.searchsorted(pointers(counts), violations, side="right") - 1] = False
    return plain
