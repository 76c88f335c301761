from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sepool
from sepool import CodingTree, TreeFormatError

SUFFIXES = pytest.mark.parametrize("suffix", [".json", ".npz"])


@pytest.fixture
def tree(bridge) -> CodingTree:
    return CodingTree.from_levels(bridge, [[0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]])


def assert_same(a: CodingTree, b: CodingTree) -> None:
    assert (a.counts, a.entropy, repr(a.names)) == (b.counts, b.entropy, repr(b.names))
    for x, y in ((a.parent, b.parent), (a.volume, b.volume), (a.boundary, b.boundary)):
        assert x.dtype == y.dtype
        assert x.tolist() == y.tolist()


@SUFFIXES
@given(data=st.data())
def test_load_returns_what_was_saved(tmp_path_factory, suffix, data):
    n = data.draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(node, node, st.floats(0.001, 1000))))
    label = st.text() | st.integers() | st.booleans() | st.none() | st.floats(-9, 9)
    label |= st.tuples(label, label)
    names = data.draw(st.none() | st.lists(label, min_size=n, max_size=n).map(tuple))
    graph = sepool.as_graph(edges, num_nodes=n)
    tree = CodingTree.from_levels(graph, [[i // 2 for i in range(n)]])
    tree = CodingTree(tree.counts, tree.parent, tree.volume, tree.boundary, tree.entropy, names)
    path = tmp_path_factory.mktemp("tree") / f"tree{suffix}"
    tree.save(path)
    assert_same(CodingTree.load(path), tree)


@SUFFIXES
def test_save_nodes_of_networkx_come_back(tmp_path, suffix):
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 3), 1)
    for nodes in (graph, nx.grid_2d_graph(2, 3), nx.Graph([(1, "1"), (np.int64(7), "None")])):
        tree = sepool.coding_tree(nodes, height=2)
        tree.save(tmp_path / f"tree{suffix}")
        loaded = CodingTree.load(tmp_path / f"tree{suffix}")
        assert loaded == tree
        assert loaded.communities(1) == tree.communities(1)


@SUFFIXES
@pytest.mark.parametrize("node", [frozenset("a"), float("inf"), object, (1, b"b")])
def test_save_a_node_that_no_file_holds_is_named(tmp_path, suffix, node):
    tree = sepool.coding_tree(nx.Graph([(0, node), (node, 2)]))
    with pytest.raises(TypeError, match=r"a tree file cannot hold the node .*; names must be"):
        tree.save(tmp_path / f"tree{suffix}")
    assert os.listdir(tmp_path) == []
    replace(tree, names=tuple(map(str, tree.names))).save(tmp_path / f"tree{suffix}")


def test_save_writes_the_documented_format(tmp_path, tree):
    tree.save(tmp_path / "tree.json")
    fields = json.loads((tmp_path / "tree.json").read_text())
    assert fields == {
        "format": "sepool-tree",
        "version": 2,
        "counts": [6, 4, 2, 1],
        "parent": [0, 0, 1, 2, 3, 3, 0, 0, 1, 1, 0, 0],
        "volume": [2, 2, 3, 3, 2, 2, 4, 3, 3, 4, 7, 7, 14],
        "boundary": [2, 2, 3, 3, 2, 2, 2, 3, 3, 2, 1, 1, 0],
        "entropy": tree.entropy,
        "names": None,
    }
    tree.save(tmp_path / "tree.npz")
    with np.load(tmp_path / "tree.npz", allow_pickle=False) as archive:
        assert set(archive) == set(fields)


def test_save_nan_is_refused(tmp_path, tree):
    broken = CodingTree(tree.counts, tree.parent, tree.volume, tree.boundary, float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        broken.save(tmp_path / "tree.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("field", ["format", "version"])
def test_load_list_in_place_of_a_word_is_refused(tmp_path, tree, field):
    path = tmp_path / "tree.npz"
    tree.save(path)
    with np.load(path) as archive:
        fields = dict(archive)
    np.savez(path, **{**fields, field: np.array([fields[field]] * 2)})
    with pytest.raises(TreeFormatError, match=r"format"):
        CodingTree.load(path)


def test_save_takes_suffixes_in_capitals(tmp_path, tree):
    tree.save(tmp_path / "TREE.JSON")
    assert CodingTree.load(tmp_path / "TREE.JSON").entropy == tree.entropy


@pytest.mark.parametrize("name", ["tree.txt", "tree", "tree.json.gz"])
def test_save_other_suffixes_are_refused(tmp_path, tree, name):
    with pytest.raises(ValueError, match=r"ends in \.json, \.npz, \.csv, .* got '.*'$"):
        tree.save(tmp_path / name)
    with pytest.raises(ValueError, match=r"ends in \.json or \.npz"):
        CodingTree.load(tmp_path / name)
    assert os.listdir(tmp_path) == []


@SUFFIXES
def test_load_truncated_file_is_refused(tmp_path, tree, suffix):
    path = tmp_path / f"tree{suffix}"
    tree.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:size])
        with pytest.raises(TreeFormatError, match=f"tree{suffix}: "):
            CodingTree.load(path)


@SUFFIXES
@pytest.mark.parametrize("junk", [b"[1, 2]", b"null", b"\xff\xfe\0", b"{" * 99999, b"PK\3\4junk"])
def test_load_other_content_is_refused(tmp_path, suffix, junk):
    (tmp_path / f"tree{suffix}").write_bytes(junk)
    with pytest.raises(TreeFormatError, match=f"tree{suffix}: "):
        CodingTree.load(tmp_path / f"tree{suffix}")


def test_load_unpickles_nothing(tmp_path, tree):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    path = tmp_path / "tree.npz"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(TreeFormatError):
        CodingTree.load(path)
    tree.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], object), allow_pickle=True)
    members["parent.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(TreeFormatError, match="pickle"):
        CodingTree.load(path)
    assert not (tmp_path / "executed").exists()


REMOVED = object()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", "other", "not a coding tree: format is 'other'"),
        ("format", REMOVED, "not a coding tree: format is None"),
        ("format", ["sepool-tree"], r"not a coding tree: format is \['sepool-tree'\]"),
        ("version", 3, "version 3 of the format; this sepool reads 1 and 2"),
        ("counts", REMOVED, "counts is missing"),
        ("counts", [6, 4, 2], "counts must run from the nodes down to one root"),
        ("counts", [1], "counts must run"),
        ("counts", [0, 1], "counts must run"),
        ("counts", [6, -4, 2, 1], "counts must be finite and not negative"),
        ("counts", [6, 4, 3, 1], "parent must have 13 entries, got 12"),
        ("counts", [6.0, 4, 2, 1], "counts must be a flat list of numbers, got float64"),
        ("parent", [0] * 11, "parent must have 12 entries, got 11"),
        ("parent", [0, 0, 1, 2, 4, 3, 0, 0, 1, 1, 0, 0], "parent 4 on level 1, which has 4 nodes"),
        ("parent", [0, 0, 1, 2, -3, 3, 0, 0, 1, 1, 0, 0], "parent must be finite and not negative"),
        ("parent", [0, 0, 1, 3, 3, 3, 0, 0, 1, 1, 0, 0], "cluster on level 1 has no children"),
        (
            "parent",
            [0, 0, 1, 2, 3, 3, 0, 1, 0, 1, 0, 0],
            "siblings are not adjacent on level 1",
        ),
        ("parent", [0, 0, 1, 2, 2, 3, 0, 0, 1, 1, 0, 0], "volumes on level 1 are not those of"),
        ("parent", [[0, 0], [1]], "parent must be a flat list of numbers"),
        ("parent", [None] * 12, "parent must be a flat list of numbers"),
        ("parent", "abc", "parent must be a flat list of numbers"),
        ("volume", [3] * 13, "volumes on level 1"),
        ("volume", ["x"] * 13, "volume must be a flat list of numbers"),
        ("boundary", [float("nan")] * 13, "boundary must be finite"),
        ("boundary", [-1] * 13, "boundary must be finite and not negative"),
        ("boundary", [99] * 13, "a boundary is larger than its volume"),
        ("boundary", [0] * 13, r"entropy .*, but its nodes add up to 0\.0"),
        ("entropy", 9.5, r"entropy 9\.5, but its nodes add up to"),
        ("entropy", "low", "entropy must be a finite number, got 'low'"),
        ("entropy", 10**400, "entropy must be a finite number, got 1000"),
        ("entropy", REMOVED, "entropy must be a finite number, got None"),
        ("names", ["a", "b"], "expected 6 names, one a node, got 2"),
        ("names", [{}, 2, 3, 4, 5, 6], "names must be strings, numbers, null or lists of these"),
        ("names", "abcdef", "names must be a list, or null, got a str"),
    ],
)
def test_load_inconsistent_fields_are_refused(tmp_path, tree, field, value, message):
    path = tmp_path / "tree.json"
    tree.save(path)
    fields = json.loads(path.read_text())
    fields[field] = value
    path.write_text(json.dumps({k: x for k, x in fields.items() if x is not REMOVED}))
    with pytest.raises(TreeFormatError, match=message) as caught:
        CodingTree.load(path)
    assert str(caught.value).startswith(f"{path}: ")


