"""Trees of METIS, Louvain and Infomap as controls."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.pyg.format import Forest, global_parents
from sepool_experiments.data import partitions
from sepool_experiments.data.graphs import load_trees
from sepool_experiments.data.partitions import PACKAGES, PARTITIONS, partition_trees
from small_graphs import forest, graph_set

CAVES = nx.connected_caveman_graph(8, 6)


def trees_of(partition, graph=CAVES, height=3):
    if partition in PACKAGES:
        pytest.importorskip(PACKAGES[partition])
    edges = [np.array(graph.edges, np.int64).reshape(-1, 2)]
    batch = sepool.as_graph_batch(edges, num_nodes=[len(graph)])
    best = Forest.of(sepool.coding_trees(batch, height))
    return best, partition_trees(partition, edges, [len(graph)], best)


def labels_of(trees):
    """Labels of the nodes on every level below the root."""
    label, levels = np.arange(trees.counts[0, 0]), []
    for parent in global_parents(trees)[:-1]:
        label = parent[label]
        levels.append(label)
    return levels


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("height", [2, 3, 4])
def test_partition_trees_have_the_height_and_one_root(partition, height):
    _, trees = trees_of(partition, height=height)
    assert trees.height == height
    assert trees.counts[0, -1] == 1
    assert (np.diff(trees.counts[0]) <= 0).all()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_partition_trees_find_caves(partition):
    _, trees = trees_of(partition, nx.disjoint_union_all([nx.complete_graph(6)] * 8), height=2)
    (label,) = labels_of(trees)
    assert [len(set(part)) for part in label.reshape(8, 6)] == [1] * 8
    assert len(set(label)) == 8


def test_metis_clusters_are_as_many_and_of_equal_size():
    best, trees = trees_of("metis", nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12)))
    assert trees.counts.tolist() == best.counts.tolist()
    sizes = np.bincount(labels_of(trees)[1])
    assert sizes.max() <= 1.5 * sizes.mean()


def test_louvain_levels_are_those_of_networkx():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(10, 10))
    _, trees = trees_of("louvain", graph)
    levels = list(nx.community.louvain_partitions(graph, seed=0))
    for label, expected in zip(labels_of(trees), (levels[0], levels[-1]), strict=True):
        assert {frozenset(np.flatnonzero(label == i)) for i in set(label)} == set(
            map(frozenset, expected)
        )


@pytest.mark.parametrize("partition", PARTITIONS)
def test_partition_trees_of_graphs_without_edges(partition):
    _, trees = trees_of(partition, nx.empty_graph(4))
    assert trees.counts[0, 0] == 4
    assert trees.counts[0, -1] == 1


@pytest.mark.parametrize("partition", PACKAGES)
def test_partition_trees_missing_package_has_the_command(partition, monkeypatch):
    monkeypatch.setattr(partitions, "find_spec", lambda name: None)
    expected = rf"trees of {partition} need {PACKAGES[partition]}: pip install"
    with pytest.raises(ValueError, match=expected):
        partition_trees(partition, [], [], Forest(np.ones((1, 4), np.int64), np.zeros(3, np.int32)))


def test_load_trees_of_a_partition_are_cached(tmp_path, monkeypatch):
    graphs = graph_set()
    first = load_trees(tmp_path, graphs, "louvain", 3)
    assert (
        first.counts[:, 0].tolist() == graphs.nodes.tolist() == forest(graphs).counts[:, 0].tolist()
    )
    monkeypatch.setitem(PARTITIONS, "louvain", lambda *args: pytest.fail("built again"))
    again = load_trees(tmp_path, graphs, "louvain", 3)
    np.testing.assert_array_equal(again.parent, first.parent)
