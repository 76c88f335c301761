from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.communities import community_data, community_set
from torch_geometric.data import Data

import sepool
from sepool.pyg.features import (
    blend_weights,
    cosine_similarity,
    cosine_weights,
    predicted_similarity,
    spread_similarity,
)


def test_cosine_similarity_equals_torch():
    x = torch.randn(10, 4)
    row, col = np.arange(9), np.arange(1, 10)
    expected = torch.nn.functional.cosine_similarity(x[:-1], x[1:])
    np.testing.assert_allclose(cosine_similarity(x, row, col), expected, atol=1e-6)


def test_cosine_weights_are_symmetric_and_positive():
    data = community_data()
    weight = cosine_weights(0.7)(data)
    assert weight.shape == (data.num_edges,)
    assert weight.min() > 0
    back = (data.edge_index[1] * data.num_nodes + data.edge_index[0]).argsort(stable=True)
    torch.testing.assert_close(weight, weight[back])
    assert weight.mean() == pytest.approx(1, abs=0.01)


def test_cosine_weights_zero_blend_gives_tree_of_structure():
    data = community_data()
    plain = sepool.AddCodingTree(3)(data)
    blended = sepool.AddCodingTree(3, edge_weight=cosine_weights(0.0))(data)
    assert torch.equal(plain.tree, blended.tree)


def test_cosine_weights_clusters_are_purer():
    nodes = community_set(noise=0.1, mixing=2.0)
    data = community_data(nodes)

    def purity(weight):
        levels = sepool.hierarchy(sepool.AddCodingTree(2, edge_weight=weight)(data))
        cluster = levels.assignment(1).numpy()
        counts = np.zeros((cluster.max() + 1, 3))
        np.add.at(counts, (cluster, nodes.y), 1)
        return counts.max(axis=1).sum() / len(cluster)

    assert purity(cosine_weights(0.9)) > purity(None) + 0.02


@pytest.mark.parametrize("similarity", [predicted_similarity, spread_similarity])
def test_learned_similarity_is_higher_within_classes(similarity):
    nodes = community_set()
    row, col = nodes.edges.row, nodes.edges.col
    similar = similarity(nodes.x, row, col, nodes.y, nodes.train)
    apart = nodes.y[row] != nodes.y[col]
    assert similar[~apart].mean() > 1.5 * similar[apart].mean()
    assert ((similar > 0) & (similar <= 1)).all()


def test_blend_weights_negative_and_zero_similarity_stay_positive():
    np.testing.assert_allclose(blend_weights(np.array([-1.0, 2.0]), 1.0), [0.01, 2.0])
    np.testing.assert_allclose(blend_weights(np.zeros(3), 0.25), 0.75)
    assert blend_weights(np.zeros(0), 0.5).shape == (0,)


def test_cosine_weights_invalid_input_raises():
    for bad in (-0.1, 1.5):
        with pytest.raises(ValueError, match=f"blend must be 0 to 1, got {bad}"):
            cosine_weights(bad)
    with pytest.raises(ValueError, match=r"set data\.x, or take no weights"):
        cosine_weights()(Data(edge_index=torch.zeros(2, 0, dtype=torch.int64), num_nodes=2))
    assert "cosine_weights(blend=0.5)" in repr(sepool.AddCodingTree(edge_weight=cosine_weights()))


@pytest.mark.parametrize("similarity", [predicted_similarity, spread_similarity])
def test_learned_similarity_mask_equals_numbers(similarity):
    row, col = np.array([0, 1, 1, 2, 2, 3]), np.array([1, 0, 2, 1, 3, 2])
    x, y = np.eye(2)[[0, 0, 1, 1]], np.array([0, 0, 1, 1])
    mask = np.array([True, False, False, True])
    wanted = similarity(x, row, col, y, np.array([0, 3]))
    np.testing.assert_array_equal(similarity(x, row, col, y, mask), wanted)
    with pytest.raises(ValueError, match="train selects no node"):
        similarity(x, row, col, y, ~mask & mask)
