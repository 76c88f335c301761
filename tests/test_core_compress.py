"""Stage 2: REMOVE, literally and optimally."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepool import _core

from . import shapes
from .reference import PlainTree


def random_tree(random: Random, max_leaves: int) -> PlainTree:
    """Any number of children a node, single ones included; volumes and cuts of 0 occur."""
    n = random.randint(max(1, max_leaves // 3), max_leaves)
    parent, cut = [-1] * n, [0] * n
    largest = random.choice([1, 9, 1000])
    volume = [random.randint(0, largest) for _ in range(n)]
    widest, zeros, chain = random.choice([2, 2, 3, 5]), random.random() < 0.3, random.random() < 0.3
    open_nodes = list(range(n))
    while len(open_nodes) > 1 or len(parent) == n:
        t = len(parent)
        parent.append(-1)
        volume.append(0)
        fewest = 1 if random.random() < 0.1 else 2
        for _ in range(min(len(open_nodes), random.randint(fewest, widest))):
            child = open_nodes.pop(-1 if chain else random.randrange(len(open_nodes)))
            parent[child] = t
            volume[t] += volume[child]
        cut.append(0 if zeros and random.random() < 0.5 else random.randint(0, volume[t]))
        open_nodes.append(t)
    return PlainTree(n, parent, volume, cut)


def compress(tree: PlainTree, height: int, *, optimal: bool) -> set[int]:
    keep = _core.compress(
        tree.num_leaves,
        np.array(tree.parent, np.int32),
        np.array(tree.volume, np.int64),
        np.array(tree.cut, np.int64),
        height,
        optimal,
    )
    assert len(keep) == len(tree.parent)
    kept = set(np.flatnonzero(keep).tolist())
    assert tree.root in kept
    assert kept <= {*tree.inner, tree.root}
    kept -= {tree.root}
    assert tree.depth(kept) <= height
    return kept


@pytest.mark.parametrize("height", [1, 2, 3, 4])
def test_optimal_is_brute_force(height):
    random = Random(height)
    for _ in range(400):
        tree = random_tree(random, 10)
        while len(tree.inner) > 9:
            tree = random_tree(random, 10)
        cost = tree.cost(compress(tree, height, optimal=True))
        assert cost == pytest.approx(tree.least_cost(height), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("height", [2, 3, 5, 9])
def test_optimal_on_larger_trees(height):
    random = Random(height)
    for _ in range(25):
        tree = random_tree(random, 120)
        cost = tree.cost(compress(tree, height, optimal=True))
        assert cost == pytest.approx(tree.least_cost_by_ancestors(height), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("height", [1, 2, 3, 4])
def test_greedy_is_the_literal_loop(height):
    random = Random(height)
    for _ in range(150):
        tree = random_tree(random, 25)
        assert compress(tree, height, optimal=False) == tree.remove_greedily(height)


def test_a_removal_raises_the_entropy_by_its_formula():
    """REMOVE of t under p: 2 * cut(t) * log2(v_p / v_t), and the cut of p grows by that of t."""
    random = Random(0)
    for _ in range(100):
        tree = random_tree(random, 12)
        keep, up, cut = set(tree.inner), list(tree.parent), list(tree.cut)
        while keep:
            gone = random.choice(sorted(keep))
            before, rise = tree.cost(keep), tree.rise(gone, up[gone], cut[gone])
            keep.remove(gone)
            assert tree.cost(keep) - before == pytest.approx(2 * rise, rel=1e-9, abs=1e-6)
            cut[up[gone]] += cut[gone]
            up = [up[gone] if p == gone else p for p in up]


LINKAGES = st.sampled_from(["gain", "relative"])


@given(shapes.graphs(max_nodes=30), LINKAGES, st.integers(1, 6))
def test_optimal_never_loses_to_greedy(graph, linkage, height):
    n, edges = graph
    arrays = _core.merge_tree(*shapes.rows(edges, n), linkage)
    tree = PlainTree(n, *(array.tolist() for array in arrays))
    greedy = tree.cost(compress(tree, height, optimal=False))
    optimal = tree.cost(compress(tree, height, optimal=True))
    assert optimal <= greedy * (1 + 1e-12)
    assert optimal == pytest.approx(tree.least_cost_by_ancestors(height), rel=1e-12)


@pytest.mark.parametrize("optimal", [True, False])
def test_a_tree_that_is_low_enough_loses_only_what_costs_nothing(optimal):
    parent, volume, cut = _core.merge_tree(*shapes.rows(shapes.path(5), 5), "relative")
    tree = PlainTree(5, parent.tolist(), volume.tolist(), cut.tolist())
    full = tree.cost(tree.inner)
    assert tree.cost(compress(tree, 64, optimal=optimal)) == pytest.approx(full)


@pytest.mark.parametrize("optimal", [True, False])
def test_a_tree_of_any_depth(optimal):
    """A chain of 100,000: no recursion, nothing quadratic."""
    n = 100_000
    leaves, inner = n + np.maximum(np.arange(n) - 1, 0), np.arange(n + 1, 2 * n - 1)
    parent = np.concatenate([leaves, inner, [-1]]).astype(np.int32)
    volume = np.concatenate([np.ones(n, np.int64), np.arange(2, n + 1)])
    cut = np.concatenate([np.zeros(n, np.int64), np.ones(n - 1, np.int64)])
    keep = _core.compress(n, parent, volume, cut, 4, optimal)
    assert keep[-1] == 1
    assert keep.sum() <= 4


GOOD = (2, [2, 2, -1], [1, 1, 2], [0, 0, 1], 2)
BAD = {
    "height 0": (*GOOD[:4], 0),
    "a negative height": (*GOOD[:4], -3),
    "no tree": (0, [], [], [], 2),
    "no leaves": (0, [-1], [0], [0], 2),
    "negative leaves": (-1, *GOOD[1:]),
    "leaves only": (3, *GOOD[1:]),
    "more leaves than nodes": (2_000_000, *GOOD[1:]),
    "few volumes": (2, [2, 2, -1], [1], [0, 0, 1], 2),
    "few cuts": (2, [2, 2, -1], [1, 1, 2], [0], 2),
    "many cuts": (2, [2, 2, -1], [1, 1, 2], [0, 0, 1, 1], 2),
    "a parent out of range": (2, [2, 7_000_000, -1], *GOOD[2:]),
    "a negative parent": (2, [2, -7_000_000, -1], *GOOD[2:]),
    "two roots": (2, [2, -1, -1], *GOOD[2:]),
    "no root": (2, [2, 2, 2], *GOOD[2:]),
    "a leaf as parent": (2, [1, 2, -1], *GOOD[2:]),
    "parents before children": (2, [3, 3, -1, 2], [1, 1, 2, 2], [0, 0, 1, 0], 2),
    "a negative volume": (2, [2, 2, -1], [1, 1, -2], [0, 0, 1], 2),
    "a negative cut": (2, [2, 2, -1], [1, 1, 2], [0, 0, -1], 2),
    "cuts that overflow": (2, [2, 2, 3, -1], [1, 1, 2, 2], [0, 0, 2**62, 2**62], 1),
}


@pytest.mark.parametrize("optimal", [True, False])
@pytest.mark.parametrize("name", BAD)
def test_bad_trees(name, optimal):
    leaves, parent, volume, cut, height = BAD[name]
    arrays = np.array(parent, np.int32), np.array(volume, np.int64), np.array(cut, np.int64)
    with pytest.raises(ValueError, match=r"\w"):
        _core.compress(leaves, *arrays, height, optimal)
