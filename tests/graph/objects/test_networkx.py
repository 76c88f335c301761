"""Graphs of networkx."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import networkx as nx
import pytest

from sepool import as_graph


def test_as_graph_networkx_graph_keeps_names_order_and_weights():
    graph = nx.Graph()
    graph.add_node("loner")
    graph.add_edge("b", "a", weight=2.5)
    graph.add_edge("a", "c")
    read = as_graph(graph)
    assert read.names == ("loner", "b", "a", "c")
    assert read.degrees().tolist() == [0, 2.5, 3.5, 1]
    assert as_graph(graph, weight=None).degrees().tolist() == [0, 1, 2, 1]


def test_as_graph_networkx_plain_nodes_have_no_names():
    assert as_graph(nx.path_graph(4)).names is None


def test_as_graph_networkx_weight_names_the_attribute():
    graph = nx.Graph([(0, 1, {"cost": 4})])
    assert as_graph(graph, weight="cost").total_volume == 8


def test_as_graph_networkx_multigraph_edges_add_up():
    graph = nx.MultiGraph([(0, 1), (0, 1, {"weight": 2}), (1, 1)])
    assert as_graph(graph).degrees().tolist() == [3, 3]
    assert as_graph(graph, self_loops=True).degrees().tolist() == [3, 5]


def test_as_graph_networkx_subclass_is_read():
    class Mine(nx.Graph):
        pass

    assert as_graph(Mine([(0, 1)])).num_edges == 1


def test_as_graph_networkx_num_nodes_of_another_graph_is_refused():
    with pytest.raises(ValueError, match="num_nodes=5, but the graph has 4 nodes"):
        as_graph(nx.path_graph(4), num_nodes=5)


@pytest.mark.parametrize("weight", [Decimal("0.5"), Fraction(1, 2)])
def test_as_graph_networkx_decimals_and_fractions_are_weights(weight):
    graph = nx.Graph([(0, 1, {"weight": weight}), (1, 2)])
    assert as_graph(graph).degrees().tolist() == [0.5, 1.5, 1]


@pytest.mark.parametrize("weight", [None, "heavy", "2.5", [1]])
def test_as_graph_networkx_mixed_weights_are_named_with_their_edge(weight):
    graph = nx.Graph([(0, 1, {"weight": 1.5}), (1, 2, {"weight": weight})])
    with pytest.raises(TypeError, match=r"for edge 1; convert them, or pass weight=None") as error:
        as_graph(graph)
    assert repr(weight) in str(error.value)
    assert as_graph(graph, weight=None).total_volume == 4


def test_as_graph_networkx_empty_weight_is_an_attribute_that_no_edge_has():
    with pytest.raises(ValueError, match="no edge has the attribute ''; edges have none; pass"):
        as_graph(nx.path_graph(3), weight="")


def test_as_graph_edges_view_of_networkx_is_read():
    assert as_graph(edges=nx.path_graph(3).edges).num_edges == 2
