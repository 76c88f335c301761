from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import shapes
from tests.pyg_graphs import as_data, data, degenerate_graphs, molecules, same_data
from torch_geometric.data import Data, InMemoryDataset

from sepool import AddCodingTree, load_graphs, save_graphs
from sepool.files.archive import ArchiveError, read_archive, write_archive
from sepool.pyg.dataset import FORMAT, VERSION


def assert_same_after(path, graphs) -> InMemoryDataset:
    save_graphs(path, graphs)
    loaded = load_graphs(path)
    assert len(loaded) == len(graphs)
    assert all(map(same_data, loaded, graphs))
    return loaded


@given(
    st.booleans().flatmap(lambda some: st.lists(data(weighted=some), min_size=1, max_size=5)),
    st.integers(0, 4),
)
def test_load_graphs_saved_graphs_are_equal(tmp_path_factory, graphs, height):
    if height:
        graphs = AddCodingTree(height, "fast").apply_all(graphs)
    assert_same_after(tmp_path_factory.mktemp("graphs") / "graphs.npz", graphs)


def test_load_graphs_degenerate_graphs_are_equal(tmp_path):
    assert_same_after(tmp_path / "graphs.npz", AddCodingTree(2).apply_all(degenerate_graphs()))


def test_load_graphs_directed_graphs_are_equal(tmp_path):
    arcs = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 1]]), num_nodes=4)
    graphs = [arcs, as_data([(0, 1), (1, 2)], 3)]
    assert_same_after(tmp_path / "graphs.npz", AddCodingTree(2, symmetrise=True).apply_all(graphs))


def test_load_graphs_many_runs_are_equal(tmp_path, monkeypatch):
    graphs = AddCodingTree(3, "fast").apply_all(molecules(20) + degenerate_graphs_with_features())
    monkeypatch.setattr("sepool.segments.runs.__defaults__", (7,))
    assert_same_after(tmp_path / "graphs.npz", graphs)


def degenerate_graphs_with_features() -> list[Data]:
    graphs = degenerate_graphs()
    for graph in graphs:
        graph.x, graph.y = torch.eye(4)[torch.zeros(graph.num_nodes).long()], torch.tensor([1])
    return graphs


def test_load_graphs_attributes_of_many_types_are_equal(tmp_path):
    graphs = AddCodingTree(2).apply_all(molecules(4))
    for i, graph in enumerate(graphs):
        graph.pos = torch.randn(graph.num_nodes, 3)
        graph.edge_attr = torch.rand(graph.num_edges, 2, dtype=torch.double)
        graph.mask = torch.arange(graph.num_nodes) < 2
        graph.half = torch.tensor([0.5, -0.0], dtype=torch.half)
        graph.big = torch.tensor([2**40 + i])
        graph.low = torch.tensor([-3 - i])
        graph.zero = torch.tensor([-0.0, 1.0])
        graph.name = f"molecule {i}"
    loaded = assert_same_after(tmp_path / "graphs.npz", graphs)
    assert np.signbit(loaded[0].zero.numpy()).tolist() == [True, False]


def test_load_graphs_attributes_named_like_arrays_are_equal(tmp_path):
    names = (
        *("about", "nodes", "degrees", "gaps", "plain", "edge_counts", "other_edges", "counts"),
        *("parent", "sizes", "symmetric", "file", "format", "version", "core", "x.counts"),
        *("data.x", "rows.x"),
    )
    graphs = molecules(3)
    for i, graph in enumerate(graphs):
        for k, name in enumerate(names):
            graph[name] = torch.full((k + 1,), i + 300)
    assert_same_after(tmp_path / "graphs.npz", graphs)
    assert_same_after(tmp_path / "graphs.npz", AddCodingTree(2).apply_all(graphs))


def test_load_graphs_dataset_and_subset_are_equal(tmp_path):
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = InMemoryDataset.collate(molecules(8))
    dataset = AddCodingTree(3).apply_all(dataset)
    loaded = assert_same_after(tmp_path / "graphs.npz", dataset)
    assert (loaded.num_classes, loaded.num_features) == (2, 4)
    assert_same_after(tmp_path / "graphs.npz", dataset[[4, 2, 2]])
    assert_same_after(tmp_path / "graphs.npz", loaded[:3])
    assert_same_after(tmp_path / "graphs.npz", dataset[[4]])


