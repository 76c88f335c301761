"""Merges of clusters at the least rise of entropy, against all partitions of small graphs."""

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.depth.merge import merged


def entropy(graph, labels):
    return sepool.structural_entropy(graph, labels)


def test_merged_takes_the_cheapest_pair():
    graph = nx.gnm_random_graph(12, 30, seed=1)
    labels = np.arange(12) // 3
    out = merged(sepool.as_graph(graph), labels, num_clusters=3)
    every = [np.where(labels == j, i, labels) for i in range(4) for j in range(i + 1, 4)]
    assert len(set(out.tolist())) == 3
    assert entropy(graph, out) == pytest.approx(min(entropy(graph, other) for other in every))


def test_merged_stops_at_the_components():
    graph = nx.disjoint_union_all([nx.path_graph(3)] * 4)
    out = merged(sepool.as_graph(graph), np.arange(12), num_clusters=2)
    assert out.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_merged_stays_within_the_given_clusters():
    graph = nx.complete_graph(8)
    out = merged(sepool.as_graph(graph), np.arange(8), within=np.arange(8) // 4)
    assert out.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_merged_leaves_clusters_of_the_least_size():
    graph = nx.planted_partition_graph(4, 10, 0.9, 0.05, seed=2)
    labels = np.repeat(np.arange(8), [10, 10, 10, 2, 2, 2, 2, 2])
    out = merged(sepool.as_graph(graph), labels, min_size=5)
    assert np.bincount(out).min() >= 5
    assert all(len(set(out[labels == c])) == 1 for c in range(8))
