from __future__ import annotations

import gzip
import os
from dataclasses import replace

import networkx as nx
import pytest

import sepool
from sepool import CodingTree
from sepool.export.formats import ENDINGS, FORMATS, LABEL_ENDINGS, ending_of

TEXT = [ending for ending, entry in FORMATS.items() if entry.text]


@pytest.fixture
def tree(bridge) -> CodingTree:
    return CodingTree.from_levels(bridge, [[0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1]])


@pytest.mark.parametrize("ending", ENDINGS)
def test_save_twice_writes_the_same_bytes(tmp_path, tree, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    for name in ("one", "two"):
        tree.save(tmp_path / f"{name}{ending}")
    one, two = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("one", "two"))
    assert one == two or ending == ".npz"  # which has the time of its writing
    assert len(one) > 40


@pytest.mark.parametrize("ending", TEXT)
def test_save_gzipped_holds_the_plain_file(tmp_path, tree, ending):
    tree.save(tmp_path / f"tree{ending}")
    tree.save(tmp_path / f"one{ending}.gz")
    tree.save(tmp_path / f"TWO{ending.upper()}.GZ")
    one, two = ((tmp_path / x).read_bytes() for x in (f"one{ending}.gz", f"TWO{ending.upper()}.GZ"))
    assert gzip.decompress(one) == (tmp_path / f"tree{ending}").read_bytes()
    assert two == one


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("edges", [[(0, 0)], [(0, 1)], [(i, 0) for i in range(1, 50)]])
def test_save_trees_of_few_or_no_clusters(tmp_path, ending, edges):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    for height in (1, 2, 3):
        tree = sepool.coding_tree(edges, height=height)
        tree.save(tmp_path / f"tree{ending}")
        assert (tmp_path / f"tree{ending}").stat().st_size > 0


@pytest.mark.parametrize(
    "name", ["x", "x.", "x.txt", "csv", "x.csv.bz2", "x.parquet.gz", "x.npz.gz"]
)
def test_save_unknown_ending_lists_the_endings(tmp_path, tree, name):
    with pytest.raises(
        ValueError, match=r"ends in \.json, .*\.d3\.json, text also in \.gz"
    ) as error:
        tree.save(tmp_path / name)
    assert name in str(error.value)
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending", [".csv", ".tree", ".d3.json", ".graphml"])
def test_load_an_export_is_refused(tmp_path, tree, ending):
    tree.save(tmp_path / f"tree{ending}")
    with pytest.raises(ValueError, match=r"\.json or \.npz|not a coding tree"):
        CodingTree.load(tmp_path / f"tree{ending}")


@pytest.mark.parametrize("ending", [".csv", ".tree.gz", ".nwk", ".graphml", ".d3.json.gz"])
def test_save_that_fails_leaves_the_old_file(tmp_path, tree, ending, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    path = tmp_path / f"tree{ending}"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        tree.save(path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "old"


@pytest.mark.parametrize("ending", [".tree", ".nwk", ".graphml"])
def test_save_a_name_that_a_format_cannot_hold_is_one_line(tmp_path, ending):
    tree = CodingTree.from_levels(nx.Graph([("a", "b\n\x00")]), [0, 1])
    with pytest.raises(ValueError, match=r"cannot hold .* in the name of the node 'b\\n") as error:
        tree.save(tmp_path / f"x{ending}")
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".tree", ".nwk", ".graphml", ".d3.json"])
def test_save_a_name_beyond_unicode_is_refused(tmp_path, ending):
    tree = CodingTree.from_levels(nx.Graph([("a", "b\udc80")]), [0, 1])
    with pytest.raises(ValueError, match=r"cannot hold '\\udc80'"):
        tree.save(tmp_path / f"x{ending}")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending", [".nwk", ".graphml"])
def test_save_names_of_one_text_are_refused(tmp_path, ending):
    tree = CodingTree.from_levels(nx.Graph([(1, "1")]), [0, 1])
    with pytest.raises(ValueError, match="several nodes are '1'"):
        tree.save(tmp_path / f"x{ending}")
    replace(tree, names=("a", "b")).save(tmp_path / f"x{ending}")


def test_ending_of_labels_refuses_trees():
    assert LABEL_ENDINGS == (".csv", ".tsv", ".parquet", ".clu")
    assert ending_of("x.d3.json").name == ".d3.json"
    with pytest.raises(ValueError, match=r"ends in \.csv, \.tsv, \.parquet, \.clu, text"):
        ending_of("labels.nwk", LABEL_ENDINGS)