def test_load_graphs_file_of_0_1_0_is_read():
    graphs = load_graphs(Path(__file__).with_name("files") / "graphs-0.1.0.npz")
    assert [graph.num_nodes for graph in graphs] == [6, 9]
    assert all(same_data(graph, AddCodingTree(3)(graph)) for graph in graphs)


def test_save_graphs_cliques_take_few_bytes(tmp_path):
    graphs = [as_data(shapes.complete(60), 60)] * 50
    save_graphs(tmp_path / "graphs.npz", AddCodingTree(3, "fast").apply_all(graphs))
    edges = sum(graph.num_edges for graph in graphs)
    assert os.path.getsize(tmp_path / "graphs.npz") < edges / 20


def test_save_graphs_one_hot_features_take_few_bytes(tmp_path):
    save_graphs(tmp_path / "graphs.npz", molecules(20))
    assert read_archive(tmp_path / "graphs.npz", FORMAT, VERSION)["data.x"].dtype == np.uint8


@pytest.mark.skipif(
    not Path(os.environ.get("SEPOOL_DATA", "."), "TU", "PROTEINS", "raw").exists(),
    reason="needs PROTEINS: set SEPOOL_DATA to a folder with TU/PROTEINS/raw",
)
def test_load_graphs_proteins_is_equal(tmp_path):
    from torch_geometric.datasets import TUDataset

    raw = Path(os.environ["SEPOOL_DATA"], "TU", "PROTEINS", "raw")
    (tmp_path / "PROTEINS").mkdir()
    (tmp_path / "PROTEINS" / "raw").symlink_to(raw.resolve())
    dataset = TUDataset(str(tmp_path), "PROTEINS", use_node_attr=True)
    dataset = AddCodingTree(3, "fast").apply_all(dataset)
    assert_same_after(tmp_path / "graphs.npz", dataset)
    assert read_archive(tmp_path / "graphs.npz", FORMAT, VERSION)["plain"].all()


# Bad input


def test_save_graphs_no_graphs_raises(tmp_path):
    with pytest.raises(ValueError, match="no graphs"):
        save_graphs(tmp_path / "graphs.npz", [])


def test_save_graphs_object_attribute_leaves_no_file(tmp_path):
    graphs = molecules(2)
    for graph in graphs:
        graph.thing = object()
    with pytest.raises(TypeError, match="attribute 'thing' is neither a tensor nor fit for JSON"):
        save_graphs(tmp_path / "graphs.npz", graphs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [{"a": 1}, {"a": "b"}, torch.ones(2).bfloat16()], ids=str)
def test_save_graphs_unsupported_attribute_is_named(tmp_path, value):
    graphs = molecules(2)
    for graph in graphs:
        graph.info = value
    with pytest.raises(TypeError, match="the attribute 'info'"):
        save_graphs(tmp_path / "graphs.npz", graphs)


def test_save_graphs_different_attributes_raises(tmp_path):
    graphs = AddCodingTree(2).apply_all(molecules(3))
    graphs[2].extra = torch.ones(1)
    with pytest.raises(ValueError, match="graph 2 has the attribute 'extra', graph 0 does not"):
        save_graphs(tmp_path / "graphs.npz", graphs)
    del graphs[2].extra, graphs[1].tree
    with pytest.raises(ValueError, match="graph 0 has the attribute 'tree', graph 1 does not"):
        save_graphs(tmp_path / "graphs.npz", graphs)


class Pair(Data):
    """Data with its own way of batching."""

    def __inc__(self, key, value, *rest):
        return self.x.size(0) if key == "edge_index_t" else super().__inc__(key, value, *rest)


def test_save_graphs_own_batching_raises(tmp_path):
    graphs = [Pair(**graph.to_dict()) for graph in molecules(2)]
    dataset = InMemoryDataset()
    dataset._data, dataset.slices = InMemoryDataset.collate(graphs)
    for given_graphs in (graphs, molecules(1) + graphs, dataset):
        with pytest.raises(TypeError, match="Pair has its own __inc__"):
            save_graphs(tmp_path / "graphs.npz", given_graphs)


def test_save_graphs_trees_of_other_graphs_raises(tmp_path):
    graphs = AddCodingTree(2).apply_all(molecules(3))
    graphs[0].tree, graphs[1].tree = graphs[1].tree, graphs[0].tree
    with pytest.raises(ValueError, match="graph 0: its tree is of another graph"):
        save_graphs(tmp_path / "graphs.npz", graphs)
    graphs = AddCodingTree(2).apply_all(molecules(3))
    for graph in graphs:
        graph.edge_weight = torch.full((graph.num_edges,), 2.0)
    with pytest.raises(ValueError, match="after the last change"):
        save_graphs(tmp_path / "graphs.npz", graphs)
    graphs = [AddCodingTree(k)(graph) for k, graph in zip((2, 3), molecules(2), strict=True)]
    with pytest.raises(ValueError, match=r"trees of the heights \[2, 3\]"):
        save_graphs(tmp_path / "graphs.npz", graphs)


