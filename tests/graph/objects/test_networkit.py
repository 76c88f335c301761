"""Graphs of networkit."""

from __future__ import annotations

import pytest

from sepool import as_graph

pytestmark = pytest.mark.heavy


@pytest.fixture
def nk():
    return pytest.importorskip("networkit")


def test_as_graph_networkit_weights_and_ids_are_read(nk):
    graph = nk.Graph(4, weighted=True)
    graph.addEdge(0, 1, 2.5)
    graph.addEdge(1, 3)
    assert as_graph(graph).names is None
    assert as_graph(graph).degrees().tolist() == [2.5, 3.5, 0, 1]
    assert as_graph(graph, weight=None).degrees().tolist() == [1, 2, 0, 1]


def test_as_graph_networkit_removed_node_leaves_ids_as_names(nk):
    graph = nk.Graph(4)
    graph.addEdge(1, 3)
    graph.removeNode(2)
    assert as_graph(graph).names == (0, 1, 3)
    assert as_graph(graph).degrees().tolist() == [0, 1, 1]


def test_as_graph_networkit_directed_graph_needs_symmetrise(nk):
    graph = nk.Graph(3, directed=True)
    graph.addEdge(0, 1)
    graph.addEdge(1, 0)
    with pytest.raises(ValueError, match=r"networkit.Graph\(directed=True\).*symmetrise=True"):
        as_graph(graph)
    assert as_graph(graph, symmetrise=True).total_volume == 4


def test_as_graph_networkit_flow_of_an_undirected_graph_follows_both_ways(nk):
    graph = nk.Graph(3)
    graph.addEdge(0, 1)
    graph.addEdge(1, 2)
    expected = as_graph([(0, 1), (1, 0), (1, 2), (2, 1)], directed="flow").degrees()
    assert as_graph(graph, directed="flow").degrees() == pytest.approx(expected)
