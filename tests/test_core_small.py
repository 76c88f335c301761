"""The code for small graphs gives the trees of the general code, bit for bit."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

import sepool
from sepool import _core, coding_trees

from . import shapes


@contextmanager
def general_code():
    """Switch the code for small graphs off."""
    _core.enable_small(False)
    try:
        yield
    finally:
        _core.enable_small(True)


def parts(n: int) -> shapes.Edges:
    """Two rings of different length and lone nodes."""
    third = n // 3
    return [*shapes.ring(third), *((u + third, v + third) for u, v in shapes.ring(third + 2))]


SHAPES = {
    "path": shapes.path,
    "ring": shapes.ring,
    "star": shapes.star,
    "wheel": shapes.wheel,
    "caterpillar": shapes.caterpillar,
    "complete": shapes.complete,
    "bipartite": shapes.bipartite,
    "grid": lambda n: [edge for edge in shapes.grid(n) if max(edge) < n],
    "parts": parts,
    "tree": lambda n: shapes.random_tree(n, n),
    "molecule": lambda n: shapes.molecule(n, n),
    "preferential": lambda n: shapes.preferential(n, n),
    "random": lambda n: shapes.random_graph(n, 3 * n, n),
}
SIZES = (5, 9, 18, 33, 63, 64, 65, 70, 120)
WEIGHTS = {
    "one": lambda edges: edges,
    "few": lambda edges: shapes.with_weights(edges, lambda i: float(1 + i % 3)),
    "distinct": shapes.distinct_weights,
}


def graphs(weights: str) -> list[sepool.Graph]:
    edges = [(n, make(n)) for make in SHAPES.values() for n in SIZES]
    return [sepool.as_graph(WEIGHTS[weights](listed), num_nodes=n) for n, listed in edges]


def arrays(trees: sepool.TreeBatch) -> list[list]:
    names = ("counts", "parent", "volume", "boundary", "entropy")
    return [getattr(trees, name).tolist() for name in names]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("height", [2, 3])
def test_trees_of_the_general_code_are_equal(method, weights, height):
    listed = graphs(weights)
    expected = arrays(coding_trees(listed, height, method=method))
    with general_code():
        assert arrays(coding_trees(listed, height, method=method)) == expected


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("method", shapes.METHODS)
def test_coloured_trees_of_the_general_code_are_equal(method, weights):
    listed = graphs(weights)
    rng = np.random.default_rng(0)
    colours = [rng.integers(0, 3, graph.num_nodes) for graph in listed]
    expected = arrays(coding_trees(listed, 3, method=method, colours=colours))
    with general_code():
        assert arrays(coding_trees(listed, 3, method=method, colours=colours)) == expected


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("n", SIZES)
def test_loops_and_colours_of_the_general_code_are_equal(name, n):
    rng = np.random.default_rng(n)
    edges = [*SHAPES[name](n), *((u, u) for u in rng.integers(0, n, n // 4).tolist())]
    graph = sepool.as_graph(edges, num_nodes=n, self_loops=True)
    rows = graph.indptr, graph.indices, graph.weights, graph.loops
    colours = rng.integers(0, 2, n)
    orders = [_core.canonical_order(*rows), _core.canonical_order(*rows, colours)]
    with general_code():
        assert _core.canonical_order(*rows).tolist() == orders[0].tolist()
        assert _core.canonical_order(*rows, colours).tolist() == orders[1].tolist()


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n", SIZES)
def test_stages_of_the_general_code_are_equal(name, weights, n):
    rows = shapes.rows(WEIGHTS[weights](SHAPES[name](n)), n)
    stages = []
    for switch in (True, False):
        _core.enable_small(switch)
        try:
            trees = [_core.merge_tree(*rows, linkage) for linkage in ("gain", "relative")]
            keeps = [_core.compress(n, *tree, k, True) for tree in trees for k in (2, 3, 7)]
            stages.append([_core.canonical_order(*rows), *trees[0], *trees[1], *keeps])
        finally:
            _core.enable_small(True)
    assert [array.tolist() for array in stages[0]] == [array.tolist() for array in stages[1]]


def test_csr_of_the_general_code_is_equal():
    listed = [np.array(SHAPES[name](n)) for name in SHAPES for n in SIZES if n <= 64]
    nodes = np.concatenate([[0], np.cumsum([edges.max() + 1 for edges in listed])])
    ends = np.concatenate([[0], np.cumsum([len(edges) for edges in listed])])
    u, v = np.concatenate(listed).T
    arguments = (nodes, ends, u, v, None)
    small = _core.csr(*arguments, both=False, self_loops=False)
    with general_code():
        general = _core.csr(*arguments, both=False, self_loops=False)
    for one, other in zip(small, general, strict=True):
        assert (one is None and other is None) or one.tolist() == other.tolist()
