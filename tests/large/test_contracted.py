from __future__ import annotations

import numpy as np
import pytest

from sepool import coding_tree, structural_entropy
from sepool.graph.graph import as_graph
from sepool.large.contracted import Contracted, read_ends


def contract(pairs, groups):
    """The groups of nodes of a graph as a contracted graph."""
    u, v = groups[pairs].T
    count = int(groups.max()) + 1
    across = u != v
    ends = u[across].astype(np.int32), v[across].astype(np.int32), np.ones(across.sum())
    volume = np.bincount(groups[pairs].ravel(), minlength=count)
    return Contracted(ends, volume, np.bincount(u[~across], minlength=count))


def random_pairs(seed, n=60, m=300, size=10):
    rng = np.random.default_rng(seed)
    u = rng.integers(n, size=m)
    inside = u // size * size + rng.integers(size, size=m)
    v = np.where(rng.random(m) < 0.7, inside, rng.integers(n, size=m))
    return np.column_stack([u, v])[u != v]


@pytest.mark.parametrize("seed", range(5))
def test_cost_differences_are_those_of_the_entropy_of_the_graph(seed):
    pairs, rng = random_pairs(seed), np.random.default_rng(seed)
    groups = np.arange(60) // 3
    graph, whole = contract(pairs, groups), as_graph(edges=pairs, num_nodes=60)
    volume = int(graph.volume.sum())
    assert volume == whole.total_volume
    costs, entropies = [], []
    for _ in range(4):
        labels = rng.integers(5, size=20)
        costs.append(graph.cost(labels) * 2 / volume)
        entropies.append(
            structural_entropy(whole, [np.unique(labels[groups], return_inverse=True)[1]])
        )
    assert np.diff(costs) == pytest.approx(np.diff(entropies), abs=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_clusters_of_contracted_parts_are_the_communities(threads):
    pairs = random_pairs(0, n=400, m=8000, size=40)
    graph = contract(pairs, np.arange(400) // 4)
    labels = graph.clusters(threads)
    assert len(labels) == 100
    assert np.array_equal(np.unique(labels, return_inverse=True)[1], labels)
    assert len({*zip(np.arange(100) // 10, labels, strict=True)}) == 10


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_no_worse_than_pairwise_merges(seed):
    graph = contract(random_pairs(seed), np.arange(60) // 2)
    labels = graph.clusters(1)
    best = graph.cost(labels)
    for a in range(int(labels.max()) + 1):
        for b in range(a):
            assert graph.cost(np.where(labels == a, b, labels)) >= best - 1e-9


def test_clusters_of_single_nodes_are_those_of_the_library():
    pairs = np.unique(np.sort(random_pairs(1, n=2000, m=16_000, size=50)), axis=0)
    graph = contract(pairs, np.arange(2000))
    tree = coding_tree(as_graph(edges=pairs, num_nodes=2000), 2)
    labels = graph.clusters(1)
    assert len({*zip(labels, tree.labels(1), strict=True)}) == tree.counts[1] == labels.max() + 1


@pytest.mark.parametrize(
    ("inner", "message"),
    [([0], "an entry for every node"), ([0, 4], "0 to half of loops"), ([-1, 0], "0 to half")],
)
def test_clusters_with_wrong_inner_raise_error(inner, message):
    ends = np.array([0], np.int32), np.array([1], np.int32), np.array([1.0])
    with pytest.raises(ValueError, match=message):
        Contracted(ends, np.array([3, 7]), np.array(inner)).clusters(1)


def test_clusters_count_edges_left_out_in_volumes():
    ends = np.array([0], np.int32), np.array([1], np.int32), np.array([3.0])
    graph = Contracted(ends, np.array([3, 5, 100]), np.array([0, 1, 10]))
    labels = graph.clusters(1)
    assert labels[0] == labels[1] != labels[2]


def test_read_ends_without_rows_is_empty():
    class Engine:
        def stream(self, sql):
            return iter(())

    assert [len(column) for column in read_ends(Engine(), "", np.arange(3), np.arange(3))] == [
        0
    ] * 3
