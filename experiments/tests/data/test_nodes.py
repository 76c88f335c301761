"""Datasets of one graph: cache, the public split, trees and their levels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.communities import community_data, community_set

import sepool
from sepool.pyg.format import Forest
from sepool_experiments.data import nodes as bench_nodes
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
    """PyG's class, with a graph of our own and a loop and an edge too many."""

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


def test_cache_gives_back_what_was_read(planetoid, tmp_path, monkeypatch):
    same(load_nodes(tmp_path, "Cora"), NODES)
    monkeypatch.setattr(bench_nodes, "_read_planetoid", None)  # the cache is enough
    same(load_nodes(tmp_path, "Cora"), NODES)


def test_features_sum_to_one(planetoid, tmp_path):
    np.testing.assert_allclose(load_nodes(tmp_path, "Cora").x.sum(axis=1), 1, atol=1e-5)


def test_trees_that_see_the_features_are_the_best_of_blended_weights():
    config = Config(blocks=2)
    assert TreeChoice.of("features", config) == TreeChoice("best", blend=0.5)
    more = Config(blocks=2, extra=(("blend", 0.9), ("similarity", "predicted")))
    assert TreeChoice.of("features", more) == TreeChoice.of("best", more)


@pytest.mark.parametrize("tree", ["paper", "fast", "best"])
def test_trees_are_those_of_the_core(tmp_path, tree):
    first, again = (load_tree(tmp_path, NODES, TreeChoice(tree)) for _ in range(2))
    assert np.array_equal(first.parent, again.parent)
    data = community_data(NODES)
    expected = sepool.coding_tree(data, 3, method=tree)
    assert first.counts[0].tolist() == list(expected.counts)


def test_random_trees_have_the_same_shape_and_other_leaves(tmp_path):
    for blend in (0.0, 0.9):
        best, random = (
            load_tree(tmp_path, NODES, TreeChoice(tree, blend=blend)) for tree in ("best", "random")
        )
        count = NODES.num_nodes
        assert np.array_equal(best.counts, random.counts)
        assert not np.array_equal(best.parent[:count], random.parent[:count])
        assert sorted(best.parent[:count]) == sorted(random.parent[:count])
        assert np.array_equal(best.parent[count:], random.parent[count:])


def test_no_tree_is_a_root_above_all_nodes(tmp_path):
    assert load_tree(tmp_path, NODES, TreeChoice("")).counts.tolist() == [[NODES.num_nodes, 1]]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_trees_that_see_the_features(tmp_path, similarity):
    plain = load_tree(tmp_path, NODES, TreeChoice("best"))
    seeing = load_tree(tmp_path, NODES, TreeChoice("best", blend=0.9, similarity=similarity))
    assert not np.array_equal(plain.parent, seeing.parent)
    weight = tree_weights(NODES, TreeChoice("best", blend=0.9, similarity=similarity))
    row, col = NODES.edges.row, NODES.edges.col
    apart = NODES.y[row] != NODES.y[col]
    assert weight[~apart].mean() > 1.2 * weight[apart].mean()
    back = np.argsort(col * NODES.num_nodes + row, kind="stable")
    np.testing.assert_allclose(weight, weight[back])


@pytest.mark.parametrize("similarity", ["predicted", "spread"])
def test_only_training_labels_are_looked_at(similarity):
    choice = TreeChoice("best", blend=0.9, similarity=similarity)
    other = NODES.y.copy()
    hidden = ~np.isin(np.arange(NODES.num_nodes), NODES.train)
    other[hidden] = (other[hidden] + 1) % 3
    fields = {**vars(NODES), "y": other}
    np.testing.assert_array_equal(
        tree_weights(NODES, choice), tree_weights(type(NODES)(**fields), choice)
    )


def test_levels_that_are_left_out(tmp_path):
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
    sepool.hierarchy(bench_nodes.node_data(NODES, picked))  # packs


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
def test_bad_choices(options, message):
    with pytest.raises(ValueError, match=message):
        TreeChoice.of("best", Config(blocks=2, extra=tuple(options.items())))


def test_height_is_one_more_than_the_blocks():
    assert TreeChoice.of("best", Config(blocks=5)).height == 6
    assert TreeChoice.of("", Config(blocks=5)) == TreeChoice("")


def test_released_trees_do_not_see_features(tmp_path):
    with pytest.raises(ValueError, match="blend must be 0"):
        load_tree(tmp_path, NODES, TreeChoice("released", blend=0.5))
