"""The attribute of the tree, and graphs of which only some have weights."""

from __future__ import annotations

import pytest
import torch
from tests.nn.graphs import random_graph
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

import sepool
from sepool.nn import SEPG


def path(**attributes) -> Data:
    edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    return Data(edge_index=edges, num_nodes=4, **attributes)


@pytest.mark.parametrize("value", [torch.ones(4), "oak", torch.arange(3, dtype=torch.int32)])
def test_add_coding_tree_never_overwrites_an_attribute(value):
    add = sepool.AddCodingTree(2)
    message = r"attribute 'tree' that is not a coding tree; .*AddCodingTree\(attr='coding_tree'\)"
    with pytest.raises(ValueError, match=message):
        add(path(tree=value))
    with pytest.raises(ValueError, match=message):
        add.apply_all([path(), path(tree=value)])


def test_add_coding_tree_replaces_an_older_tree():
    data = sepool.AddCodingTree(3)(sepool.AddCodingTree(2)(path()))
    assert sepool.hierarchy(data).height == 3


def test_add_coding_tree_of_another_name_leaves_tree_alone():
    add = sepool.AddCodingTree(3, attr="coding_tree")
    graphs = [random_graph(n, n) for n in (6, 9)]
    for graph in graphs:
        graph.tree = "oak"
    batch = next(iter(DataLoader(add.apply_all(graphs), 2)))
    levels = sepool.hierarchy(batch, "coding_tree")
    assert batch.tree == ["oak", "oak"]
    assert SEPG(5, 8, 2)(batch, levels).shape == (2, 2)
    with pytest.raises(ValueError, match="the attribute `tree` of the data is not what"):
        sepool.hierarchy(batch)
    assert add(path()).coding_tree.dtype == torch.int32


@pytest.mark.parametrize("name", ["tree_index", "batch_tree", "ptr", "num_nodes", "edge_weight"])
def test_add_coding_tree_with_a_name_that_pyg_reserves_is_refused(name):
    with pytest.raises(ValueError, match=f"attr must not be an attribute of PyG.*got '{name}'"):
        sepool.AddCodingTree(attr=name)


@pytest.mark.parametrize("name", [None, "a tree", 3])
def test_add_coding_tree_with_no_name_is_refused(name):
    with pytest.raises(TypeError, match="attr must be the name of an attribute, got"):
        sepool.AddCodingTree(attr=name)


def test_apply_all_gives_all_graphs_weights_where_some_have_them():
    plain, weighted = random_graph(8, 0), random_graph(9, 1, weighted=True)
    graphs = sepool.AddCodingTree(3).apply_all([plain, weighted])
    assert "edge_weight" not in plain
    assert graphs[0].edge_weight.tolist() == [1.0] * plain.num_edges
    model = SEPG(5, 8, 2).eval()
    for order in (graphs, graphs[::-1]):
        batch = next(iter(DataLoader(order, 2)))
        alone = torch.cat([model(data) for data in order])
        torch.testing.assert_close(model(batch), alone, rtol=1e-5, atol=1e-5)


def test_batch_of_weighted_and_unweighted_graphs_is_refused():
    add = sepool.AddCodingTree(3)
    graphs = [add(random_graph(8, 0)), add(random_graph(9, 1, weighted=True))]
    batch = next(iter(DataLoader(graphs, 2)))  # PyG drops the weights
    with pytest.raises(ValueError, match="give all graphs of a batch edge_weight, or none"):
        sepool.hierarchy(batch)
    batch.edge_weight = graphs[1].edge_weight
    message = f"edge_weight has {graphs[1].num_edges} values for {batch.num_edges} edges; give all"
    with pytest.raises(ValueError, match=message):
        sepool.hierarchy(batch)
