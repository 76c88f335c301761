"""The weights that a tree is built with, and those that are pooled along it."""

from __future__ import annotations

import functools

import pytest
import torch
from tests import shapes
from tests.pyg.test_transform import cosine, tree
from tests.pyg_graphs import as_data, molecules, same_data
from torch_geometric.data import Data

from sepool import AddCodingTree, hierarchy


def two_pairs() -> Data:
    """A ring of four whose opposite edges are heavy."""
    graph = as_data(shapes.ring(4), 4, x=torch.tensor([[0.0, 1], [1, 0], [1, 0], [0, 1]]))
    row, col = graph.edge_index
    heavy = (row + col) % 4 == 3  # 0-3 and 1-2
    graph.strength = torch.where(heavy, 5.0, 1.0)
    return graph


def clusters(graph: Data, **options) -> list[int]:
    return hierarchy(AddCodingTree(2, **options)(graph)).assignment(1).tolist()


@pytest.mark.parametrize(
    "weight", ["strength", cosine, functools.partial(cosine), lambda data: data.strength]
)
def test_edge_weight_changes_tree_but_not_pooled_weights(weight):
    graph = two_pairs()
    a, b, c, d = clusters(graph, edge_weight=weight)
    assert (a == d, b == c, a == b) == (True, True, False)
    levels = hierarchy(AddCodingTree(2, edge_weight=weight)(graph))
    assert levels.weights[0].tolist() == [2, 2, 2, 2]
    assert levels.weights[1].tolist() == [8]


def test_edge_weight_none_pools_weights_of_data():
    graph = two_pairs()
    graph.edge_weight = graph.strength
    levels = hierarchy(AddCodingTree(2, edge_weight=None)(graph))
    assert levels.weights[1].tolist() == [24]
    assert clusters(graph, edge_weight=None) == clusters(two_pairs())
    assert clusters(graph) == clusters(two_pairs(), edge_weight="strength")


def test_edge_weight_unknown_name_raises():
    graphs = molecules(2)
    add = AddCodingTree(2, edge_weight="strength")
    for call in (lambda: add(graphs[0]), lambda: add.apply_all(graphs)):
        with pytest.raises(ValueError, match="edge_weight='strength', but the data has no attrib"):
            call()


def test_edge_weight_missing_in_one_graph_is_one():
    weighted, plain = molecules(2)
    weighted.strength = cosine(weighted)
    add = AddCodingTree(2, edge_weight="strength")
    result = add.apply_all([weighted, plain])
    assert same_data(result[0], add(weighted))
    assert same_data(result[1], AddCodingTree(2)(plain))


def test_edge_weight_with_gradient_is_pooled():
    graph = two_pairs()
    graph.edge_weight = graph.strength.requires_grad_()
    assert hierarchy(AddCodingTree(2)(graph)).weights[1].tolist() == [24]


def test_edge_weight_function_of_wrong_result_raises():
    with pytest.raises(ValueError, match="the result of edge_weight must be a tensor of shape"):
        AddCodingTree(2, edge_weight=lambda data: [1.0])(molecules(1)[0])


def test_edge_weight_function_of_none_raises():
    with pytest.raises(ValueError, match="the function edge_weight returned None"):
        AddCodingTree(2, edge_weight=lambda data: None)(molecules(1)[0])


def test_repr_partial_function_has_its_arguments():
    named = repr(AddCodingTree(2, edge_weight=functools.partial(cosine, scale=0.5)))
    assert f"edge_weight=functools.partial({cosine.__module__}.cosine, scale=0.5)" in named


def test_edge_weight_bfloat16_equals_float32():
    graph = two_pairs()
    wanted = tree(graph, 2, edge_weight="strength")
    graph.strength = graph.strength.bfloat16()
    assert tree(graph, 2, edge_weight="strength") == wanted
