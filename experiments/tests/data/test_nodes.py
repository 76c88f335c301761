"""Datasets of one graph: cache, public split, trees and levels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.communities import community_data, community_set

import sepool
from sepool.pyg.format import Forest
from sepool_experiments.data import nodes as nodes_module
from sepool_experiments.data.nodes import (
    SIMILARITIES,
    TreeChoice,
    load_nodes,
    load_tree,
    pick_levels,
    tree_weights,
)
from sepool_experiments.protocols.units import Config

NODES = community_set()


class FakePlanetoid(list):
    """PyG's class with a small graph, a self-loop and a duplicate edge."""

    def __init__(self, root, name, split):
        import torch

        assert split == "public"
        data = community_data()
        data.edge_index = torch.cat([data.edge_index, torch.tensor([[0], [0]])], 1)
        data.x = data.x * 3  # row sums are not 1
        for part in ("train", "val", "test"):
            data[f"{part}_mask"] = torch.zeros(NODES.num_nodes, dtype=torch.bool)
            data[f"{part}_mask"][torch.from_numpy(getattr(NODES, part))] = True
        super().__init__([data])


@pytest.fixture
def planetoid(monkeypatch):
    monkeypatch.setattr("torch_geometric.datasets.Planetoid", FakePlanetoid)


def same(first, second):
    for name in ("x", "y", "train", "val", "test"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=1e-6)
    assert all(np.array_equal(a, b) for a, b in zip(first.edges[:3], second.edges[:3], strict=True))


def test_load_nodes_cache_equals_files(planetoid, tmp_path, monkeypatch):
    same(load_nodes(tmp_path, "Cora"), NODES)
    monkeypatch.setattr(nodes_module, "_read_planetoid", None)  # the cache suffices
    same(load_nodes(tmp_path, "Cora"), NODES)


def test_tree_choice_features_is_blend():
    config = Config(blocks=2)
    assert TreeChoice.of("features", config) == TreeChoice("best", blend=0.5)
    more = Config(blocks=2, extra=(("blend", 0.9), ("similarity", "predicted")))
    assert TreeChoice.of("features", more) == TreeChoice.of("best", more)


@pytest.mark.parametrize("tree", ["paper", "fast", "best"])
def test_load_tree_equals_coding_tree(tmp_path, tree):
    first, again = (load_tree(tmp_path, NODES, TreeChoice(tree)) for _ in range(2))
    assert np.array_equal(first.parent, again.parent)
    data = community_data(NODES)
    expected = sepool.coding_tree(data, 3, method=tree)
    assert first.counts[0].tolist() == list(expected.counts)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_tree_weights_favour_edges_inside_classes(tmp_path, similarity):
    plain = load_tree(tmp_path, NODES, TreeChoice("best"))
    seeing = load_tree(tmp_path, NODES, TreeChoice("best", blend=0.9, similarity=similarity))
    assert not np.array_equal(plain.parent, seeing.parent)
    random = load_tree(tmp_path, NODES, TreeChoice("random", blend=0.9, similarity=similarity))
    assert np.array_equal(random.counts, seeing.counts)
    assert not np.array_equal(random.parent, seeing.parent)
    weight = tree_weights(NODES, TreeChoice("best", blend=0.9, similarity=similarity))
    row, col = NODES.edges.row, NODES.edges.col
    apart = NODES.y[row] != NODES.y[col]
    assert weight[~apart].mean() > 1.2 * weight[apart].mean()
    reverse = np.argsort(col * NODES.num_nodes + row, kind="stable")
    np.testing.assert_allclose(weight, weight[reverse])


@pytest.mark.parametrize("similarity", ["predicted", "spread"])
def test_tree_weights_ignore_test_labels(similarity):
    choice = TreeChoice("best", blend=0.9, similarity=similarity)
    other = NODES.y.copy()
    hidden = ~np.isin(np.arange(NODES.num_nodes), NODES.train)
    other[hidden] = (other[hidden] + 1) % 3
    fields = {**vars(NODES), "y": other}
    np.testing.assert_array_equal(
        tree_weights(NODES, choice), tree_weights(type(NODES)(**fields), choice)
    )


def test_pick_levels_keeps_chosen_levels(tmp_path):
    whole = load_tree(tmp_path, NODES, TreeChoice("best", 4))
    picked = pick_levels(whole, (2, 3))
    assert picked.counts[0].tolist() == whole.counts[0][[0, 2, 3, 4]].tolist()
    ends = np.cumsum(whole.counts[0])
    levels = np.split(whole.parent, ends[:-2])
    first = picked.parent[: NODES.num_nodes]
    assert np.array_equal(first, levels[1][levels[0]])
    same_tree = pick_levels(whole, (1, 2, 3))
    assert isinstance(same_tree, Forest)
    assert np.array_equal(same_tree.parent, whole.parent)
    sepool.hierarchy(nodes_module.node_data(NODES, picked))  # can be packed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": "2"}, "levels must be 2 or more ascending numbers"),
        ({"levels": "3,2"}, "levels must be 2 or more ascending numbers"),
        ({"levels": "2,5", "height": 4}, "levels must be 1 to 4"),
        ({"height": 1}, "levels must be 1 to 1"),
        (
            {"blend": 0.5, "similarity": "same"},
            "similarity must be one of cosine, predicted",
        ),
    ],
)
def test_tree_choice_bad_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        TreeChoice.of("best", Config(blocks=2, extra=tuple(options.items())))


def test_tree_choice_default_height_is_blocks_plus_one():
    assert TreeChoice.of("best", Config(blocks=5)).height == 6
    assert TreeChoice.of("", Config(blocks=5)) == TreeChoice("")


def test_load_tree_released_with_blend_raises(tmp_path):
    with pytest.raises(ValueError, match="blend must be 0"):
        load_tree(tmp_path, NODES, TreeChoice("released", blend=0.5))
