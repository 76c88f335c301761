"""Graphs of networkx, SciPy, igraph and PyG."""

from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from tests.shapes import same

from sepool import as_graph, as_graph_batch


class TestNetworkx:
    def test_keeps_names_order_and_weights(self):
        graph = nx.Graph()
        graph.add_node("loner")
        graph.add_edge("b", "a", weight=2.5)
        graph.add_edge("a", "c")
        read = as_graph(graph)
        assert read.names == ("loner", "b", "a", "c")
        assert read.degrees().tolist() == [0, 2.5, 3.5, 1]
        assert as_graph(graph, weight=None).degrees().tolist() == [0, 1, 2, 1]

    def test_plain_nodes_have_no_names(self):
        assert as_graph(nx.path_graph(4)).names is None

    def test_weight_names_the_attribute(self):
        graph = nx.Graph([(0, 1, {"cost": 4})])
        assert as_graph(graph, weight="cost").total_volume == 8

    def test_multigraph_edges_add_up(self):
        graph = nx.MultiGraph([(0, 1), (0, 1, {"weight": 2}), (1, 1)])
        assert as_graph(graph).degrees().tolist() == [3, 3]
        assert as_graph(graph, self_loops=True).degrees().tolist() == [3, 5]

    def test_subclass_is_read(self):
        class Mine(nx.Graph):
            pass

        assert as_graph(Mine([(0, 1)])).num_edges == 1

    def test_num_nodes_of_another_graph_is_refused(self):
        with pytest.raises(ValueError, match="num_nodes=5, but the graph has 4 nodes"):
            as_graph(nx.path_graph(4), num_nodes=5)


