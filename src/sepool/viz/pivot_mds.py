"""Cells between a large cluster and its children, which bound the pairs a layout compares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.viz.coarse_graph import EdgeList

MAX_CELL = 48
NUM_PIVOTS = 16
MAX_HOPS = 200  # of a breadth-first search; enough to draw a path

Index = NDArray[np.int64]


def split_large(parent: NDArray[Any], edges: EdgeList, max_children: int) -> Index | None:
    """Return the cell of every node, None if no parent has too many children.

    Cells hold nodes few hops apart; a parent of few children has one cell.

    Example:
        >>> parent = np.array([0, 0, 1, 1, 1, 1])
        >>> edges = EdgeList(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        >>> split_large(parent, edges, max_children=4) is None
        True
    """
    large = np.flatnonzero(np.bincount(parent) > max_children)
    if not large.size:
        return None
    cell = np.zeros(len(parent), np.int64)
    inside = parent[edges.u] == parent[edges.v]
    u, v = edges.u[inside], edges.v[inside]
    for cluster in large:
        members, own = np.flatnonzero(parent == cluster), parent[u] == cluster
        a, b = np.searchsorted(members, u[own]), np.searchsorted(members, v[own])
        cell[members] = _bisect(_pivot_mds(len(members), a, b))
    _, cells = np.unique(parent * (int(cell.max()) + 1) + cell, return_inverse=True)
    return cells.astype(np.int64)


def _bisect(points: NDArray[np.float64]) -> Index:
    """Split points at the median of their longer side until every cell is small."""
    cell = np.zeros(len(points), np.int64)
    stack, num_cells = [np.arange(len(points))], 0
    while stack:
        members = stack.pop()
        if len(members) <= MAX_CELL:
            cell[members] = num_cells
            num_cells += 1
            continue
        axis = int(np.argmax(np.ptp(points[members], axis=0)))
        order = members[np.lexsort((members, points[members, axis]))]
        stack += [order[len(order) // 2 :], order[: len(order) // 2]]
    return cell


def _pivot_mds(count: int, u: Index, v: Index) -> NDArray[np.float64]:
    """Return two coordinates a node by pivot MDS (Brandes and Pich 2007)."""
    if not len(u):
        return np.column_stack([np.arange(count, dtype=float), np.zeros(count)])
    tails, heads = np.concatenate([u, v]), np.concatenate([v, u])
    neighbours = heads[np.argsort(tails, kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=count))])
    nearest = np.full(count, np.inf)
    columns = []
    pivot = int(np.argmax(np.diff(start)))
    for _ in range(min(NUM_PIVOTS, count)):
        columns.append(_hops(pivot, start, neighbours))
        nearest = np.minimum(nearest, columns[-1])
        pivot = int(np.argmax(nearest))
    squares = np.column_stack(columns) ** 2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    vectors = np.linalg.eigh(squares.T @ squares)[1][:, [-1, -2][: len(columns)]]
    return np.asarray(squares @ vectors, np.float64)


def _hops(root: int, start: Index, neighbours: Index) -> NDArray[np.float64]:
    """Return the hops from the root to every node by breadth-first search."""
    hops = np.full(len(start) - 1, -1, np.int64)
    hops[root] = 0
    frontier = np.array([root])
    for distance in range(1, MAX_HOPS):
        degrees = start[frontier + 1] - start[frontier]
        first = np.repeat(start[frontier] - (np.cumsum(degrees) - degrees), degrees)
        near = neighbours[first + np.arange(int(degrees.sum()))]
        frontier = np.unique(near[hops[near] < 0])
        if not len(frontier):
            break
        hops[frontier] = distance
    hops[hops < 0] = hops.max() + 2
    return hops.astype(np.float64)
