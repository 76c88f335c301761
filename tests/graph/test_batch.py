"""Many graphs in one set of arrays."""

from __future__ import annotations

from dataclasses import replace

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from tests.shapes import same

import sepool
from sepool import Graph, as_graph, as_graph_batch


def test_as_graph_batch_arrays_equal_as_graph():
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, n, (m, 2)) for n, m in [(5, 9), (1, 1), (30, 40), (2, 1)]]
    batch = as_graph_batch(arrays)
    assert len(batch) == 4
    assert all(same(a, as_graph(b)) for a, b in zip(batch, arrays, strict=True))
    weighted = [np.column_stack([a, rng.random(len(a))]) for a in arrays]
    pairs = zip(as_graph_batch(weighted), weighted, strict=True)
    assert all(same(a, as_graph(b)) for a, b in pairs)


def test_as_graph_batch_empty_arrays_need_num_nodes():
    arrays = [np.empty((0, 2)), np.array([[0, 1]]), np.empty((0, 2))]
    assert [g.num_nodes for g in as_graph_batch(arrays, num_nodes=[1, 4, 2])] == [1, 4, 2]
    with pytest.raises(ValueError, match="graph 0 has no nodes"):
        as_graph_batch(arrays)
    with pytest.raises(ValueError, match="2 entries for 3 graphs"):
        as_graph_batch(arrays, num_nodes=[1, 2])


def test_as_graph_batch_graphs_of_several_libraries_equal_as_graph(bridge):
    matrix = sparse.csr_array(np.array([[1.0, 0.5], [0.5, 0]]))
    graphs = [matrix, bridge, as_graph([(0, 1, 7.0), (1, 1, 1.0)], self_loops=True)]
    batch = as_graph_batch(graphs, self_loops=True)
    assert all(same(a, as_graph(b, self_loops=True)) for a, b in zip(batch, graphs, strict=True))


def test_getitem_takes_negative_indices_and_slices():
    batch = as_graph_batch([[(0, 1)], [(0, 1), (1, 2)]])
    assert batch[-1].num_nodes == 3
    assert [graph.num_nodes for graph in batch[::-1]] == [3, 2]
    assert repr(batch[1:]) == "GraphBatch(graphs=1, nodes=3, edges=2)"
    with pytest.raises(IndexError):
        batch[2]
    assert as_graph_batch(batch) is batch
    assert repr(batch) == "GraphBatch(graphs=2, nodes=5, edges=3)"


def test_as_graph_batch_of_no_graphs_is_empty():
    assert len(as_graph_batch([])) == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((2, 5), int), r"graph 1: expected edges of shape.*transpose"),
        (np.array([[0, 0.5]]), "graph 1: node ids must be whole numbers, got 0.5"),
        (np.array([[True, False]]), "graph 1: node ids must be whole numbers"),
        (np.array([[0, -3]]), "node -3"),
        (np.array([[0, 1, np.nan]]), "weight nan"),
        (None, "graph 1: cannot read a graph from NoneType"),
    ],
)
def test_as_graph_batch_errors_have_the_index_of_the_graph(bad, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        as_graph_batch([np.array([[0, 1]]), bad])
    assert "graph 1" in str(caught.value)


def test_as_graph_batch_errors_of_mixed_graphs_have_the_index():
    with pytest.raises(ValueError, match="graph 1: edge 0 has weight -1"):
        as_graph_batch([as_graph([(0, 1)]), [(0, 1, -1.0)]])


def test_as_graph_batch_num_nodes_that_is_no_integer_is_refused():
    with pytest.raises(TypeError, match=r"num_nodes must be a whole number, got 2\.7"):
        as_graph_batch([np.array([[0, 1]])], num_nodes=[2.7])


@pytest.mark.parametrize("one", ["graph.txt", Graph])
def test_coding_trees_single_graph_is_refused(one):
    with pytest.raises(TypeError, match="expected a list of graphs"):
        sepool.coding_trees(as_graph([(0, 1)]) if one is Graph else one)


def test_graph_batch_arrays_of_other_types_are_refused():
    with pytest.raises(TypeError, match="node_ptr must be an array of int64, got float64"):
        replace(as_graph_batch([[(0, 1)]]), node_ptr=np.array([0, 2.9]))


def test_as_graph_batch_ambiguous_arrays_are_refused():
    ends = np.array([[0, 1, 2], [1, 2, 0]])
    with pytest.raises(ValueError, match="graph 1: an array of shape"):
        as_graph_batch([np.array([[0, 1, 5]]), ends, ends])
    assert len(as_graph_batch([np.array([[0, 1, 2]]), np.array([[1, 2, 5]])])) == 2


@pytest.mark.parametrize("graph_class", [nx.Graph, igraph.Graph])
def test_as_graph_batch_single_graph_is_refused(graph_class):
    graph = graph_class([(0, 1), (1, 2)])
    with pytest.raises(TypeError, match="got a single Graph; coding_tree takes one"):
        as_graph_batch(graph)
    with pytest.raises(TypeError, match="expected a list of graphs, got NoneType"):
        as_graph_batch(None)


def test_as_graph_batch_weight_of_some_graphs_is_read():
    heavy, plain = nx.Graph([(0, 1, {"cost": 5})]), nx.path_graph(3)
    batch = as_graph_batch([heavy, plain], weight="cost")
    assert [batch[i].total_volume for i in range(2)] == [10, 4]
    with pytest.raises(ValueError, match="no edge has the attribute 'cots'; edges have cost"):
        as_graph_batch([heavy, plain, nx.empty_graph(2)], weight="cots")


def test_as_graph_batch_weight_of_arrays_is_refused():
    pair = np.array([[0, 1]])
    with pytest.raises(ValueError, match="leave it out for a ndarray, or pass None"):
        as_graph_batch([pair, pair], weight="cost")
