"""Stage 1: MERGE."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from math import log2
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepool import _core

from . import shapes
from .reference import PlainGraph

LINKAGES = ["gain", "relative"]


class Replay:
    """Clusters, weights and positions of their pairs, and MERGE; keys as the core rounds them."""

    def __init__(self, indptr, indices, weights, loops) -> None:
        n = len(indptr) - 1
        self.links: dict[int, dict[int, int]] = defaultdict(dict)
        for u, (start, stop) in enumerate(pairwise(indptr.tolist())):
            for e in range(start, stop):
                self.links[u][int(indices[e])] = 1 if weights is None else int(weights[e])
        pairs = sorted((u, v) for u in range(n) for v in self.links[u] if u < v)
        self.position = {frozenset(pair): i for i, pair in enumerate(pairs)}
        self.volume = {u: sum(self.links[u].values()) for u in range(n)}
        if loops is not None:
            self.volume = {u: v + int(loops[u]) for u, v in self.volume.items()}
        self.total = sum(self.volume.values())
        self.logs: dict[int, float] = {}

    def key(self, linkage: str, a: int, b: int) -> float:
        """The gain of MERGE(a, b) in bits, for `relative` over the smaller share of the volume."""
        joint = self.volume[a] + self.volume[b]
        gain = 2 * self.links[a][b] / self.total * log2(self.total / joint)
        share = min(self.volume[a], self.volume[b]) / self.total
        return gain if linkage == "gain" else gain / share

    def rank(self, linkage: str, a: int, b: int) -> tuple[float, int]:
        """The key in the core's own arithmetic, and minus the position of the pair's first edge."""
        joint, smaller = self.volume[a] + self.volume[b], min(self.volume[a], self.volume[b])
        factor = self.links[a][b] / (1 if linkage == "gain" else smaller)
        key = factor * (self.log2(self.total) - self.log2(joint))
        return key, -self.position[frozenset((a, b))]

    def first(self, linkage: str) -> tuple[float, int]:
        """The rank of the pair to merge: the largest key, the lowest position of several."""
        return max(self.rank(linkage, a, b) for a in self.links for b in self.links[a] if a < b)

    def log2(self, volume: int) -> float:
        if volume not in self.logs:
            self.logs[volume] = float(_core.log2(np.array([volume]))[0])
        return self.logs[volume]

    def merge(self, a: int, b: int, new: int) -> None:
        self.volume[new] = self.volume.pop(a) + self.volume.pop(b)
        for old in (a, b):
            for other, c in self.links.pop(old).items():
                if other in (a, b):
                    continue
                del self.links[other][old]
                place, pair = self.position.pop(frozenset((other, old))), frozenset((other, new))
                self.position[pair] = min(self.position.get(pair, place), place)
                self.links[new][other] = self.links[new].get(other, 0) + c
                self.links[other][new] = self.links[new][other]


def replay(rows, linkage: str) -> None:
    """Every merge joins two present clusters, by the weight between them, and no pair comes before.

    That holds to the last bit and for all ties, with or without the code for small graphs.
    """
    parent, volume, cut = (array.tolist() for array in _core.merge_tree(*rows, linkage))
    state, n = Replay(*rows), len(rows[0]) - 1
    children = defaultdict(list)
    for t, p in enumerate(parent[:-1]):
        assert t < p
        children[p].append(t)
    assert volume[:n] == list(state.volume.values())
    assert not any(cut[:n])
    t = n
    while any(state.links.values()):
        a, b = children[t]
        assert cut[t] == state.links[a][b], f"node {t} of {len(parent)}"
        assert state.rank(linkage, a, b) == state.first(linkage)
        state.merge(a, b, t)
        assert volume[t] == state.volume[t]
        t += 1
    if len(state.volume) > 1 or n == 1:  # the parts of a disconnected graph get a root of their own
        assert set(children[t]) == set(state.volume)
        assert (volume[t], cut[t]) == (state.total, 0)
        t += 1
    assert len(parent) == t
    assert parent[-1] == -1


@given(shapes.graphs(), st.sampled_from(LINKAGES))
def test_every_merge_is_the_best(graph, linkage):
    n, edges = graph
    replay(shapes.rows(edges, n), linkage)


RANDOM = Random(1)
HUB = [*shapes.star(500), *shapes.random_graph(500, 300, 2)]
HUBS = [(0, 1), (1, 2), *((i % 3, i) for i in range(3, 600))]
PARTS = [*shapes.star(300), *((u + 300, v + 300) for u, v in shapes.grid(300))]
LARGE = {
    "star": (600, shapes.star(600)),
    "star, spread weights": (600, shapes.distinct_weights(shapes.star(600))),
    "star, wide weights": (600, [(u, v, RANDOM.random() ** 9) for u, v in shapes.star(600)]),
    "star, nearly equal": (600, [(u, v, 1 + v * 1e-9) for u, v in shapes.star(600)]),
    "wheel": (500, shapes.wheel(500)),
    "wheel, weighted": (500, shapes.distinct_weights(shapes.wheel(500))),
    "hub": (500, HUB),
    "hub, weighted": (500, shapes.distinct_weights(HUB)),
    "hub, few weights": (500, [(u, v, RANDOM.randint(1, 3)) for u, v in HUB]),
    "three hubs": (600, HUBS),
    "three hubs, weighted": (600, shapes.distinct_weights(HUBS)),
    "complete": (60, shapes.complete(60)),
    "complete, weighted": (60, shapes.distinct_weights(shapes.complete(60))),
    "bipartite": (75, shapes.bipartite(75)),
    "grid": (400, shapes.grid(400)),
    "preferential": (400, shapes.preferential(400, 3)),
    "random, weighted": (300, shapes.distinct_weights(shapes.random_graph(300, 900, 4))),
    "two parts and lone nodes": (620, PARTS),
}


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", LARGE)
def test_every_merge_is_the_best_in_large_graphs(name, linkage):
    """Too large to scan: all of these go through the heap, and some through a hub's own store."""
    n, edges = LARGE[name]
    assert n * len(edges) > 60_000
    replay(shapes.rows(edges, n), linkage)


