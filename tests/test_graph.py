from __future__ import annotations

import gzip

import numpy as np
import pytest

from sepool import Graph, as_graph, as_graph_batch


def same(a: Graph, b: Graph) -> bool:
    """Equal rows, weights and loops, as the caller sees them."""
    return (
        a.num_nodes == b.num_nodes
        and all(np.allclose(x, y) for x, y in zip(a.edges(), b.edges(), strict=True))
        and np.allclose(a.degrees(), b.degrees())
    )


def test_rows_are_sorted_and_hold_both_directions():
    graph = as_graph(np.array([[2, 0], [1, 0]]))
    assert graph.indptr.tolist() == [0, 2, 3, 4]
    assert graph.indices.tolist() == [1, 2, 0, 0]
    assert repr(graph) == "Graph(nodes=3, edges=2)"
    assert graph.total_volume == 4


def test_repeated_edges_add_up():
    u, v, w = as_graph([(0, 1), (1, 0), (1, 2)]).edges()
    assert (u.tolist(), v.tolist(), w.tolist()) == ([0, 1], [1, 2], [2, 1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, ">i8", float])
def test_ids_of_any_number_type(dtype):
    edges = np.array([[0, 1], [1, 2]], dtype)
    edges.flags.writeable = False
    assert same(as_graph(edges), as_graph([(0, 1), (1, 2)]))


def test_strided_and_fortran_arrays():
    edges = np.array([[0, 1, 9], [1, 2, 9]])
    assert same(as_graph(edges[:, :2]), as_graph([(0, 1), (1, 2)]))
    assert same(as_graph(np.asfortranarray(edges[:, :2])), as_graph([(0, 1), (1, 2)]))


def test_three_ways_to_give_weights_agree():
    edges, weights = np.array([[0, 1], [1, 2]]), [0.5, 1.25]
    graph = as_graph((edges, weights))
    assert same(graph, as_graph(np.column_stack([edges, weights])))
    assert same(graph, as_graph([(0, 1, 0.5), (1, 2, 1.25)]))
    assert graph.degrees().tolist() == [0.5, 1.75, 1.25]
    assert as_graph((edges, weights), weight=None).degrees().tolist() == [1, 2, 1]


def test_num_nodes_adds_isolated_nodes():
    assert as_graph([(0, 1)], num_nodes=4).degrees().tolist() == [1, 1, 0, 0]
    assert as_graph([], num_nodes=1).num_nodes == 1
    assert as_graph(np.empty((0, 2), int), num_nodes=np.int64(2)).num_edges == 0


def test_self_loops_are_dropped_unless_asked_for():
    edges = [(0, 0, 3.0), (0, 1, 1.0)]
    assert as_graph(edges).degrees().tolist() == [1, 1]
    assert as_graph(edges, self_loops=True).degrees().tolist() == [7, 1]
    assert as_graph(edges, self_loops=True).num_edges == 1


def test_zero_weights_are_no_edges():
    assert as_graph([(0, 1, 0.0), (1, 2, 1.0)]).num_edges == 1


def test_a_graph_is_returned_as_it_is():
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
def test_arrays_of_other_types_are_not_cut(name, array):
    arrays = {"indptr": np.array([0, 1, 2], np.int64), "indices": np.array([1, 0], np.int32)}
    with pytest.raises(TypeError, match=f"{name} must be an array of int"):
        Graph(**{**arrays, name: array})


