"""Stationary flows of a random walk on a directed graph, as an undirected weighted graph."""

from __future__ import annotations

from numbers import Real

import numpy as np

from sepool.graph.edges import Edges
from sepool.segments import Floats, Ints, sums

_MOST_STEPS = 10_000
_LAZY = 0.01  # teleport below which the walk may stay where it is, since it may be periodic
_PRECISION = 1e-15  # change of the visit rates at which the walk is stationary
_BITS = 32  # of a mean flow: rounding of visit rates stays below a unit


def undirected_flow(arcs: Edges, teleport: float) -> Edges:
    """Return the edges whose weights are the flows of a random walk in both directions.

    The walk follows arcs in proportion to their weights; with probability ``teleport``, and from
    nodes without outgoing arcs, it goes on at the start of an arc drawn in proportion to its
    weight. These jumps are not counted: flows are those of one more step without them, as in
    Infomap (Lambiotte and Rosvall 2012). Where every node has as much inflow as outflow, as
    without jumps, coding trees of these edges are those of the directed graph; otherwise those of
    the flow in both directions.

    Raises:
        ValueError: the walk does not become stationary.
    """
    u, v = arcs.u.astype(np.int64), arcs.v.astype(np.int64)
    w = np.ones(len(u)) if arcs.w is None else arcs.w
    if arcs.both or not (np.isfinite(w).all() and w.min(initial=0) >= 0 and w.max(initial=0) > 0):
        return arcs  # undirected; or weights that are refused, or no edges, when the graph is built
    if _symmetric(u, v, w, arcs.num_nodes):
        return arcs._replace(both=True)
    w = w / w.max()
    out = sums(u, w, arcs.num_nodes)
    rate = _visit_rates(u, v, w, out, teleport)
    flow = rate[u] * np.divide(w, out[u], out=np.zeros_like(w), where=out[u] > 0)
    bits = min(_BITS, 60 - int(np.ceil(np.log2(len(u)))))
    weights = np.rint(flow / flow.sum() * len(u) * 2.0**bits) / 2.0**bits  # 1 is the mean flow
    return arcs._replace(w=weights, both=False)


def _visit_rates(
    u: Ints,
    v: Ints,
    w: Floats,
    out: Floats,
    teleport: float,
) -> Floats:
    """Return the stationary distribution of the walk with teleports, by power iteration."""
    start: Floats = out / out.sum()
    share = np.divide(1.0, out, out=np.zeros_like(out), where=out > 0)
    rate = start
    for _ in range(_MOST_STEPS):
        walked = (1 - teleport) * sums(v, (rate * share)[u] * w, len(out))
        after: Floats = walked + (1 - walked.sum()) * start
        if np.abs(after - rate).sum() < _PRECISION * len(out):
            return after
        # A walk that may stay has the same stationary rates, and no period.
        rate = (rate + after) / 2 if teleport < _LAZY else after
    raise ValueError(
        f"the walk along the arcs is not stationary after {_MOST_STEPS:,} steps; choose a teleport "
        f"above {teleport:g}"
    )


def _symmetric(u: Ints, v: Ints, w: Floats, num_nodes: int) -> bool:
    """Return True if every arc has one of the same weight in the other direction."""

    def table(a: Ints, b: Ints) -> tuple[Ints, Floats]:
        keys, slot = np.unique(a * num_nodes + b, return_inverse=True)
        return keys, sums(slot, w, len(keys))

    (ahead, one), (back, other) = table(u, v), table(v, u)
    return bool(np.array_equal(ahead, back) and np.array_equal(one, other))


def checked_teleport(teleport: float) -> float:
    """Return the probability of a jump, if it is one."""
    if isinstance(teleport, (bool, np.bool_)) or not isinstance(teleport, Real):
        raise TypeError(f"teleport must be a number, got {teleport!r}")
    if not 0 <= teleport <= 1:
        raise ValueError(f"teleport must be a probability, 0 to 1, got {teleport}")
    return float(teleport)
