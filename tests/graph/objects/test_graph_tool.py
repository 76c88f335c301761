"""Graphs of graph-tool, where it is installed."""

from __future__ import annotations

import pytest

from sepool import as_graph

graph_tool = pytest.importorskip("graph_tool")


def path(weight_type="double"):
    graph = graph_tool.Graph(directed=False)
    graph.add_vertex(4)
    weight = graph.new_edge_property(weight_type)
    for u, v, w in [(2, 1, 2.5), (1, 0, 1.0)]:
        weight[graph.add_edge(u, v)] = w
    graph.edge_properties["weight"] = weight
    return graph


def test_as_graph_graph_tool_weights_are_the_edge_property():
    assert as_graph(path()).degrees().tolist() == [1, 3.5, 2.5, 0]
    assert as_graph(path(), weight=None).degrees().tolist() == [1, 2, 1, 0]
    graph = path()
    graph.edge_properties["cost"] = graph.edge_properties.pop("weight")
    assert as_graph(graph).degrees().tolist() == [1, 2, 1, 0]
    assert as_graph(graph, weight="cost").degrees().tolist() == [1, 3.5, 2.5, 0]
    with pytest.raises(ValueError, match="no edge has the attribute 'cots'; edges have cost"):
        as_graph(graph, weight="cots")


def test_as_graph_graph_tool_vertex_property_has_the_names():
    graph = path()
    graph.vertex_properties["name"] = names = graph.new_vertex_property("string")
    for vertex, name in zip(graph.vertices(), "abcd", strict=True):
        names[vertex] = name
    assert as_graph(graph).names == ("a", "b", "c", "d")


def test_as_graph_graph_tool_view_has_the_vertices_of_its_filter():
    view = graph_tool.GraphView(path(), vfilt=lambda vertex: int(vertex) > 0)
    assert as_graph(view).names == (1, 2, 3)
    assert as_graph(view).degrees().tolist() == [2.5, 2.5, 0]


def test_as_graph_graph_tool_weights_of_text_are_refused():
    graph = path()
    text = graph.new_edge_property("string")
    graph.edge_properties["weight"] = text
    with pytest.raises(TypeError, match="edge weights must be real numbers, got '' for edge 0"):
        as_graph(graph)


def test_as_graph_graph_tool_directed_graph_needs_symmetrise():
    graph = path()
    graph.set_directed(True)
    with pytest.raises(ValueError, match=r"graph_tool.Graph.*symmetrise=True"):
        as_graph(graph)
    assert as_graph(graph, symmetrise=True).total_volume == 7
