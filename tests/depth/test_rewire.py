"""Rewired graphs: the same degrees, no loops, no repeats, ends where they have to be."""

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.depth.code_length import Edges
from sepool.depth.rewire import rewired


def edges_of(graph):
    return Edges.of(sepool.as_graph(graph))


def pairs(edges):
    return {tuple(sorted(pair)) for pair in zip(edges.u.tolist(), edges.v.tolist(), strict=True)}


@pytest.mark.parametrize("seed", range(5))
def test_rewired_graph_is_simple_and_has_the_same_degrees(seed):
    edges = edges_of(nx.gnm_random_graph(60, 200, seed=seed))
    out = rewired(edges, np.zeros(60, np.int64), None, np.random.default_rng(seed))
    assert len(pairs(out)) == 200
    assert (out.u != out.v).all()
    np.testing.assert_array_equal(out.degree, edges.degree)
    np.testing.assert_array_equal(
        np.bincount(out.u, minlength=60) + np.bincount(out.v, minlength=60), edges.degree
    )
    assert len(pairs(out) & pairs(edges)) < 60


def test_rewired_graph_without_another_realisation_is_itself():
    for graph in (nx.complete_graph(8), nx.star_graph(9)):
        edges = edges_of(graph)
        out = rewired(edges, np.zeros(len(graph), np.int64), None, np.random.default_rng(0))
        assert pairs(out) == pairs(edges)


def test_rewired_edges_stay_inside_and_between_the_clusters():
    graph = nx.gnm_random_graph(80, 600, seed=3)
    inside, between = np.arange(80) // 40, np.arange(80) // 10
    edges = edges_of(graph).within(inside, between)
    out = rewired(edges, inside, between, np.random.default_rng(1))
    assert (inside[out.u] == inside[out.v]).all()
    assert (between[out.u] != between[out.v]).all()
    assert pairs(out) != pairs(edges)
    ends = [np.bincount(np.concatenate([e.u, e.v]), minlength=80) for e in (edges, out)]
    np.testing.assert_array_equal(*ends)


def test_rewired_weights_are_the_same_numbers():
    graph = nx.gnm_random_graph(30, 90, seed=4)
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + i % 7
    edges = edges_of(graph)
    out = rewired(edges, np.zeros(30, np.int64), None, np.random.default_rng(2))
    np.testing.assert_allclose(np.sort(out.w), np.sort(edges.w))


@pytest.mark.parametrize(
    "links",
    [
        [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (2, 5)],
        [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 5), (4, 5)],  # with a hub
    ],
)
def test_rewired_graph_is_uniform_over_the_realisations(links):
    edges = edges_of(links)
    rng = np.random.default_rng(5)
    counts = {}
    for _ in range(3000):
        key = frozenset(pairs(rewired(edges, np.zeros(6, np.int64), None, rng)))
        counts[key] = counts.get(key, 0) + 1
    realisations = list(all_graphs_with_degrees(edges.degree.astype(int).tolist()))
    assert set(counts) == set(realisations)
    expected = 3000 / len(realisations)
    assert all(abs(count - expected) < 6 * expected**0.5 for count in counts.values())


def all_graphs_with_degrees(degrees):
    from itertools import combinations

    every = list(combinations(range(len(degrees)), 2))
    for chosen in combinations(every, sum(degrees) // 2):
        ends = [node for pair in chosen for node in pair]
        if [ends.count(node) for node in range(len(degrees))] == degrees:
            yield frozenset(chosen)