class TestBadInput:
    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, -np.inf])
    def test_weights(self, weight):
        with pytest.raises(ValueError, match=f"weight {weight:g}".replace("+", r"\+")):
            as_graph([(0, 1, 1.0), (1, 2, weight)])

    def test_weights_that_overflow(self):
        with pytest.raises(ValueError, match="add up"):
            as_graph([(0, 1, 1e308), (1, 2, 1e308)])

    def test_ids_out_of_range(self):
        with pytest.raises(ValueError, match="node 3, but the graph has 3 nodes"):
            as_graph([(0, 1), (1, 3)], num_nodes=3)

    def test_negative_ids(self):
        with pytest.raises(ValueError, match="node -1"):
            as_graph([(0, 1), (-1, 0)])

    @pytest.mark.parametrize("bad", [0.5, np.nan, np.inf, 1e300])
    def test_ids_that_are_no_whole_numbers(self, bad):
        with pytest.raises(ValueError, match=r"whole numbers, got (0.5|nan|inf|1e\+300)"):
            as_graph(np.array([[0, bad]]))

    def test_too_many_nodes(self):
        with pytest.raises(ValueError, match="10000000001"):
            as_graph([(0, 10**10)])

    @pytest.mark.parametrize("empty", [[], np.empty((0, 2), int), np.empty((0, 3))])
    def test_no_nodes(self, empty):
        with pytest.raises(ValueError, match="no nodes"):
            as_graph(empty)

    @pytest.mark.parametrize("count", [0, -1])
    def test_impossible_num_nodes(self, count):
        with pytest.raises(ValueError, match="no nodes"):
            as_graph([], num_nodes=count)

    def test_edge_index_of_shape_2_m(self):
        with pytest.raises(ValueError, match=r"\(2, 5\); transpose it"):
            as_graph(np.zeros((2, 5), int))

    def test_dense_matrix(self):
        with pytest.raises(ValueError, match=r"\(4, 4\); for an adjacency matrix"):
            as_graph(np.zeros((4, 4)))

    @pytest.mark.parametrize(
        "edges", [[[0, 1, 2], [1, 2, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]], ids=["ends", "matrix"]
    )
    def test_that_could_be_something_else(self, edges):
        with pytest.raises(ValueError, match=r"could hold weighted edges.* be an adjacency"):
            as_graph(np.array(edges))

    def test_of_three_weighted_edges(self):
        assert as_graph(np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4]])).num_nodes == 4
        assert as_graph(np.array([[0, 1, 0.5], [1, 2, 2.0]])).num_nodes == 3
        assert as_graph([(0, 1, 2), (1, 2, 0)]).num_nodes == 3  # a list says what its rows are

    @pytest.mark.parametrize("edges", [np.arange(4), np.zeros((2, 2, 2), int), 7 * np.ones((3, 1))])
    def test_other_shapes(self, edges):
        with pytest.raises(ValueError, match="one edge a row"):
            as_graph(edges)

    def test_ragged_rows(self):
        with pytest.raises(ValueError, match="all of one length"):
            as_graph([(0, 1), (1, 2, 3)])

    @pytest.mark.parametrize("edges", [[("a", "b")], [(True, False)], [(0, 1j)], [(0, None)]])
    def test_ids_of_the_wrong_kind(self, edges):
        with pytest.raises(TypeError, match="node ids must be whole numbers"):
            as_graph(edges)

    def test_weights_of_the_wrong_length(self):
        with pytest.raises(ValueError, match=r"expected 2 weights, one an edge, got shape \(3,\)"):
            as_graph(([(0, 1), (1, 2)], [1, 2, 3]))

    @pytest.mark.parametrize("weights", [["a", "b"], [1j, 0], [None, 1]])
    def test_weights_of_the_wrong_kind(self, weights):
        with pytest.raises(TypeError, match="edge weights must be real numbers"):
            as_graph(([(0, 1), (1, 2)], weights))

    def test_weights_given_twice(self):
        with pytest.raises(ValueError, match="twice"):
            as_graph(([(0, 1, 1.0)], [1]))

    @pytest.mark.parametrize("thing", [None, 3, {0: [1]}, iter([(0, 1)])])
    def test_things_that_are_no_graph(self, thing):
        with pytest.raises(TypeError, match=f"cannot read a graph from {type(thing).__name__}"):
            as_graph(thing)


