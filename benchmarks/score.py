"""Structural entropy of nested clusterings, many graphs at once, in plain NumPy.

One evaluator judges every method, sepool's own trees included. It follows the definition,
H = sum over tree nodes below the root of g/V * log2(v_parent / v), and shares no code with sepool.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from graphs import Edges, FloatArray, IntArray

Levels = list[IntArray]  # the cluster of every node, finest level first


def entropies(graphs: Sequence[Edges], hierarchies: Sequence[Levels]) -> FloatArray:
    """H in bits of every graph under its hierarchy; hierarchies must be equally high and nested."""
    owner = np.repeat(np.arange(len(graphs)), [graph.num_nodes for graph in graphs])
    shift = np.cumsum([0] + [graph.num_nodes for graph in graphs])
    u, v = np.concatenate([g.pairs + s for g, s in zip(graphs, shift, strict=False)]).T
    w = np.concatenate([np.ones(len(g.pairs)) if g.weights is None else g.weights for g in graphs])
    volume = _sums(u, w, len(owner)) + _sums(v, w, len(owner))
    total = np.bincount(owner, volume, len(graphs))

    result = np.zeros(len(graphs))
    node = np.arange(len(owner))  # the tree node above every graph node, level by level
    node_volume, node_cut = volume, volume
    for level in range(len(hierarchies[0]) + 1):
        if level < len(hierarchies[0]):
            raw = np.concatenate([levels[level] for levels in hierarchies])
            parent = np.unique(owner * (raw.max() + 1) + raw, return_inverse=True)[1]
        else:
            parent = owner
        count = int(parent.max()) + 1
        parent_volume = _sums(parent, volume, count)
        up = np.full(len(node_volume), -1)
        up[node] = parent
        if not np.array_equal(up[node], parent):
            raise ValueError(f"level {level + 1} is not nested: it splits a cluster below it")
        home = np.zeros(len(node_volume), np.int64)
        home[node] = owner
        with np.errstate(divide="ignore", invalid="ignore"):
            term = node_cut / total[home] * np.log2(parent_volume[up] / node_volume)
        result += np.bincount(home, np.where(node_cut > 0, term, 0.0), len(graphs))
        crossing = parent[u] != parent[v]
        node, node_volume = parent, parent_volume
        node_cut = _sums(parent[u][crossing], w[crossing], count)
        node_cut += _sums(parent[v][crossing], w[crossing], count)
    return result


def entropy(graph: Edges, levels: Levels) -> float:
    """H in bits of one graph under nested labels."""
    return float(entropies([graph], [levels])[0])


def fit_height(graph: Edges, levels: Levels, height: int) -> Levels:
    """A peer's hierarchy as a tree of ``height``: the levels that score least, repeated to fill up.

    Dropping a level never lowers H and repeating one changes nothing, so this is the kindest cut.
    """
    wanted = height - 1
    if len(levels) > wanted:
        cuts = [list(cut) for cut in combinations(levels, wanted)]
        levels = min(cuts, key=lambda cut: entropy(graph, cut))
    return levels + levels[-1:] * (wanted - len(levels))


def _sums(index: IntArray, weights: FloatArray, length: int) -> FloatArray:
    return np.bincount(index, weights, length).astype(np.float64, copy=False)
