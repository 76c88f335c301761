"""Lists of named edges and dictionaries of neighbours."""

from __future__ import annotations

from collections import defaultdict

import networkx as nx
import numpy as np
import pytest

from sepool import as_graph, as_graph_batch, coding_tree


def weights_by_name(graph):
    u, v, w = graph.edges()
    names = graph.names or range(graph.num_nodes)
    return {frozenset((names[a], names[b])): c for a, b, c in zip(u, v, w.tolist(), strict=True)}


def test_as_graph_named_rows_keep_names_in_order_of_appearance():
    graph = as_graph([("b", "a"), ("a", "c", 2.0)])
    assert graph.names == ("b", "a", "c")
    assert graph.degrees().tolist() == [1, 3, 2]
    assert as_graph([("b", "a", 5)], weight=None).total_volume == 2


def test_as_graph_named_rows_take_nodes_of_several_types():
    assert as_graph([("a", 1), (1, "1")]).names == ("a", 1, "1")
    grid = nx.grid_2d_graph(2, 3)
    assert weights_by_name(as_graph(list(grid.edges))) == weights_by_name(as_graph(grid))


def test_as_graph_array_of_strings_has_named_edges():
    edges = np.array([["x", "y"], ["y", "z"]])
    assert as_graph(edges).names == ("x", "y", "z")
    assert as_graph((edges, [1, 2])).degrees().tolist() == [1, 3, 2]
    batch = as_graph_batch([np.array([["x", "y"]]), np.array([["z", "y"]])])
    assert [graph.names for graph in batch] == [("x", "y"), ("z", "y")]


def test_as_graph_rows_of_integers_without_some_weights_are_numbered():
    assert as_graph([(0, 1), (1, 3, 2.5)]).degrees().tolist() == [1, 3.5, 0, 2.5]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", None)], "node ids must be whole numbers or names, got None"),
        ([("a", 1.5)], "node ids must be whole numbers or names, got 1.5"),
        ([("a", float("nan"))], "node ids must be whole numbers or names, got nan"),
        ([("a", True)], "node ids must be whole numbers or names, got True"),
        ([("a", ["b"])], r"must be hashable, got \['b'\]; make lists tuples"),
        ([("a", "b", "2")], "edge weights must be real numbers, got '2' for edge 0"),
        (["ab", "cd"], "one edge a row, got 'ab' at 0"),
        ([("a", "b"), ("c",)], r"one edge a row, got \('c',\) at 1"),
        ([("a", "b", 1, 2)], "one edge a row, got"),
        ([{"source": "a", "target": "b"}], "one edge a row, got {'source'"),
        (([("a", "b", 1)], [1]), "weights are given twice"),
        (([("a", "b")], [1, 2]), "expected 1 weights, one an edge"),
    ],
)
def test_as_graph_malformed_named_rows_are_refused(rows, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_graph(rows)


@pytest.mark.parametrize(
    "graph",
    [
        {"a": ["b", "c"]},
        {"a": ["b", "c"], "b": ["a"], "c": ["a"]},
        {"a": ["b", "c", "b"]},
        {"b": {"a"}, "c": frozenset("a")},
        {"a": np.array(["b", "c"])},
        {"z": [], "a": ("b", "c")},
        defaultdict(list, a=["b", "c"]),
    ],
)
def test_as_graph_neighbours_equal_networkx(graph):
    lists = {node: list(neighbours) for node, neighbours in graph.items()}
    expected = as_graph(nx.Graph(lists))
    assert as_graph(graph).names == expected.names
    assert weights_by_name(as_graph(graph)) == weights_by_name(expected)


def test_as_graph_neighbours_with_weights_listed_from_both_ends_count_once():
    one_way = as_graph({"a": {"b": 2.0, "c": 1}})
    both_ways = as_graph({"a": {"b": 2.0, "c": 1}, "b": {"a": 2}, "c": ["a"]})
    assert one_way.degrees().tolist() == both_ways.degrees().tolist() == [3, 2, 1]


def test_as_graph_neighbours_with_symmetrise_are_arcs():
    graph = {"a": {"b": 2.0}, "b": {"a": 3.0}}
    assert as_graph(graph, symmetrise=True).degrees().tolist() == [5, 5]
    arcs = as_graph([("a", "b", 2.0), ("b", "a", 3.0)], directed="flow")
    assert as_graph(graph, directed="flow").degrees() == pytest.approx(arcs.degrees())


def test_as_graph_neighbours_self_loop_counts_once():
    assert as_graph({"a": ["a", "b"]}, self_loops=True).degrees().tolist() == [3, 1]


def test_as_graph_neighbours_with_integer_ids_are_ordered_by_them():
    assert as_graph({2: [1], 0: []}).names is None
    assert as_graph({7: [3], 5: []}).names == (3, 5, 7)
    assert as_graph({7: [3], 5: []}).degrees().tolist() == [1, 0, 1]
    assert as_graph({2**70: [1]}).names == (2**70, 1)
    assert as_graph({np.int64(5): [np.int64(3)]}).names == (3, 5)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({}, "no nodes"),
        ({"a": "bc"}, "the neighbours of node 'a' must be a list.*got 'bc'"),
        ({"a": None}, "the neighbours of node 'a' must be a list.*got None"),
        ({("a", "b"): 2.0}, r"node \('a', 'b'\).*pass edges with weights as a list of rows"),
        ({"a": [["b"]]}, "the neighbours of node 'a' must be hashable"),
        ({"a": [("b", 2)], "b": []}, r"neighbour \('b', 2\); pass weights as {'a': {'b': weight}}"),
        ({"a": {"b": {"weight": 2}}}, r"dictionaries of attributes; pass networkx.Graph\(graph\)"),
        ({"a": {"b": "x"}}, "edge weights must be real numbers, got 'x'"),
        ({"a": {"b": 2}, "b": {"a": 3}}, "'a' and 'b' weighs 2 from one end and 3 from the other"),
        ({"a": {"b": np.nan}, "b": {"a": np.nan}}, "weight nan"),
        ({"a": {"b": -1}}, "weight -1"),
        ({"source": ["a"], "target": ["b"]}, r"names of columns.*pass pandas.DataFrame\(graph\)"),
        ({None: ["a"]}, "node ids must be whole numbers or names, got None"),
    ],
)
def test_as_graph_malformed_neighbours_are_refused(graph, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_graph(graph)


def test_as_graph_batch_single_dictionary_is_refused():
    with pytest.raises(TypeError, match="got a single dict; coding_tree takes one"):
        as_graph_batch({"a": ["b"]})
    assert as_graph_batch([{"a": ["b"]}, [("c", "d")]])[1].names == ("c", "d")


def test_coding_tree_of_named_edges_has_the_names():
    assert coding_tree([("a", "b"), ("b", "c")], height=2).names == ("a", "b", "c")
