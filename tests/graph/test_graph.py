from __future__ import annotations

import gzip
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from tests.shapes import same

from sepool import Graph, as_graph, as_graph_batch


def test_as_graph_rows_are_sorted_with_both_directions():
    graph = as_graph(np.array([[2, 0], [1, 0]]))
    assert graph.indptr.tolist() == [0, 2, 3, 4]
    assert graph.indices.tolist() == [1, 2, 0, 0]
    assert repr(graph) == "Graph(nodes=3, edges=2)"
    assert graph.total_volume == 4


def test_as_graph_repeated_edges_add_up():
    u, v, w = as_graph([(0, 1), (1, 0), (1, 2)]).edges()
    assert (u.tolist(), v.tolist(), w.tolist()) == ([0, 1], [1, 2], [2, 1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, ">i8", float])
def test_as_graph_takes_ids_of_any_number_type(dtype):
    edges = np.array([[0, 1], [1, 2]], dtype)
    edges.flags.writeable = False
    assert same(as_graph(edges), as_graph([(0, 1), (1, 2)]))


def test_as_graph_takes_strided_and_fortran_arrays():
    edges = np.array([[0, 1, 9], [1, 2, 9]])
    assert same(as_graph(edges[:, :2]), as_graph([(0, 1), (1, 2)]))
    assert same(as_graph(np.asfortranarray(edges[:, :2])), as_graph([(0, 1), (1, 2)]))


def test_as_graph_forms_of_weights_agree():
    edges, weights = np.array([[0, 1], [1, 2]]), [0.5, 1.25]
    graph = as_graph((edges, weights))
    assert same(graph, as_graph(np.column_stack([edges, weights])))
    assert same(graph, as_graph([(0, 1, 0.5), (1, 2, 1.25)]))
    assert graph.degrees().tolist() == [0.5, 1.75, 1.25]
    assert as_graph((edges, weights), weight=None).degrees().tolist() == [1, 2, 1]


def test_as_graph_num_nodes_adds_isolated_nodes():
    assert as_graph([(0, 1)], num_nodes=4).degrees().tolist() == [1, 1, 0, 0]
    assert as_graph([], num_nodes=1).num_nodes == 1
    assert as_graph(np.empty((0, 2), int), num_nodes=np.int64(2)).num_edges == 0


def test_as_graph_self_loops_are_dropped_by_default():
    edges = [(0, 0, 3.0), (0, 1, 1.0)]
    assert as_graph(edges).degrees().tolist() == [1, 1]
    assert as_graph(edges, self_loops=True).degrees().tolist() == [7, 1]
    assert as_graph(edges, self_loops=True).num_edges == 1


def test_as_graph_zero_weights_are_no_edges():
    assert as_graph([(0, 1, 0.0), (1, 2, 1.0)]).num_edges == 1


def test_as_graph_returns_a_graph_unchanged():
    graph = as_graph([(0, 1)])
    assert as_graph(graph) is graph


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("indptr", [0, 1, 2]),
        ("indices", np.array([1 + 2**32, 0])),
        ("weights", np.array([1.9, 1.9])),
        ("loops", np.array([0, 1], np.uint64)),
    ],
)
def test_graph_arrays_of_other_types_are_refused(name, array):
    arrays = {"indptr": np.array([0, 1, 2], np.int64), "indices": np.array([1, 0], np.int32)}
    with pytest.raises(TypeError, match=f"{name} must be an array of int"):
        Graph(**{**arrays, name: array})


PATH = [(0, 1), (1, 2)]
AMBIGUOUS = r"could hold edges.* be an adjacency"


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        *(([(0, 1, 1.0), (1, 2, w)], rf"weight {w:g}") for w in (-1.0, np.nan, np.inf, -np.inf)),
        ([(0, 1, 1e308), (1, 2, 1e308)], "add up"),
        ([(0, 1), (-1, 0)], "node -1"),
        *((np.array([[0, x]]), f"whole numbers, got {x}") for x in (0.5, np.nan, np.inf)),
        (np.array([[0, 1e300]]), r"whole numbers, got 1e\+300"),
        ([(0, 10**10)], "10000000001"),
        *((empty, "no nodes") for empty in ([], np.empty((0, 2), int), np.empty((0, 3)))),
        (np.zeros((2, 5), int), r"\(2, 5\); transpose it"),
        (np.zeros((5, 4)), r"\(5, 4\); pass a square matrix as as_graph\(adjacency=matrix\)"),
        (np.array([[0, 1, 2], [1, 2, 0]]), AMBIGUOUS),
        (np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), AMBIGUOUS),
        (np.array([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]]), AMBIGUOUS),
        (np.array([[0.0, 5], [5, 0]]), AMBIGUOUS),
        (np.arange(4), "one edge a row"),
        (np.zeros((2, 2, 2), int), "one edge a row"),
        (7 * np.ones((3, 1)), "one edge a row"),
        ([(0, 1), (1, 2, 3, 4)], "one edge a row"),
        ((PATH, [1, 2, 3]), r"expected 2 weights, one an edge, got shape \(3,\)"),
        (([(0, 1, 1.0)], [1]), "twice"),
    ],
)
def test_as_graph_impossible_value_is_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        as_graph(graph)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        *(([i], "node ids must be whole numbers") for i in ((True, False), (0, 1j), (0, None))),
        ((PATH, [1, "x"]), "edge weights must be real numbers, got 'x'"),
        *(((PATH, w), "edge weights must be real") for w in (["a", "b"], [1j, 0], [None, 1])),
        (None, "cannot read a graph from NoneType"),
        (3, "cannot read a graph from int"),
        (iter([(0, 1)]), "cannot read a graph from list_iterator"),
    ],
)
def test_as_graph_wrong_type_is_refused(graph, message):
    with pytest.raises(TypeError, match=message):
        as_graph(graph)


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        ([(0, 1), (1, 3)], {"num_nodes": 3}, "node 3, but the graph has 3 nodes"),
        ([], {"num_nodes": 0}, "num_nodes must be at least 1, got 0"),
        ([], {"num_nodes": -1}, "num_nodes must be at least 1, got -1"),
        ([(0, 1)], {"weight": "w"}, "leave it out for a list, or pass None to ignore weights"),
    ],
)
def test_as_graph_impossible_option_is_refused(graph, options, message):
    with pytest.raises(ValueError, match=message):
        as_graph(graph, **options)


