"""Arrays of edges and dense adjacency matrices; the keywords edges= and adjacency=."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from tests.shapes import same

from sepool import Graph, as_graph, as_graph_batch, coding_tree

MATRIX = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 2], [0, 0, 2, 0]])
TRIANGLE = MATRIX[:3, :3]


@pytest.mark.parametrize(
    "form", [np.array, np.matrix, np.ndarray.tolist, lambda m: m.astype(float), np.asfortranarray]
)
def test_as_graph_square_array_of_four_rows_is_an_adjacency_matrix(form):
    assert same(as_graph(form(MATRIX)), as_graph(sparse.csr_array(MATRIX)))
    assert same(as_graph(adjacency=form(MATRIX)), as_graph(sparse.csr_array(MATRIX)))


def test_as_graph_square_array_that_is_not_symmetric_needs_symmetrise():
    arcs = np.triu(MATRIX)
    with pytest.raises(ValueError, match=r"directed.*symmetrise=True"):
        as_graph(arcs)
    assert same(as_graph(arcs, symmetrise=True), as_graph(MATRIX))


@pytest.mark.parametrize("array", [TRIANGLE, TRIANGLE.astype(float), np.array([[0, 1, 2]] * 2)])
def test_as_graph_ambiguous_array_names_the_keywords(array):
    remedy = r"could hold edges.*pass as_graph\(edges=array\), as_graph\(adjacency=array\) or"
    for read in (as_graph, coding_tree):
        with pytest.raises(ValueError, match=remedy):
            read(array)
    with pytest.raises(ValueError, match=f"graph 0: .*{remedy}"):
        as_graph_batch([array])


def test_as_graph_keywords_end_the_ambiguity():
    assert as_graph(edges=TRIANGLE).degrees().tolist() == [2, 2]
    assert as_graph(adjacency=TRIANGLE).degrees().tolist() == [2, 2, 2]
    assert as_graph(adjacency=[[0, 5], [5, 0]]).degrees().tolist() == [5, 5]
    assert as_graph(adjacency=sparse.csr_array(TRIANGLE)).num_edges == 3
    assert as_graph(adjacency=[[3]], self_loops=True).num_nodes == 1
    batch = as_graph_batch([as_graph(edges=TRIANGLE), as_graph(adjacency=TRIANGLE)])
    assert [graph.num_nodes for graph in batch] == [2, 3]


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2)],
        ((0, 1), (1, 2)),
        np.array([[0, 1], [1, 2]]),
        ([(0, 1), (1, 2)], [1, 1]),
        (((0, 1), (1, 2)), np.ones(2)),
        {0: 1, 1: 2}.items(),
    ],
    ids=["list", "tuple", "array", "weighted", "tuples", "items"],
)
def test_as_graph_edges_takes_rows_in_any_container(edges):
    assert same(as_graph(edges=edges), as_graph([(0, 1), (1, 2)]))


def test_as_graph_edges_takes_iterators_and_num_nodes():
    assert as_graph(edges=zip("ab", "bc", strict=True)).names == ("a", "b", "c")
    assert as_graph(edges=[(0, 1)], num_nodes=3).num_nodes == 3
    assert as_graph(edges=[], num_nodes=2).num_edges == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": [(0, 1)], "adjacency": MATRIX}, "got edges= and adjacency="),
        ({"graph": [(0, 1)], "edges": [(0, 1)]}, "got a graph and edges="),
        ({}, "cannot read a graph from NoneType"),
        *(({"edges": bad}, "edges= must be rows") for bad in ({(0, 1)}, "ab", {0: [1]}, 3)),
        *(({"adjacency": bad}, "adjacency= must be a square matrix") for bad in ("ab", {}, 3)),
        ({"adjacency": sparse.linalg.aslinearoperator(MATRIX)}, "adjacency= must be a square"),
        ({"edges": sparse.csr_array(MATRIX)}, "edges= must be rows.*got csr_array"),
        ({"edges": as_graph([(0, 1)])}, r"edges= got a Graph; pass it as as_graph\(graph\)"),
        ({"adjacency": [["a", "b"], ["b", "a"]]}, "holds numbers, got an array of <U1"),
    ],
)
def test_as_graph_keywords_of_another_type_are_refused(options, message):
    with pytest.raises(TypeError, match=message):
        as_graph(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjacency": np.ones((2, 3))}, r"square, got shape \(2, 3\)"),
        ({"adjacency": [0, 1]}, r"square, got shape \(2,\)"),
        ({"adjacency": [[0, 1], [1]]}, "square, got rows of several lengths"),
        ({"adjacency": [[0, np.nan], [np.nan, 0]]}, "weight nan"),
        ({"adjacency": [[0, -1], [-1, 0]]}, "weight -1"),
        ({"adjacency": np.ma.array(TRIANGLE, mask=TRIANGLE > 0)}, "have masked entries"),
        ({"adjacency": MATRIX, "num_nodes": 5}, "num_nodes=5, but the graph has 4 nodes"),
        ({"adjacency": MATRIX, "columns": (0, 1)}, "columns=.*leave it out for a ndarray"),
        ({"edges": MATRIX}, r"expected edges of shape.*got \(4, 4\); pass a square matrix as"),
        ({"edges": np.zeros((2, 5), int)}, r"got \(2, 5\); transpose it"),
        ({"graph": (MATRIX, [1, 2, 3, 4])}, r"expected edges of shape.*got \(4, 4\)"),
    ],
)
def test_as_graph_impossible_keyword_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        as_graph(**options)


@pytest.mark.parametrize("half", [Decimal("0.5"), Fraction(1, 2)])
def test_as_graph_decimals_and_fractions_are_weights(half):
    expected = as_graph([(0, 1, 0.5), (1, 2, 2)])
    assert same(as_graph([(0, 1, half), (1, 2, 2)]), expected)
    assert same(as_graph(([(0, 1), (1, 2)], [half, 2])), expected)
    assert same(as_graph([("a", "b", half), ("b", "c", 2)]), expected)
    assert as_graph(adjacency=[[0, half], [half, 0]]).total_volume == 1


@pytest.mark.parametrize("read", [as_graph, lambda edges: as_graph(edges=edges)])
def test_as_graph_integers_beyond_64_bits_are_named(read):
    for edges in ([(0, 2**70)], [(0, 1), (2**64, 1, 2.0)], np.array([[0, 2**70]], object)):
        with pytest.raises(
            ValueError, match=r"node ids must be 0 to 2\^63 - 1, got \d+; make them"
        ):
            read(edges)


@pytest.mark.parametrize("unit", [0, -1.0, np.nan, np.inf])
def test_graph_unit_that_is_not_positive_is_refused(unit):
    graph = as_graph([(0, 1)])
    with pytest.raises(ValueError, match="unit must be positive and finite, got "):
        Graph(graph.indptr, graph.indices, unit=unit)


@pytest.mark.parametrize("unit", [None, "1", True])
def test_graph_unit_that_is_no_number_is_refused(unit):
    graph = as_graph([(0, 1)])
    with pytest.raises(TypeError, match="unit must be a number, got "):
        Graph(graph.indptr, graph.indices, unit=unit)


def test_as_graph_batch_takes_square_arrays_and_refuses_wide_ones():
    assert [graph.num_nodes for graph in as_graph_batch([MATRIX, MATRIX])] == [4, 4]
    with pytest.raises(ValueError, match="graph 0: expected edges of shape"):
        as_graph_batch([np.zeros((2, 4), int)] * 2)