class TestNetworkx:
    @pytest.fixture
    def nx(self):
        return pytest.importorskip("networkx")

    def test_names_order_and_weights(self, nx):
        graph = nx.Graph()
        graph.add_node("loner")
        graph.add_edge("b", "a", weight=2.5)
        graph.add_edge("a", "c")
        read = as_graph(graph)
        assert read.names == ("loner", "b", "a", "c")
        assert read.degrees().tolist() == [0, 2.5, 3.5, 1]
        assert as_graph(graph, weight=None).degrees().tolist() == [0, 1, 2, 1]

    def test_plain_nodes_need_no_names(self, nx):
        assert as_graph(nx.path_graph(4)).names is None

    def test_another_attribute(self, nx):
        graph = nx.Graph([(0, 1, {"cost": 4})])
        assert as_graph(graph, weight="cost").total_volume == 8

    def test_multigraph(self, nx):
        graph = nx.MultiGraph([(0, 1), (0, 1, {"weight": 2}), (1, 1)])
        assert as_graph(graph).degrees().tolist() == [3, 3]
        assert as_graph(graph, self_loops=True).degrees().tolist() == [3, 5]

    def test_directed(self, nx):
        graph = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
        with pytest.raises(ValueError, match=r"directed.*symmetrise=True"):
            as_graph(graph)
        assert as_graph(graph, symmetrise=True).degrees().tolist() == [2, 3, 1]

    def test_parts_of_a_graph(self, nx):
        graph = nx.path_graph(3)
        for part in (graph.edges, graph.adj):
            with pytest.raises(TypeError, match=f"read a graph from {type(part).__name__}"):
                as_graph(part)

    def test_weight_that_is_no_number(self, nx):
        with pytest.raises(TypeError, match="got 'heavy'"):
            as_graph(nx.Graph([(0, 1, {"weight": "heavy"})]))

    def test_subclass(self, nx):
        class Mine(nx.Graph):
            pass

        assert as_graph(Mine([(0, 1)])).num_edges == 1

    def test_empty(self, nx):
        with pytest.raises(ValueError, match="no nodes"):
            as_graph(nx.Graph())

    def test_num_nodes_that_contradicts(self, nx):
        with pytest.raises(ValueError, match="num_nodes=5, but the graph has 4 nodes"):
            as_graph(nx.path_graph(4), num_nodes=5)