@given(shapes.graphs(max_nodes=9))
def test_a_merge_lowers_the_entropy_by_its_gain(graph):
    """The formula 2c/V * log2(V / (v_a + v_b)) against the difference of two evaluations of H."""
    n, edges = graph
    rows = shapes.rows(edges, n)
    parent, _, _ = (array.tolist() for array in _core.merge_tree(*rows, "gain"))
    plain, state = PlainGraph(n, edges), Replay(*rows)
    root = frozenset(range(n))
    clusters = {u: frozenset([u]) for u in range(n)}
    tree = {root, *clusters.values()}
    for t in range(n, len(parent)):
        pair = [c for c in clusters if parent[c] == t]
        if not any(state.links.values()):
            break
        gain = state.key("gain", *pair)
        before = plain.entropy(tree)
        clusters[t] = clusters.pop(pair[0]) | clusters.pop(pair[1])
        tree.add(clusters[t])
        assert before - plain.entropy(tree) == pytest.approx(gain, abs=1e-9)
        state.merge(*pair, t)


def test_a_tree_as_high_as_the_graph_is_large():
    """On a star every merge adds a level: nothing may recurse over the tree."""
    n = 200_000
    parent, _, _ = _core.merge_tree(*shapes.rows(np.array(shapes.star(n)), n), "gain")
    assert (np.diff(parent[n:-1]) == 1).all()


BAD_ROWS = {
    "no indptr": ([], [], None, None),
    "indptr does not start at 0": ([1, 2, 2], [1, 0], None, None),
    "indptr falls": ([0, 2, 1, 2], [1, 0], None, None),
    "indptr ends too early": ([0, 1, 1], [1, 0], None, None),
    "indptr ends too late": ([0, 1, 20_000_000], [1, 0], None, None),
    "a negative indptr": ([0, -5, 2], [1, 0], None, None),
    "a neighbour out of range": ([0, 1, 2], [9_000_000, 0], None, None),
    "a negative neighbour": ([0, 1, 2], [-1, 0], None, None),
    "too few weights": ([0, 1, 2], [1, 0], [1], None),
    "too many weights": ([0, 1, 2], [1, 0], [1, 1, 1], None),
    "a negative weight": ([0, 1, 2], [1, 0], [-3, -3], None),
    "too few loops": ([0, 1, 2], [1, 0], None, [1]),
    "a negative loop": ([0, 1, 2], [1, 0], None, [-1, 0]),
    "one way only": ([0, 1, 1], [1], None, None),
    "more neighbours than nodes": ([0, 2, 4], [1, 1, 0, 0], None, None),
    "a neighbour twice": ([0, 2, 4, 4], [1, 1, 0, 0], None, None),
    "a neighbour twice, the last row empty": ([0, 0, 2, 4, 4], [2, 2, 1, 1], None, None),
    "rows that are not sorted": ([0, 2, 3, 4], [2, 1, 0, 0], None, None),
    "a row that names itself": ([0, 2, 3], [0, 1, 0], None, None),
}


def bad_rows(name: str) -> list:
    types = (np.int64, np.int32, np.int64, np.int64)
    return [
        None if x is None else np.array(x, dtype)
        for x, dtype in zip(BAD_ROWS[name], types, strict=True)
    ]


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_bad_rows(name, linkage):
    with pytest.raises(ValueError, match=r"\w"):
        _core.merge_tree(*bad_rows(name), linkage)


def test_unknown_linkage():
    with pytest.raises(ValueError, match="linkage must be gain or relative, got 'median'"):
        _core.merge_tree(*shapes.rows([(0, 1)], 2), "median")
