"""Cells between a cluster and its many children, so that a layout never compares all with all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.viz.coarse import Links

CELL = 48
PIVOTS = 16
FARTHEST = 200  # hops after which a search gives up: a path is drawn well enough by then

Index = NDArray[np.int64]


def split_crowds(parent: NDArray[Any], links: Links, most: int) -> Index | None:
    """The cell of every node, where a parent has too many children; None if no parent has.

    Cells hold nodes that are few hops apart; other parents keep one cell.

    Example:
        >>> parent = np.array([0, 0, 1, 1, 1, 1])
        >>> nothing = Links(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        >>> split_crowds(parent, nothing, most=4) is None
        True
    """
    sizes = np.bincount(parent)
    crowds = np.flatnonzero(sizes > most)
    if not crowds.size:
        return None
    cell = np.zeros(len(parent), np.int64)
    inside = parent[links.u] == parent[links.v]
    u, v = links.u[inside], links.v[inside]
    home = parent[u]
    for crowd in crowds:
        members = np.flatnonzero(parent == crowd)
        mine = home == crowd
        a, b = np.searchsorted(members, u[mine]), np.searchsorted(members, v[mine])
        cell[members] = _halves(_spectrum(len(members), a, b), CELL)
    _, cells = np.unique(parent * (int(cell.max()) + 1) + cell, return_inverse=True)
    return cells.astype(np.int64)


def _halves(place: NDArray[np.float64], most: int) -> Index:
    """Cuts points in half along their longer side until few are left together."""
    cell = np.zeros(len(place), np.int64)
    waiting, cells = [np.arange(len(place))], 0
    while waiting:
        points = waiting.pop()
        if len(points) <= most:
            cell[points] = cells
            cells += 1
            continue
        box = place[points]
        axis = int(np.argmax(box.max(axis=0) - box.min(axis=0)))
        order = points[np.lexsort((points, box[:, axis]))]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return cell


def _spectrum(count: int, u: Index, v: Index) -> NDArray[np.float64]:
    """Two coordinates a node from its hops to a few pivots (pivot MDS, Brandes and Pich 2007)."""
    if not len(u):
        return np.column_stack([np.arange(count, dtype=float), np.zeros(count)])
    ends, others = np.concatenate([u, v]), np.concatenate([v, u])
    order = np.argsort(ends, kind="stable")
    neighbours = others[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=count))])
    nearest = np.full(count, np.inf)
    columns = []
    pivot = int(np.argmax(np.diff(start)))
    for _ in range(min(PIVOTS, count)):
        hops = _hops(pivot, start, neighbours)
        columns.append(hops)
        nearest = np.minimum(nearest, hops)
        pivot = int(np.argmax(nearest))
    squares = np.column_stack(columns) ** 2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    vectors = np.linalg.eigh(squares.T @ squares)[1][:, [-1, -2][: len(columns)]]
    return np.asarray(squares @ vectors, np.float64)


def _hops(source: int, start: Index, neighbours: Index) -> NDArray[np.float64]:
    """How many edges away every node is."""
    count = len(start) - 1
    hops = np.full(count, -1, np.int64)
    hops[source] = 0
    front = np.array([source])
    for distance in range(1, FARTHEST):
        lengths = start[front + 1] - start[front]
        first = np.repeat(start[front] - (np.cumsum(lengths) - lengths), lengths)
        near = neighbours[first + np.arange(int(lengths.sum()))]
        front = np.unique(near[hops[near] < 0])
        if not len(front):
            break
        hops[front] = distance
    hops[hops < 0] = hops.max() + 2
    return hops.astype(np.float64)