@pytest.mark.parametrize("size", [0, 1, 100, -1])
def test_load_graphs_truncated_file_raises(tmp_path, size):
    path = tmp_path / "graphs.npz"
    save_graphs(path, molecules(3))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ArchiveError, match=r"graphs\.npz: truncated"):
        load_graphs(path)


def test_load_graphs_flipped_byte_never_loads_other_graphs(tmp_path):
    path = tmp_path / "graphs.npz"
    save_graphs(path, AddCodingTree(2).apply_all(molecules(3)))
    whole = path.read_bytes()
    draw = np.random.default_rng(0)
    for place in draw.integers(0, len(whole), 60).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        try:
            loaded = load_graphs(path)
        except ArchiveError:
            continue
        assert all(map(same_data, loaded, AddCodingTree(2).apply_all(molecules(3))))


def test_load_graphs_inconsistent_arrays_raises(tmp_path):
    path = tmp_path / "graphs.npz"
    save_graphs(path, AddCodingTree(2).apply_all(molecules(3)))
    arrays = read_archive(path, FORMAT, VERSION)
    for name, wrong in {
        "nodes": arrays["nodes"] + 1,
        "degrees": arrays["degrees"][1:],
        "gaps": arrays["gaps"] + 50,
        "edge_counts": arrays["edge_counts"] + 2,
        "other_edges": np.zeros((2, 5), np.int64),
        "parent": arrays["parent"] + 90,
        "about": np.array("{"),
        "data.x": arrays["data.x"][1:],
    }.items():
        write_archive(path, FORMAT, VERSION, {**arrays, name: wrong})
        with pytest.raises(ArchiveError, match=r"graphs\.npz: "):
            load_graphs(path)
        write_archive(path, FORMAT, VERSION, {k: x for k, x in arrays.items() if k != name})
        with pytest.raises(ArchiveError, match=r"graphs\.npz: "):
            load_graphs(path)


@pytest.mark.parametrize("about", [{"types": {"x": "int7"}}, {"types": ["x"]}, {"others": ["x"]}])
def test_load_graphs_invalid_description_raises(tmp_path, about):
    path = tmp_path / "graphs.npz"
    save_graphs(path, molecules(3))
    arrays = read_archive(path, FORMAT, VERSION)
    text = json.dumps({**json.loads(str(arrays["about"])), **about})
    write_archive(path, FORMAT, VERSION, {**arrays, "about": np.array(text)})
    with pytest.raises(ArchiveError, match=r"graphs\.npz: "):
        load_graphs(path)


def test_load_graphs_other_version_or_format_raises(tmp_path):
    path = tmp_path / "graphs.npz"
    write_archive(path, FORMAT, VERSION + 1, {})
    with pytest.raises(ArchiveError, match=f"version {VERSION + 1} of the format; this sepool"):
        load_graphs(path)
    AddCodingTree(cache=tmp_path / "trees").apply_all(molecules(2))
    [trees] = (tmp_path / "trees").iterdir()
    with pytest.raises(ArchiveError, match="expected sepool-graphs, the file holds 'sepool-trees'"):
        load_graphs(trees)


def test_load_graphs_pickled_object_is_refused(tmp_path):
    path = tmp_path / "graphs.npz"
    np.savez(path, format=np.array(FORMAT), version=np.array(VERSION), x=np.array([print], object))
    with pytest.raises(ArchiveError, match="not a NumPy archive of plain arrays"):
        load_graphs(path)
    save_graphs(path, molecules(2))
    with zipfile.ZipFile(path) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())


@pytest.mark.parametrize("member", ["about", "format"])
def test_load_graphs_invalid_character_raises(tmp_path, member):
    """A code point beyond Unicode, on which NumPy raises SystemError."""
    path = tmp_path / "graphs.npz"
    save_graphs(path, molecules(2))
    with np.load(path) as archive:
        arrays = dict(archive.items())
    arrays[member] = np.array(0x7FFFFFFF, np.uint32).view("<U1")
    np.savez(path, **arrays)
    with pytest.raises(ArchiveError, match=r"graphs\.npz: "):
        load_graphs(path)
