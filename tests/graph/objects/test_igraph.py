"""Graphs of igraph."""

from __future__ import annotations

import igraph
from tests.shapes import same

from sepool import as_graph


def test_as_graph_igraph_keeps_names_and_weights():
    graph = igraph.Graph([(0, 1), (1, 2)])
    assert same(as_graph(graph), as_graph([(0, 1), (1, 2)]))
    graph.vs["name"] = ["a", "b", "c"]
    graph.es["weight"] = [2, 3]
    assert as_graph(graph).names == ("a", "b", "c")
    assert as_graph(graph).degrees().tolist() == [2, 5, 3]
    assert as_graph(graph, weight=None).degrees().tolist() == [1, 2, 1]


def test_as_graph_igraph_graph_without_edges_is_read():
    assert as_graph(igraph.Graph(3)).num_nodes == 3
