"""Datasets as flat arrays: the cache, features, folds and trees."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
import torch
from torch_geometric import datasets
from torch_geometric.data import Data

import sepool
from sepool.files.archive import read_archive, write_archive
from sepool.pyg.features import cosine_weights
from sepool.pyg.hierarchy import hierarchy
from sepool.segments import pointers
from sepool_experiments.data.graphs import FORMAT, VERSION, load_folds, load_graphs, load_trees
from sepool_experiments.data.tu import TUFiles
from small_graphs import graph_set


def same(first, second):
    pairs = [(first.nodes, second.nodes), (first.y, second.y), (first.labels, second.labels)]
    pairs += list(zip(first.edges[:3], second.edges[:3], strict=True))
    return all(np.array_equal(a, b) for a, b in pairs)


def test_load_graphs_cache_equals_files(data):
    first = load_graphs(data, "MUTAG")
    assert (data / "sepool" / "MUTAG.npz").exists()
    assert same(first, load_graphs(data, "MUTAG"))
    assert first.num_classes == 2


class TestStaleCache:
    """A cache of other files is replaced."""

    @pytest.fixture
    def cache(self, data):
        load_graphs(data, "MUTAG")
        return data / "sepool" / "MUTAG.npz"

    @pytest.fixture
    def raw(self, data):
        return data / "TU" / "MUTAG" / "raw"

    def forget(self, cache):
        """Remove the digest of the files from the cache, as in older versions."""
        arrays = read_archive(cache, FORMAT, VERSION)
        rest = {key: array for key, array in arrays.items() if not key.startswith("raw_")}
        assert len(rest) < len(arrays)
        write_archive(cache, FORMAT, VERSION, rest)

    def cut(self, raw):
        """Remove an edge of the first path."""
        path = raw / "MUTAG_A.txt"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[2:]))

    def test_load_graphs_changed_edges_are_read(self, data, cache, raw):
        self.cut(raw)
        assert load_graphs(data, "MUTAG").edges.counts[:2].tolist() == [2, 4]
        assert load_graphs(data, "MUTAG").edges.counts[:2].tolist() == [2, 4]

    def test_load_graphs_ignores_processed_file_of_pyg(self, data, cache, raw):
        datasets.TUDataset(str(data / "TU"), "MUTAG")
        self.cut(raw)
        assert load_graphs(data, "MUTAG").edges.counts[0] == 2

    def test_load_graphs_copied_files_use_cache(self, data, cache, raw, monkeypatch):
        for path in raw.iterdir():
            os.utime(path, ns=(0, 0))
        monkeypatch.setattr(TUFiles, "read_edges", lambda *_: pytest.fail("was read again"))
        assert len(load_graphs(data, "MUTAG").y) == 20

    def test_load_graphs_cache_without_digest_is_replaced(self, data, cache, raw):
        self.forget(cache)
        self.cut(raw)
        assert load_graphs(data, "MUTAG").edges.counts[0] == 2

    def test_load_graphs_cache_without_digest_alone_loads(self, data, cache, raw):
        self.forget(cache)
        shutil.rmtree(raw)
        assert len(load_graphs(data, "MUTAG").y) == 20

    def test_load_graphs_cache_of_single_directions_raises(self, data, cache, raw):
        arrays = {**read_archive(cache, FORMAT, VERSION), "plain": np.zeros(20, np.bool_)}
        write_archive(cache, FORMAT, VERSION, arrays)
        shutil.rmtree(raw)
        with pytest.raises(ValueError, match=r"MUTAG.npz: some edges have one direction only"):
            load_graphs(data, "MUTAG")

    def test_load_graphs_read_only_folder_loads(self, data, cache, raw, monkeypatch):
        def refuse(*_):
            raise PermissionError

        self.cut(raw)
        monkeypatch.setattr("sepool_experiments.data.graphs.write_archive", refuse)
        assert load_graphs(data, "MUTAG").edges.counts[0] == 2


def test_features_concatenate_labels_and_degrees(data):
    graphs = load_graphs(data, "MUTAG")
    x = graphs.features()
    # Labels 0, 1, 0 and degrees 1, 2, 1: two columns each.
    assert x[:3].tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]


def test_features_without_labels_are_degrees():
    x = graph_set(labels=False).features()
    assert (x.sum(1) == 1).all()


def test_load_folds_reads_files(data):
    folds = load_folds(data, load_graphs(data, "MUTAG"))
    assert [fold.tolist() for fold in folds] == [[k, k + 10] for k in range(10)]


def test_load_folds_without_files_is_stratified(tmp_path):
    graphs = graph_set(60)
    first, second = (load_folds(tmp_path, graphs) for _ in range(2))
    assert sorted(np.concatenate(first).tolist()) == list(range(60))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    ones = [graphs.y[fold].sum() for fold in first]
    assert max(ones) - min(ones) <= 1


@pytest.mark.parametrize("tree", ["paper", "fast", "best"])
def test_load_trees_equal_coding_tree(tmp_path, tree):
    graphs = graph_set()
    forest = load_trees(tmp_path, graphs, tree, 3)
    again = load_trees(tmp_path, graphs, tree, 3)
    assert np.array_equal(forest.counts, again.counts)
    assert np.array_equal(forest.parent, again.parent)
    ends = np.cumsum(graphs.edges.counts)
    row, col = (part[ends[4] : ends[5]] for part in (graphs.edges.row, graphs.edges.col))
    edges = np.column_stack([row, col])[row < col]
    size = int(graphs.nodes[5])
    tree5 = sepool.coding_tree(sepool.as_graph(edges, num_nodes=size), 3, method=tree)
    assert forest.counts[5].tolist() == list(tree5.counts)


def test_load_trees_features_equal_weighted_trees(tmp_path):
    graphs = graph_set()
    forest = load_trees(tmp_path, graphs, "features", 3)
    assert not np.array_equal(forest.parent, load_trees(tmp_path, graphs, "best", 3).parent)
    x = torch.from_numpy(graphs.features())
    nodes, edges = pointers(graphs.nodes), pointers(graphs.edges.counts)
    pairs = torch.from_numpy(np.stack([graphs.edges.row, graphs.edges.col]))
    add = sepool.AddCodingTree(height=3, edge_weight=cosine_weights(0.5), ties="structure")
    starts = pointers(forest.counts[:, :-1].sum(axis=1))
    for i in range(len(graphs.nodes)):
        part = pairs[:, edges[i] : edges[i + 1]]
        data = add(Data(x=x[nodes[i] : nodes[i + 1]], edge_index=part))
        expected = hierarchy(data).assignment(1)
        assert forest.parent[starts[i] :][: graphs.nodes[i]].tolist() == expected.tolist()


def test_load_trees_random_permutes_leaves(tmp_path):
    graphs = graph_set()
    best, random = (load_trees(tmp_path, graphs, tree, 3) for tree in ("best", "random"))
    assert np.array_equal(best.counts, random.counts)
    assert not np.array_equal(best.parent, random.parent)
    at = 0
    for counts in best.counts:
        a, b = (forest.parent[at : at + counts[0]] for forest in (best, random))
        assert sorted(a) == sorted(b)
        rest = slice(at + counts[0], at + counts[:-1].sum())
        assert np.array_equal(best.parent[rest], random.parent[rest])
        at += counts[:-1].sum()


def test_load_trees_empty_name_is_root(tmp_path):
    graphs = graph_set()
    forest = load_trees(tmp_path, graphs, "", 3)
    assert forest.height == 1
    assert not forest.parent.any()