OLD = Path(__file__).with_name("data")  # written by sepool 0.1.0


class TestVersion1:
    @SUFFIXES
    def test_load_numbered_nodes_equal_a_new_tree(self, bridge, suffix):
        tree = CodingTree.load(OLD / f"numbers-0.1.0{suffix}")
        levels = [tree.labels(level) for level in range(1, tree.height)]
        assert tree == CodingTree.from_levels(bridge, levels)
        assert tree.communities(2) == [{0, 1, 2}, {3, 4, 5}]

    @SUFFIXES
    def test_load_named_nodes_keep_their_names(self, suffix):
        tree = CodingTree.load(OLD / f"names-0.1.0{suffix}")
        graph = nx.Graph(["ab", "bc", "ca", "cd", "de", "ef", "fd"])
        assert tree.communities(1) == [set("abc"), set("def")]
        assert tree == CodingTree.from_levels(graph, tree.communities(1))

    @SUFFIXES
    def test_load_ids_as_text_fit_their_graph(self, write, suffix):
        """Version 1 has ids as text; the graph that they come from has them as integers."""
        tree = CodingTree.load(OLD / f"ids-0.1.0{suffix}")
        assert tree.names == ("10", "20", "30", "40", "50", "60")
        path = write("10 20 0.5\n20 30 0.5\n30 10 1.5\n30 40 0.25\n40 50\n50 60\n60 40\n")
        graph = sepool.as_graph(path)
        assert graph.names == (10, 20, 30, 40, 50, 60)
        assert sepool.structural_entropy(graph, tree) == pytest.approx(tree.entropy)

    @SUFFIXES
    def test_save_a_loaded_tree_writes_the_new_version(self, tmp_path, suffix):
        tree = CodingTree.load(OLD / f"names-0.1.0{suffix}")
        tree.save(tmp_path / "tree.json")
        fields = json.loads((tmp_path / "tree.json").read_text())
        assert fields["version"] == 2
        assert "cut" not in fields
        assert CodingTree.load(tmp_path / "tree.json") == tree

    def test_load_a_file_without_cut_is_refused(self, tmp_path):
        fields = json.loads((OLD / "names-0.1.0.json").read_text())
        del fields["cut"]
        (tmp_path / "tree.json").write_text(json.dumps(fields))
        with pytest.raises(TreeFormatError, match=r"tree\.json: cut is missing"):
            CodingTree.load(tmp_path / "tree.json")
