"""Codelengths against Infomap, where it is installed, and against values by hand."""

from __future__ import annotations

import warnings
from math import log2

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.scores.map_equation import codelength


def infomap(graph, **options):
    """Return Infomap with the edges of a graph."""
    package = pytest.importorskip("infomap")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = package.Infomap(silent=True, **options)
    for u, v, data in graph.edges(data=True):
        out.add_link(u, v, data.get("weight", 1))
    return out


def planted(seed):
    """Return clusters of 8 in clusters of 32 in clusters of 128 nodes."""
    rng, sizes = np.random.default_rng(seed), (8, 32, 128)
    graph = nx.Graph()
    for i in range(256):
        for j in range(i):
            level = sum(i // size != j // size for size in sizes)
            if rng.random() < (0.9, 0.2, 0.02, 0.003)[level]:
                graph.add_edge(i, j, weight=int(rng.integers(1, 4)))
    return graph


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1, 1], [0, 1, 0, 2, 2, 2], [0, 1, 2, 3, 4, 5]])
def test_codelength_of_one_level_equals_infomap(bridge, labels):
    other = infomap(nx.Graph(bridge), no_infomap=True)
    other.run(initial_partition=dict(enumerate(labels)))
    tree = sepool.CodingTree.from_levels(bridge, labels)
    assert codelength(tree) == pytest.approx(other.codelength, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_codelength_of_a_hierarchy_equals_infomap(seed):
    graph = planted(seed)
    other = infomap(graph, seed=3, num_trials=1)
    other.run()
    paths = other.get_multilevel_modules()
    depth = max(map(len, paths.values()))
    levels = [{i: str(path[:d]) for i, path in paths.items()} for d in range(depth, 0, -1)]
    tree = sepool.CodingTree.from_levels(graph, levels)
    assert tree.top == depth > 1
    assert codelength(tree) == pytest.approx(other.codelength, abs=1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sizes", [(32, 128), (8, 32, 128), (4, 8, 64, 128)])
def test_codelength_of_planted_levels_equals_infomap(sizes, tmp_path):
    graph = planted(7)
    levels = [{i: i // size for i in graph} for size in sizes]
    tree = sepool.CodingTree.from_levels(graph, levels)
    lines = []
    for i in graph:
        path = [str(1 + i // size) for size in (*reversed(sizes), 1)]
        lines.append(f'{":".join(path)} 0 "{i}" {i}\n')
    (tmp_path / "a.tree").write_text("".join(lines))
    other = infomap(graph, no_infomap=True, cluster_data=str(tmp_path / "a.tree"))
    other.run()
    assert codelength(tree) == pytest.approx(other.codelength, abs=1e-10)


def test_codelength_of_karate_club_is_that_of_infomap():
    # Infomap 2.16, two levels: codelength 4.08742 bits on the weighted graph.
    graph = nx.karate_club_graph()
    first = {8, 9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33}
    second = {4, 5, 6, 10, 16}
    labels = {i: 0 if i in first else 1 if i in second else 2 for i in graph}
    assert codelength(sepool.CodingTree.from_levels(graph, labels)) == pytest.approx(
        4.0874231588, abs=1e-9
    )


@pytest.mark.parametrize("labels", [[], [0] * 6, [[0] * 6, [0] * 6]])
def test_codelength_without_clusters_is_entropy_of_visit_rates(bridge, labels):
    rates = [2 / 14, 2 / 14, 3 / 14, 3 / 14, 2 / 14, 2 / 14]
    expected = -sum(p * log2(p) for p in rates)
    tree = sepool.CodingTree.from_levels(bridge, labels)
    assert codelength(tree) == pytest.approx(expected)
    assert codelength(tree) == pytest.approx(sepool.one_dimensional_entropy(bridge))


def test_codelength_of_two_levels_is_formula_of_the_paper(bridge):
    # Rosvall and Bergstrom 2008: q H(Q) + sum p H(P), here with q = 2/14.
    index = 2 / 14
    use = 8 / 14
    visits = [1 / 8, 2 / 8, 2 / 8, 3 / 8]  # exit and the three nodes
    expected = index * 1 - 2 * use * sum(p * log2(p) for p in visits)
    tree = sepool.CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])
    assert codelength(tree) == pytest.approx(expected)


def test_codelength_single_child_counts_once(bridge):
    labels = [0, 0, 0, 1, 1, 1]
    flat = sepool.CodingTree.from_levels(bridge, labels)
    chain = sepool.CodingTree.from_levels(bridge, [labels, labels, labels])
    assert codelength(chain) == codelength(flat)


def test_codelength_components_need_no_index():
    graph = [(0, 1), (2, 3)]
    assert codelength(sepool.CodingTree.from_levels(graph, [0, 0, 1, 1])) == pytest.approx(1.0)


def test_codelength_graph_without_edges_is_zero():
    graph = sepool.as_graph(np.zeros((0, 2), int), num_nodes=3)
    assert codelength(sepool.CodingTree.from_levels(graph, [0, 0, 1])) == 0