class TestScipy:
    @pytest.fixture
    def sparse(self):
        return pytest.importorskip("scipy.sparse")

    @pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "lil_array"])
    def test_row_sums_are_the_degrees(self, sparse, form):
        dense = np.array([[0, 2, 0.5], [2, 0, 0], [0.5, 0, 0]])
        assert as_graph(getattr(sparse, form)(dense)).degrees().tolist() == [2.5, 2, 0.5]

    def test_a_loop_adds_its_entry(self, sparse):
        matrix = sparse.csr_array(np.array([[3, 1], [1, 0]]))
        assert as_graph(matrix).degrees().tolist() == [1, 1]
        assert as_graph(matrix, self_loops=True).degrees().tolist() == [4, 1]

    def test_asymmetric(self, sparse):
        matrix = sparse.csr_array(np.array([[0, 2], [1, 0]]))
        with pytest.raises(ValueError, match=r"weighs 2, back weighs 1.*symmetrise=True"):
            as_graph(matrix)
        assert as_graph(matrix, symmetrise=True).degrees().tolist() == [3, 3]

    def test_one_way(self, sparse):
        with pytest.raises(ValueError, match="directed"):
            as_graph(sparse.csr_array(np.array([[0, 1], [0, 0]])))

    def test_an_operator(self, sparse):
        with pytest.raises(TypeError, match="read a graph from"):
            as_graph(sparse.linalg.aslinearoperator(sparse.eye_array(2)))

    def test_not_square(self, sparse):
        with pytest.raises(ValueError, match=r"square, got shape \(2, 3\)"):
            as_graph(sparse.csr_array(np.zeros((2, 3))))

    def test_explicit_zeros_and_booleans(self, sparse):
        matrix = sparse.coo_array(([0.0, 0.0, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
        assert as_graph(matrix, weight=None).num_edges == 1
        assert as_graph(matrix.astype(bool)).num_edges == 1


class TestIgraph:
    @pytest.fixture
    def igraph(self):
        return pytest.importorskip("igraph")

    def test_names_and_weights(self, igraph):
        graph = igraph.Graph([(0, 1), (1, 2)])
        assert same(as_graph(graph), as_graph([(0, 1), (1, 2)]))
        graph.vs["name"] = ["a", "b", "c"]
        graph.es["weight"] = [2, 3]
        assert as_graph(graph).names == ("a", "b", "c")
        assert as_graph(graph).degrees().tolist() == [2, 5, 3]
        assert as_graph(graph, weight=None).degrees().tolist() == [1, 2, 1]

    def test_directed(self, igraph):
        graph = igraph.Graph([(0, 1)], directed=True)
        with pytest.raises(ValueError, match="symmetrise=True"):
            as_graph(graph)
        assert as_graph(graph, symmetrise=True).num_edges == 1

    def test_no_edges(self, igraph):
        assert as_graph(igraph.Graph(3)).num_nodes == 3


class TestPyg:
    @pytest.fixture
    def torch(self):
        pytest.importorskip("torch_geometric")
        return pytest.importorskip("torch")

    def data(self, torch, edges, **fields):
        from torch_geometric.data import Data

        return Data(edge_index=torch.tensor(edges).reshape(-1, 2).t(), **fields)

    def test_both_directions(self, torch):
        data = self.data(torch, [(0, 1), (1, 0), (1, 2), (2, 1)], num_nodes=4)
        assert as_graph(data).degrees().tolist() == [1, 2, 1, 0]

    def test_weights(self, torch):
        edges = [(0, 1), (1, 0)]
        weight, features = torch.tensor([2.0, 2.0]), torch.ones(2, 3)
        data = self.data(torch, edges, num_nodes=2, edge_weight=weight, edge_attr=torch.ones(2))
        assert as_graph(data).total_volume == 4
        assert as_graph(self.data(torch, edges, num_nodes=2, edge_attr=weight)).total_volume == 4
        assert as_graph(self.data(torch, edges, num_nodes=2, edge_attr=features)).total_volume == 2

    def test_small_integers(self, torch):
        data = self.data(torch, [(0, 1), (1, 0)], num_nodes=2)
        data.edge_index = data.edge_index.to(torch.int16)
        assert as_graph(data).num_edges == 1

    def test_one_way(self, torch):
        data = self.data(torch, [(0, 1), (1, 2)], num_nodes=3)
        with pytest.raises(ValueError, match="symmetrise=True"):
            as_graph(data)
        assert as_graph(data, symmetrise=True).degrees().tolist() == [1, 2, 1]

    def test_no_edge_index(self, torch):
        from torch_geometric.data import Data, HeteroData

        for data in (Data(x=torch.ones(3, 1)), HeteroData()):
            with pytest.raises(ValueError, match="has no edge_index"):
                as_graph(data)

    def test_malformed_edge_index(self, torch):
        from torch_geometric.data import Data

        for bad in (torch.zeros(3, 2, dtype=torch.long), torch.zeros(2, 3)):
            with pytest.raises(ValueError, match=r"integers of shape \(2, m\)"):
                as_graph(Data(edge_index=bad, num_nodes=2))

    def test_bare_tensor(self, torch):
        with pytest.raises(TypeError, match=r"cannot read a graph from Tensor.*edge_index.T.numpy"):
            as_graph(torch.zeros(2, 3, dtype=torch.long))

    def test_a_list_of_data(self, torch):
        edges = [(0, 1), (1, 0)]
        batch = as_graph_batch([self.data(torch, edges, num_nodes=n) for n in (2, 3)])
        assert [graph.num_nodes for graph in batch] == [2, 3]


def test_files_are_graphs(tmp_path):
    path = tmp_path / "graph.txt.gz"
    path.write_bytes(gzip.compress(b"a b\nb c 2\n"))
    assert as_graph(path).names == as_graph(str(path)).names == ("a", "b", "c")
    assert as_graph(path, weight=None).total_volume == 4
