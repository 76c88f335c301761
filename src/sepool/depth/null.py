"""Comparison of a graph with rewired graphs of the same degrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.depth.code_length import Edges
from sepool.depth.rewire import rewired
from sepool.depth.student import p_values
from sepool.graph.batch import GraphBatch
from sepool.graph.edges import sorted_rows
from sepool.segments import Floats, Ints, pointers
from sepool.tree_batch import build_batch

_LEVEL = 1e-3  # of the test
_TESTS = ((1_000, 200), (100_000, 20))  # edges, and the number of rewired graphs up to them
_FEWEST = 5


def has_clusters(edges: Edges, components: Ints, options: dict[str, Any]) -> bool:
    """Return True if clusters save more bits than in rewired graphs, searched as hard.

    Components are rewired for themselves. The edges of a weighted graph are tested without their
    weights, too.
    """
    if np.ptp(edges.w) == 0:
        return _saves_more(edges, components, options, _LEVEL)
    plain = edges.without_weights()
    return any(_saves_more(some, components, options, _LEVEL / 2) for some in (edges, plain))


def _saves_more(edges: Edges, components: Ints, options: dict[str, Any], level: float) -> bool:
    """Return the outcome of the test; stops early where the rewired graphs save as much."""
    count = next((count for most, count in _TESTS if len(edges.u) <= most), _FEWEST)
    rng = np.random.default_rng(options["seed"])
    observed = flat_gains([edges], options)
    gains = np.empty((0, 1))
    while len(gains) < count:
        step = min(max(2, count // 10), count - len(gains))
        graphs = [rewired(edges, components, None, rng) for _ in range(step)]
        gains = np.concatenate([gains, flat_gains(graphs, options)[:, None]])
        if observed[0] <= gains.mean():
            return False
    return bool(p_values(observed, gains)[0] < level)


def flat_gains(graphs: list[Edges], options: dict[str, Any]) -> Floats:
    """Return the bits that the best flat clusters save in each of several graphs."""
    nodes = pointers([edges.num_nodes for edges in graphs])
    ends = pointers([len(edges.u) for edges in graphs])
    u = np.concatenate([edges.u for edges in graphs])
    v = np.concatenate([edges.v for edges in graphs])
    w = np.concatenate([edges.w for edges in graphs])
    weights = None if np.all(w == 1) else w
    return gains_of_batch(
        GraphBatch(nodes, *sorted_rows(nodes, ends, u, v, weights, False, False)), options
    )


def gains_of_batch(batch: GraphBatch, options: dict[str, Any]) -> Floats:
    """Return the bits that the best flat clusters save in each graph of a batch."""
    without, with_clusters = (
        build_batch(batch, {**options, "height": height, "progress": None}).entropy
        for height in (1, 2)
    )
    return without - with_clusters