class TestScipy:
    @pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "lil_array"])
    def test_row_sums_are_the_degrees(self, form):
        dense = np.array([[0, 2, 0.5], [2, 0, 0], [0.5, 0, 0]])
        assert as_graph(getattr(sparse, form)(dense)).degrees().tolist() == [2.5, 2, 0.5]

    def test_loop_adds_its_entry(self):
        matrix = sparse.csr_array(np.array([[3, 1], [1, 0]]))
        assert as_graph(matrix).degrees().tolist() == [1, 1]
        assert as_graph(matrix, self_loops=True).degrees().tolist() == [4, 1]

    def test_explicit_zeros_are_no_edges(self):
        matrix = sparse.coo_array(([0.0, 0.0, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
        assert as_graph(matrix, weight=None).num_edges == 1
        assert as_graph(matrix.astype(bool)).num_edges == 1


class TestIgraph:
    def test_keeps_names_and_weights(self):
        graph = igraph.Graph([(0, 1), (1, 2)])
        assert same(as_graph(graph), as_graph([(0, 1), (1, 2)]))
        graph.vs["name"] = ["a", "b", "c"]
        graph.es["weight"] = [2, 3]
        assert as_graph(graph).names == ("a", "b", "c")
        assert as_graph(graph).degrees().tolist() == [2, 5, 3]
        assert as_graph(graph, weight=None).degrees().tolist() == [1, 2, 1]

    def test_graph_without_edges_is_read(self):
        assert as_graph(igraph.Graph(3)).num_nodes == 3


class TestPyg:
    @pytest.fixture
    def torch(self):
        pytest.importorskip("torch_geometric")
        return pytest.importorskip("torch")

    def data(self, torch, edges, **fields):
        from torch_geometric.data import Data

        return Data(edge_index=torch.tensor(edges).reshape(-1, 2).t(), **fields)

    def test_both_directions_are_one_edge(self, torch):
        data = self.data(torch, [(0, 1), (1, 0), (1, 2), (2, 1)], num_nodes=4)
        assert as_graph(data).degrees().tolist() == [1, 2, 1, 0]

    def test_edge_weight_or_edge_attr_are_weights(self, torch):
        edges = [(0, 1), (1, 0)]
        weight, features = torch.tensor([2.0, 2.0]), torch.ones(2, 3)
        data = self.data(torch, edges, num_nodes=2, edge_weight=weight, edge_attr=torch.ones(2))
        assert as_graph(data).total_volume == 4
        assert as_graph(self.data(torch, edges, num_nodes=2, edge_attr=weight)).total_volume == 4
        assert as_graph(self.data(torch, edges, num_nodes=2, edge_attr=features)).total_volume == 2

    def test_small_integers_are_ids(self, torch):
        data = self.data(torch, [(0, 1), (1, 0)], num_nodes=2)
        data.edge_index = data.edge_index.to(torch.int16)
        assert as_graph(data).num_edges == 1

    def test_without_edge_index_is_refused(self, torch):
        from torch_geometric.data import Data, HeteroData

        for data in (Data(x=torch.ones(3, 1)), HeteroData()):
            with pytest.raises(ValueError, match="has no edge_index"):
                as_graph(data)

    def test_malformed_edge_index_is_refused(self, torch):
        from torch_geometric.data import Data

        for bad in (torch.zeros(3, 2, dtype=torch.long), torch.zeros(2, 3)):
            with pytest.raises(ValueError, match=r"integers of shape \(2, m\)"):
                as_graph(Data(edge_index=bad, num_nodes=2))

    def test_tensor_is_refused(self, torch):
        with pytest.raises(TypeError, match=r"cannot read a graph from Tensor.*edge_index.T.numpy"):
            as_graph(torch.zeros(2, 3, dtype=torch.long))

    def test_list_of_data_is_a_batch(self, torch):
        edges = [(0, 1), (1, 0)]
        batch = as_graph_batch([self.data(torch, edges, num_nodes=n) for n in (2, 3)])
        assert [graph.num_nodes for graph in batch] == [2, 3]


def arcs(library):
    """The arcs 0-1, 1-0 and 1-2 as a graph of a library."""
    if library == "scipy":
        return sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    if library == "torch_geometric":
        torch, data = map(pytest.importorskip, ("torch", "torch_geometric.data"))
        return data.Data(edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]), num_nodes=3)
    if library == "igraph":
        return igraph.Graph([(0, 1), (1, 0), (1, 2)], directed=True)
    return nx.DiGraph([(0, 1), (1, 0), (1, 2)])


@pytest.mark.parametrize("library", ["networkx", "igraph", "scipy", "torch_geometric"])
def test_directed_graph_needs_symmetrise(library):
    graph = arcs(library)
    with pytest.raises(ValueError, match=r"directed.*symmetrise=True"):
        as_graph(graph)
    assert as_graph(graph, symmetrise=True).degrees().tolist() == [2, 3, 1]


def test_asymmetric_weights_need_symmetrise():
    matrix = sparse.csr_array(np.array([[0, 2], [1, 0]]))
    with pytest.raises(ValueError, match=r"weighs 2, back weighs 1.*symmetrise=True"):
        as_graph(matrix)
    assert as_graph(matrix, symmetrise=True).degrees().tolist() == [3, 3]


@pytest.mark.parametrize("graph_class", [nx.Graph, igraph.Graph])
def test_weight_that_no_edge_has_is_refused(graph_class):
    graph = graph_class([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="no edge has the attribute 'cost'; edges have none"):
        as_graph(graph, weight="cost")
    if graph_class is nx.Graph:
        graph.add_edge(0, 1, cost=2, kind="road")
    else:
        graph.es["cost"], graph.es["kind"] = [2, 3], ["road", "path"]
    with pytest.raises(ValueError, match="has the attribute 'cots'; edges have cost, kind"):
        as_graph(graph, weight="cots")
    assert as_graph(graph).total_volume == 4


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.path_graph(3).edges, "read a graph from EdgeView"),
        (nx.path_graph(3).adj, "read a graph from AdjacencyView"),
        (nx.Graph([(0, 1, {"weight": "heavy"})]), "got 'heavy'"),
        (nx.Graph(), "no nodes"),
        (sparse.csr_array((2, 3)), r"square, got shape \(2, 3\)"),
        (sparse.linalg.aslinearoperator(np.eye(2)), "read a graph from"),
    ],
)
def test_other_objects_are_refused(graph, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_graph(graph)
