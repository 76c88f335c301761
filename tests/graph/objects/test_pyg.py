"""PyG ``Data`` objects."""

from __future__ import annotations

import numpy as np
import pytest

from sepool import as_graph, as_graph_batch

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.data")

EDGES = [(0, 1), (1, 0)]


def data(edges, **fields):
    return pyg.Data(edge_index=torch.tensor(edges).reshape(-1, 2).t(), **fields)


def test_as_graph_data_both_directions_are_one_edge():
    graph = data([(0, 1), (1, 0), (1, 2), (2, 1)], num_nodes=4)
    assert as_graph(graph).degrees().tolist() == [1, 2, 1, 0]


def test_as_graph_data_edge_weight_or_edge_attr_are_weights():
    weight, features = torch.tensor([2.0, 2.0]), torch.ones(2, 3)
    both = data(EDGES, num_nodes=2, edge_weight=weight, edge_attr=torch.ones(2))
    assert as_graph(both).total_volume == 4
    assert as_graph(data(EDGES, num_nodes=2, edge_attr=weight)).total_volume == 4
    assert as_graph(data(EDGES, num_nodes=2, edge_attr=features)).total_volume == 2


def test_as_graph_data_small_integers_are_ids():
    graph = data(EDGES, num_nodes=2)
    graph.edge_index = graph.edge_index.to(torch.int16)
    assert as_graph(graph).num_edges == 1


def test_as_graph_data_without_edge_index_is_refused():
    for graph in (pyg.Data(x=torch.ones(3, 1)), pyg.HeteroData()):
        with pytest.raises(ValueError, match="has no edge_index"):
            as_graph(graph)


@pytest.mark.parametrize(
    "bad", [torch.zeros(3, 2, dtype=torch.long), torch.zeros(2, 3), [[0.5], [1]], [0, 1]]
)
def test_as_graph_data_malformed_edge_index_is_refused(bad):
    with pytest.raises(ValueError, match=r"integers of shape \(2, m\)"):
        as_graph(pyg.Data(edge_index=bad, num_nodes=2))


def test_as_graph_data_fields_that_are_lists_are_read():
    lists = pyg.Data(edge_index=[[0, 1], [1, 0]], edge_weight=[2.0, 2.0], num_nodes=3)
    assert as_graph(lists).degrees().tolist() == [2, 2, 0]
    arrays = data(EDGES, edge_attr=np.array([3.0, 3.0]), num_nodes=2)
    assert as_graph(arrays).total_volume == 6
    assert as_graph(pyg.Data(edge_index=[[], []], num_nodes=2)).num_edges == 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"edge_index": "ab"}, "edge_index must be a tensor, got 'ab'"),
        ({"edge_index": [[0], [1, 2]]}, "edge_index has rows of several lengths"),
        ({"edge_weight": 3}, "edge_weight must be a tensor, got 3"),
        ({"edge_weight": ["x", 1]}, "edge weights must be real numbers, got 'x' for edge 0"),
    ],
)
def test_as_graph_data_fields_of_other_types_are_refused(fields, message):
    fields = {"edge_index": [[0, 1], [1, 0]], "num_nodes": 2, **fields}
    with pytest.raises((TypeError, ValueError), match=message):
        as_graph(pyg.Data(**fields))


def test_as_graph_batch_takes_a_list_of_data():
    batch = as_graph_batch([data(EDGES, num_nodes=n) for n in (2, 3)])
    assert [graph.num_nodes for graph in batch] == [2, 3]
