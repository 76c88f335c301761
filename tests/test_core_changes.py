"""The comparison of a graph with an earlier one."""

from __future__ import annotations

import numpy as np
import pytest

import sepool
from sepool import _core


def neighbors(graph: sepool.Graph, number) -> list[dict[int, float]]:
    """Return the weight to every neighbour, under other numbers, of every node."""
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    return [
        {
            int(number[graph.indices[e]]): float(weights[e] * graph.unit)
            for e in range(graph.indptr[u], graph.indptr[u + 1])
        }
        for u in range(graph.num_nodes)
    ]


def changed(earlier: sepool.Graph, graph: sepool.Graph, number) -> list[int]:
    arrays = ((g.indptr, g.indices, g.weights, g.loops, float(g.unit)) for g in (earlier, graph))
    return _core.changed_nodes(*next(arrays), *next(arrays), np.asarray(number, np.int32)).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_changed_nodes_have_other_neighbours_or_weights(seed):
    rng = np.random.default_rng(seed)
    n = 30
    pairs = np.unique(np.sort(rng.integers(n, size=(80, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weights = rng.choice([0.5, 1.0, 3.0], len(pairs)) if seed % 2 else np.ones(len(pairs))
    earlier = sepool.as_graph((pairs, weights), num_nodes=n)
    mask = rng.random(len(pairs)) < 0.9
    heavier = np.where(rng.random(len(pairs)) < 0.1, 2.0, 1.0) * weights
    order = rng.permutation(n + 2)  # two new nodes, in any place
    number = np.full(n + 2, -1)
    number[order[:n]] = np.arange(n)
    more = np.array([[order[n], order[3]]])
    later = sepool.as_graph(
        (
            np.concatenate([order[pairs[mask]], more]),
            np.concatenate([heavier[mask], [1.0]]),
        ),
        num_nodes=n + 2,
    )
    before, after = neighbors(earlier, np.arange(n)), neighbors(later, number)
    expected = [int(number[v] < 0 or after[v] != before[number[v]]) for v in range(later.num_nodes)]
    assert changed(earlier, later, number) == expected
    assert 0 < sum(expected) < n


def test_changed_nodes_unit_of_weights_is_no_change():
    pairs = np.array([[0, 1], [1, 2]])
    plain = sepool.as_graph(pairs)
    ones = sepool.as_graph((pairs, np.array([1.0, 1.0])))
    assert changed(plain, ones, [0, 1, 2]) == [0, 0, 0]
    double = sepool.as_graph((pairs, np.array([2.0, 2.0])))
    assert changed(plain, double, [0, 1, 2]) == [1, 1, 1]


def test_changed_nodes_loops_are_a_change():
    pairs = [(0, 1), (1, 1)]
    with_loop = sepool.as_graph(pairs, self_loops=True)
    assert changed(sepool.as_graph(pairs), with_loop, [0, 1]) == [0, 1]


@pytest.mark.parametrize("number", [[0], [0, 2], [0, -2]])
def test_changed_nodes_wrong_numbers_are_refused(number):
    graph = sepool.as_graph([(0, 1)])
    with pytest.raises(ValueError, match="number must"):
        changed(graph, graph, number)
