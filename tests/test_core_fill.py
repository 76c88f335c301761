"""Stage 3: FILL, and the shape of every tree that comes out of the core."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sepool
from sepool import _core

from . import shapes
from .reference import PlainGraph

HEIGHTS = st.integers(1, 6)
METHODS = st.sampled_from(shapes.METHODS)


def first_nodes(tree: sepool.CodingTree, level: int) -> np.ndarray:
    """The lowest node of every cluster."""
    labels = tree.labels(level)
    first = np.full(tree.num_clusters(level), tree.num_nodes)
    np.minimum.at(first, labels, np.arange(tree.num_nodes))
    return first


@given(shapes.graphs(), HEIGHTS, METHODS)
def test_fill_changes_no_entropy(graph, height, method):
    """Proposition 1: H of the levels is H of the tree without the chains that FILL put in."""
    n, edges = graph
    plain = PlainGraph(n, edges)
    tree = sepool.coding_tree(sepool.as_graph(edges, num_nodes=n), height, method=method)
    clusters = {
        frozenset(np.flatnonzero(tree.labels(level) == cluster).tolist())
        for level in range(height + 1)
        for cluster in range(tree.num_clusters(level))
    }
    assert tree.entropy == pytest.approx(plain.entropy(clusters), abs=1e-9)


@given(shapes.graphs(), HEIGHTS, METHODS)
def test_the_height_is_exact_and_no_cluster_empty(graph, height, method):
    n, edges = graph
    tree = sepool.coding_tree(sepool.as_graph(edges, num_nodes=n), height, method=method)
    assert tree.height == height
    assert len(tree.counts) == height + 1
    assert tree.counts[0] == n
    assert tree.counts[-1] == 1
    for level in range(1, height + 1):
        assignment = tree.assignment(level)
        assert len(assignment) == tree.counts[level - 1]
        assert set(assignment.tolist()) == set(range(tree.counts[level]))


@given(shapes.graphs(), HEIGHTS, METHODS)
def test_siblings_are_neighbours_and_go_by_their_first_node(graph, height, method):
    n, edges = graph
    tree = sepool.coding_tree(sepool.as_graph(edges, num_nodes=n), height, method=method)
    for level in range(1, height):
        assignment, first = tree.assignment(level + 1), first_nodes(tree, level)
        assert (np.diff(assignment) >= 0).all()
        siblings = np.diff(assignment) == 0
        assert (np.diff(first)[siblings] > 0).all()


@given(shapes.graphs(), HEIGHTS, METHODS, st.booleans())
def test_volumes_and_cuts_are_those_of_the_graph(graph, height, method, self_loops):
    n, edges = graph
    read = sepool.as_graph(edges, num_nodes=n, self_loops=self_loops)
    tree = sepool.coding_tree(read, height, method=method)
    u, v, w = read.edges()
    for level in range(height + 1):
        labels = tree.labels(level)
        volume, boundary = np.zeros(tree.counts[level]), np.zeros(tree.counts[level])
        np.add.at(volume, labels, read.degrees())
        apart = labels[u] != labels[v]
        np.add.at(boundary, labels[u[apart]], w[apart])
        np.add.at(boundary, labels[v[apart]], w[apart])
        assert tree.volumes(level) == pytest.approx(volume, rel=1e-9)
        assert tree.boundaries(level) == pytest.approx(boundary, rel=1e-9, abs=1e-12)
    assert tree.boundaries(height).tolist() == [0]


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("height", [2, 3, 5])
@pytest.mark.parametrize(
    ("n", "edges"),
    [
        pytest.param(400, shapes.wheel(400), id="wheel"),
        pytest.param(400, shapes.grid(400), id="grid"),
        pytest.param(70, shapes.complete(70), id="complete"),
        pytest.param(400, shapes.preferential(400, 1), id="preferential"),
        pytest.param(300, shapes.distinct_weights(shapes.random_graph(300, 900, 1)), id="weighted"),
    ],
)
def test_nothing_leaves_the_root_of_a_larger_graph(n, edges, height, method):
    graph = sepool.as_graph(edges, num_nodes=n)
    tree = sepool.coding_tree(graph, height, method=method)
    assert tree.boundaries(height).tolist() == [0]
    assert tree.entropy == pytest.approx(sepool.structural_entropy(graph, tree), abs=1e-9)
    again = sepool.CodingTree.from_levels(graph, [tree.labels(i) for i in range(1, height)])
    assert again.counts == tree.counts
    assert again.boundary == pytest.approx(tree.boundary, rel=1e-9)


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_highest_trees_of_the_smallest_graphs(n, method):
    tree = sepool.coding_tree(sepool.as_graph(shapes.path(n), num_nodes=n), 64, method=method)
    assert tree.height == 64
    assert tree.labels(0).tolist() == list(range(n))


def test_a_level_without_edges():
    """Four separate edges: from level 1 on no edge is left, and the levels above change nothing."""
    edges = [(0, 1), (2, 3), (4, 5), (6, 7)]
    for method in shapes.METHODS:
        for height in (2, 3, 4):
            tree = sepool.coding_tree(edges, height, method=method)
            assert tree.entropy == 1
            assert not tree.boundaries(1).any()


def arrays_of(edges, n):
    graph = sepool.as_graph(edges, num_nodes=n)
    return np.array([0, n]), graph.indptr, graph.indices, graph.weights, graph.loops


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("height", [0, -1, -(2**31), 2**31 - 1])
def test_heights_that_no_tree_has(height, method):
    with pytest.raises(ValueError, match="height"):
        _core.trees(
            *arrays_of([(0, 1), (1, 2)], 3),
            height=height,
            method=method,
            seed=0,
            num_threads=1,
            progress=None,
        )
