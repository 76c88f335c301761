"""Bits saved by splits, against a plain reading of the formulas."""

from math import comb, lgamma, log, log2

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.depth.code_length import Edges, Partition, log2_factorial, split_bits


def fact(x):
    return lgamma(x + 1) / log(2)


def test_log2_factorial_equals_the_gamma_function():
    x = np.array([0.0, 0.5, 1.0, 2.0, 7.3, 100.0, 1e6])
    np.testing.assert_allclose(log2_factorial(x), [fact(v) for v in x], rtol=1e-11, atol=1e-11)


def plain_saved(weight, ends, volumes):
    """Bits saved by the code of the edges at one tree node, whose children have these volumes."""
    if weight == 0:
        return 0.0
    pairs = sum(volumes[i] * volumes[j] for i in range(len(volumes)) for j in range(i))
    by_volume = weight * log2(weight / pairs)
    own = sum(ends[i] * ends[j] for i in range(len(ends)) for j in range(i))
    by_ends = sum(x * log2(x / v) for x, v in zip(ends, volumes, strict=True) if x)
    by_ends += weight * log2(weight / own) if own else 0
    total = 2 * weight
    by_ends += total * log2(total) - fact(total)
    by_ends -= sum(x * log2(x) - fact(x) for x in ends if x)
    children = sum(v > 0 for v in volumes)
    by_ends -= log2(comb(int(total) + children - 1, children - 1)) + 1
    return max(by_volume, by_ends)


def plain_split_bits(graph, labels):
    """Bits saved by the split of a whole graph without isolated nodes, pair by pair."""
    degree = dict(graph.degree)
    nodes = list(graph)
    clusters = sorted(set(labels))
    members = {c: [node for node in nodes if labels[node] == c] for c in clusters}
    inner = {c: graph.subgraph(members[c]) for c in clusters}
    between = [(a, b) for a, b in graph.edges if labels[a] != labels[b]]

    def leaf(part):
        ends = [part.degree(node) for node in part]
        return plain_saved(part.number_of_edges(), ends, [degree[node] for node in part])

    volumes = [sum(degree[node] for node in members[c]) for c in clusters]
    ends = [sum((labels[a] == c) + (labels[b] == c) for a, b in between) for c in clusters]
    data = plain_saved(len(between), ends, volumes) + sum(map(leaf, inner.values())) - leaf(graph)
    m, n = graph.number_of_edges(), len(nodes)
    insides = [part.number_of_edges() for part in inner.values()]
    counts = log2(comb(m + sum(x > 0 for x in insides), sum(x > 0 for x in insides)))
    for x, sign in [(m, 1), (len(between), -1), *((x, -1) for x in insides)]:
        counts -= sign * ((x * log2(x) if x else 0) - fact(x))
    sizes = [len(part) for part in inner.values() if len(part) > 1]
    alone = sum(len(part) == 1 for part in inner.values())
    groups = len(sizes) + (alone > 0)
    lists = fact(n) - fact(alone) - sum(map(fact, sizes)) - fact(len(sizes))
    lists += log2(comb(n - 1, groups - 1))
    return data - counts - (lists + log2(n))


@pytest.mark.parametrize("seed", range(6))
def test_split_bits_equal_the_plain_formula(seed):
    graph = nx.gnm_random_graph(30, 70, seed=seed)
    graph = nx.convert_node_labels_to_integers(graph.subgraph(n for n, d in graph.degree if d))
    labels = np.random.default_rng(seed).integers(5, size=len(graph))
    labels = np.unique(labels, return_inverse=True)[1]
    if seed % 2:
        labels[0] = labels.max() + 1  # a node by itself
        labels = np.unique(labels, return_inverse=True)[1]
    edges = Edges.of(sepool.as_graph(graph))
    root = Partition(edges, np.zeros(len(graph), np.int64))
    bits = split_bits(edges, Partition(edges, labels), root)
    assert bits[0] == pytest.approx(plain_split_bits(graph, labels.tolist()), abs=1e-6)


def test_split_bits_of_planted_clusters_are_many_and_of_random_labels_negative():
    graph = nx.planted_partition_graph(5, 40, 0.4, 0.02, seed=1)
    edges = Edges.of(sepool.as_graph(graph))
    root = Partition(edges, np.zeros(200, np.int64))
    planted = split_bits(edges, Partition(edges, np.arange(200) // 40), root)[0]
    drawn = split_bits(
        edges, Partition(edges, np.random.default_rng(0).integers(5, size=200)), root
    )
    assert planted > 1000
    assert drawn[0] < 0


def test_split_bits_do_not_depend_on_the_unit_of_the_weights():
    graph = nx.planted_partition_graph(3, 20, 0.5, 0.05, seed=2)
    pairs = np.array(graph.edges)
    labels = np.arange(60) // 20

    def bits(weights):
        edges = Edges.of(sepool.as_graph((pairs, weights)))
        return split_bits(edges, Partition(edges, labels), Partition(edges, 0 * labels))[0]

    assert bits(np.full(len(pairs), 1000.0)) == pytest.approx(bits(np.ones(len(pairs))))
