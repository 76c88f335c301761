"""Graphs of nodes and groups of nodes in memory, and the search of their flat clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import sorted_rows
from sepool.large.engine import Engine

IntArray = NDArray[np.int64]
Ends = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]


@dataclass(frozen=True)
class Contracted:
    """Groups of nodes of a graph and the edges between them.

    Edges that are left out between two groups count in their volumes. Sums of weights are below
    2^51, so that doubles hold them exactly.

    Attributes:
        ends: both ends, as positions, and the weight of every edge.
        volume: of every group.
        inner: weight of the edges inside every group.
    """

    ends: Ends
    volume: IntArray
    inner: IntArray

    def clusters(self, threads: int) -> IntArray:
        """Return labels of low entropy at height 2."""
        from sepool import _core

        u, v, w = self.ends
        sizes = np.array([0, len(self.volume)]), np.array([0, len(u)])
        rows = sorted_rows(*sizes, u, v, w, both=False, self_loops=False, num_threads=threads)
        indptr, indices, weights, _, unit = rows
        weights = np.ones(len(indices), np.int64) if weights is None else weights
        weights *= round(float(unit[0]))
        loops = self.volume - np.diff(np.concatenate([[0], np.cumsum(weights)])[indptr])
        labels = _core.cluster_contracted(
            indptr, indices, weights, loops, self.inner, seed=0, num_threads=threads, progress=None
        )
        return labels.astype(np.int64)

    def sums(self, labels: IntArray, count: int) -> tuple[IntArray, IntArray]:
        """Return the volume of every cluster and the weight inside."""
        u, v, w = self.ends
        same = labels[u] == labels[v]
        inside = totals(labels[u[same]], w[same], count) + totals(labels, self.inner, count)
        return totals(labels, self.volume, count), inside

    def cost(self, labels: IntArray) -> float:
        """Return the entropy at height 2 times half the volume, but for a constant."""
        volume, inside = self.sums(labels, int(labels.max()) + 1)
        some = volume > 0
        return float(np.sum(inside[some] * np.log2(volume[some] / self.volume.sum())))


def totals(labels: NDArray[Any], values: NDArray[Any], count: int) -> IntArray:
    """Return the sum of the values of every label."""
    return np.bincount(labels, values, count).astype(np.int64)


def read_ends(engine: Engine, sql: str, first: IntArray, second: IntArray) -> Ends:
    """Return the rows of a query of two ids and a weight, with the places of the ids."""
    parts = [
        (
            np.searchsorted(first, a).astype(np.int32),
            np.searchsorted(second, b).astype(np.int32),
            w.astype(np.float64),
        )
        for a, b, w in (rows.values() for rows in engine.stream(sql))
    ]
    u, v, w = (list(column) for column in zip(*parts, strict=True)) if parts else ([], [], [])
    empty = np.empty(0, np.int32)
    return (
        np.concatenate([empty, *u]),
        np.concatenate([empty, *v]),
        np.concatenate([np.empty(0), *w]),
    )


def read_contracted(engine: Engine, edges: str, labels: str) -> tuple[Contracted, IntArray]:
    """Return the graph of two tables and the ids of its nodes."""
    nodes = engine.arrays(f"SELECT id, volume, degree FROM {labels} ORDER BY id")
    ids = nodes["id"]
    ends = read_ends(engine, f"SELECT u, v, w FROM {edges}", ids, ids)
    return Contracted(ends, nodes["volume"], (nodes["volume"] - nodes["degree"]) // 2), ids
