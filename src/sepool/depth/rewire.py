"""Random graphs with the degrees of a given one: the null model."""

from __future__ import annotations

import numpy as np

from sepool.depth.code_length import Edges
from sepool.segments import Ints, pointers, sums

_ATTEMPTS = 6.0  # swaps an edge, each of two edges


def rewired(edges: Edges, inside: Ints, between: Ints | None, rng: np.random.Generator) -> Edges:
    """Return the graph after random swaps of edge ends that keep all degrees.

    Edges ``a-b`` and ``c-d`` of one cluster of ``inside`` become ``a-d`` and ``c-b``, unless that
    makes a loop or an edge that exists. With ``between`` the ends of all edges stay in different
    clusters of it. Weights go with one of their ends. All edges of ``edges`` take part.
    """
    from sepool import _core

    group = inside[edges.u]
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    u, v = _core.rewired(
        edges.u[order],
        edges.v[order],
        pointers(counts[counts > 0]),
        between,
        _ATTEMPTS,
        int(rng.integers(2**63)),
    )
    w, n = edges.w[order], edges.num_nodes
    degree = sums(u, w, n) + sums(v, w, n)
    loops = edges.degree - sums(edges.u, edges.w, n) - sums(edges.v, edges.w, n)
    return Edges(u, v, w, degree + loops)
