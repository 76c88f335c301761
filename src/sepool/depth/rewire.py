"""Random graphs with the degrees of a given one: the null model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sepool.depth.code_length import Edges
from sepool.segments import Ints

_ROUNDS = 12  # of swaps of all edges in pairs


def rewired(edges: Edges, inside: Ints, between: Ints | None, rng: np.random.Generator) -> Edges:
    """Return the graph after random swaps of edge ends that keep all degrees.

    Edges ``a-b`` and ``c-d`` of one cluster of ``inside`` become ``a-d`` and ``c-b``, unless that
    makes a loop or an edge that exists. With ``between`` the ends of all edges stay in different
    clusters of it. Weights go with the first end. All edges of ``edges`` take part.
    """
    n, m = edges.num_nodes, len(edges.u)
    u, v = edges.u.astype(np.int64), edges.v.astype(np.int64)
    group = inside[edges.u]
    for _ in range(_ROUNDS):
        turn = rng.random(m) < 0.5
        u, v = np.where(turn, v, u), np.where(turn, u, v)
        order = np.argsort(group + rng.random(m), kind="stable")
        first, second = _pairs(
            order[rng.integers(2) :], group
        )  # not always the same edge left over
        a, b, c, d = u[first], v[first], u[second], v[second]
        valid = (a != d) & (c != b)
        if between is not None:
            valid &= (between[a] != between[d]) & (between[c] != between[b])
        keys = np.concatenate([_key(a, d, n), _key(c, b, n)])
        present = np.sort(_key(u, v, n))
        at = np.minimum(np.searchsorted(present, keys), m - 1) if m else keys
        fresh = present[at] != keys if m else keys > 0
        _, index, counts = np.unique(keys, return_inverse=True, return_counts=True)
        fresh &= counts[index] == 1
        half = len(first)
        valid &= fresh[:half] & fresh[half:]
        v[first[valid]], v[second[valid]] = d[valid], b[valid]
    degree = np.bincount(u, edges.w, n) + np.bincount(v, edges.w, n)
    loops = edges.degree - np.bincount(edges.u, edges.w, n) - np.bincount(edges.v, edges.w, n)
    return Edges(u.astype(np.int32), v.astype(np.int32), edges.w, degree + loops)


def _pairs(order: Ints, group: Ints) -> tuple[Ints, Ints]:
    """Return neighbours in the order that are of one group, every edge once at most."""
    even = len(order) // 2 * 2
    first, second = order[:even:2], order[1:even:2]
    same = group[first] == group[second]
    return first[same], second[same]


def _key(a: Ints, b: Ints, n: int) -> NDArray[np.int64]:
    return np.minimum(a, b) * n + np.maximum(a, b)