def test_as_graph_num_nodes_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="num_nodes must be a whole number, got 'a'"):
        as_graph([(0, 1)], num_nodes="a")


def test_as_graph_three_weighted_edges_are_read():
    assert as_graph(np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4]])).num_nodes == 4
    assert as_graph(np.array([[0, 1, 0.5], [1, 2, 2.0]])).num_nodes == 3
    assert as_graph(np.array([[0, 1], [1, 0]])).num_nodes == 2
    assert as_graph([(0, 1, 2), (1, 2, 0)]).num_nodes == 3  # rows of a list are edges


def test_as_graph_reads_files(tmp_path):
    path = tmp_path / "graph.txt.gz"
    path.write_bytes(gzip.compress(b"a b\nb c 2\n"))
    assert as_graph(path).names == as_graph(str(path)).names == ("a", "b", "c")
    assert as_graph(path, weight=None).total_volume == 4


class TestMasked:
    EDGES = np.ma.array([[0, 1], [1, 2], [2, 3]], mask=[[0, 0], [0, 0], [0, 1]])
    WEIGHTS = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])

    @pytest.mark.parametrize("read", [as_graph, lambda edges: as_graph_batch([edges, edges])])
    @pytest.mark.parametrize("form", [lambda edges: edges, list, lambda edges: (edges, [1, 2, 3])])
    def test_as_graph_masked_edges_are_refused(self, read, form):
        with pytest.raises(ValueError, match="edges have masked entries; leave them out first"):
            read(form(self.EDGES))

    def test_as_graph_masked_weights_are_refused(self):
        with pytest.raises(ValueError, match="edge weights have masked entries"):
            as_graph((self.EDGES.data, self.WEIGHTS))

    def test_as_graph_the_remedy_for_masked_edges_works(self):
        edges = self.EDGES
        remedy = edges[~np.ma.getmaskarray(edges).any(axis=1)].data
        assert as_graph(remedy).num_edges == 2

    def test_as_graph_nothing_masked_is_read(self):
        assert as_graph(np.ma.array([[0, 1], [1, 2], [2, 3]])).num_edges == 3

    def test_graph_masked_fields_are_refused(self):
        indices = np.ma.array(np.array([1, 0], np.int32), mask=[0, 1])
        with pytest.raises(ValueError, match="indices have masked entries"):
            Graph(np.array([0, 1, 2], np.int64), indices)


class TestNumbersOfOtherTypes:
    @pytest.mark.parametrize(
        "edges",
        [[(0, 2**70)], [(0, -(2**70), 1)], np.array([[0, 2**63 + 5]], np.uint64)],
        ids=["python", "weighted", "numpy"],
    )
    def test_as_graph_ids_beyond_64_bits_are_named(self, edges):
        with pytest.raises(ValueError, match=r"node ids must be 0 to 2\^63 - 1, got -?\d{19}"):
            as_graph(edges)

    def test_as_graph_num_nodes_beyond_64_bits_is_named(self):
        for n in (2**31, 2**70):
            with pytest.raises(ValueError, match=rf"num_nodes must be below 2\^31, got {n}"):
                as_graph([(0, 1)], num_nodes=n)
            with pytest.raises(ValueError, match=rf"num_nodes must be below 2\^31, got {n}"):
                as_graph_batch([np.array([(0, 1)])], num_nodes=[n])

    @pytest.mark.parametrize("weight", [Fraction(1, 2), Decimal("0.5"), np.float32(0.5)])
    def test_as_graph_rows_with_fractions_are_read(self, weight):
        assert as_graph([(0, 1, weight), (1, 2, 1)]).degrees().tolist() == [0.5, 1.5, 1]

    @pytest.mark.parametrize("weight", [2**2000, Fraction(10**400)], ids=["integer", "fraction"])
    def test_as_graph_weights_beyond_doubles_are_named(self, weight):
        with pytest.raises(ValueError, match=r"the weight of edge 1 is above 1\.8e308"):
            as_graph([(0, 1, 1), (1, 2, weight)])

    @pytest.mark.parametrize("weight", [None, [1], np.array([1, 2]), "1", 1j])
    def test_as_graph_weights_of_mixed_types_are_named(self, weight):
        graph = nx.Graph([(0, 1, {"weight": 1.5}), (1, 2, {"weight": weight})])
        with pytest.raises(TypeError, match="edge weights must be real numbers, got ") as error:
            as_graph(graph)
        assert repr(weight) in str(error.value)

    @pytest.mark.parametrize("weight", [0, False, True, ["a"]])
    def test_as_graph_names_of_weights_are_strings(self, weight):
        for graph in ([(0, 1)], nx.path_graph(3)):
            with pytest.raises(TypeError, match="weight must be the name of an edge attribute or"):
                as_graph(graph, weight=weight)

    def test_as_graph_an_empty_name_is_a_name(self):
        graph = nx.Graph([(0, 1, {"": 4}), (1, 2, {"": 1})])
        assert as_graph(graph, weight="").degrees().tolist() == [4, 5, 1]
        with pytest.raises(ValueError, match="no edge has the attribute ''"):
            as_graph(nx.path_graph(3), weight="")
