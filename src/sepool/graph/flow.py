"""Stationary flows of a random walk on a directed graph, as an undirected weighted graph."""

from __future__ import annotations

import numpy as np

from sepool.graph.edges import Edges
from sepool.segments import Floats, Ints, sums

_MOST_STEPS = 1_000
_PRECISION = 1e-15  # change of the visit rates at which the walk is stationary
_BITS = 32  # of a mean flow: rounding of visit rates stays below a unit


def undirected_flow(arcs: Edges, teleport: float) -> Edges:
    """Return the edges whose weights are the flows of a random walk in both directions.

    The walk follows arcs in proportion to their weights; with probability ``teleport``, and from
    nodes without outgoing arcs, it goes on at the start of a random arc. These jumps are not
    counted: flows are those of one more step without them, as in Infomap (Lambiotte and Rosvall
    2012). Coding trees of these edges are those of the directed graph.
    """
    u, v = arcs.u.astype(np.int64), arcs.v.astype(np.int64)
    w = np.ones(len(u)) if arcs.w is None else arcs.w
    if arcs.both or len(u) == 0 or _symmetric(u, v, w, arcs.num_nodes):
        return arcs if arcs.both else arcs._replace(both=True)
    out = sums(u, w, arcs.num_nodes)
    rate = _visit_rates(u, v, w, out, teleport)
    flow = rate[u] * np.divide(w, out[u], out=np.zeros_like(w), where=out[u] > 0)
    bits = min(_BITS, 60 - int(np.ceil(np.log2(len(u)))))
    weights = np.rint(flow / flow.sum() * len(u) * 2.0**bits)
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
        rate = after
    return rate


def _symmetric(u: Ints, v: Ints, w: Floats, num_nodes: int) -> bool:
    """Return True if every arc has one of the same weight in the other direction."""

    def table(a: Ints, b: Ints) -> tuple[Ints, Floats]:
        keys, slot = np.unique(a * num_nodes + b, return_inverse=True)
        return keys, sums(slot, w, len(keys))

    (ahead, one), (back, other) = table(u, v), table(v, u)
    return bool(np.array_equal(ahead, back) and np.array_equal(one, other))


def checked_teleport(teleport: float) -> float:
    """Return the probability of a jump, if it is one."""
    if isinstance(teleport, bool) or not isinstance(teleport, (int, float)):
        raise TypeError(f"teleport must be a number, got {teleport!r}")
    if not 0 <= teleport <= 1:
        raise ValueError(f"teleport must be a probability, 0 to 1, got {teleport}")
    return float(teleport)
