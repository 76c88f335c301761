from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests import shapes
from tests.pyg_graphs import as_data, molecules, same_data
from torch_geometric.data import Data

import sepool
from sepool import AddCodingTree
from sepool.files.archive import ArchiveError, read_archive, write_archive
from sepool.pyg import cache, transform
from sepool.pyg.cache import FORMAT, VERSION, pack_forest, unpack_forest
from sepool.pyg.format import Forest

FILES = Path(__file__).with_name("files")  # written by sepool 0.1.0


@pytest.fixture
def builds(monkeypatch) -> list[int]:
    """The number of graphs of every call of the core."""
    calls = []

    def count(batch, *options, **named):
        calls.append(len(batch))
        return sepool.coding_trees(batch, *options, **named)

    monkeypatch.setattr(transform, "coding_trees", count)
    return calls


def only_file(folder: Path) -> Path:
    [path] = folder.iterdir()
    return path


def test_cache_second_call_builds_nothing(tmp_path, builds):
    graphs = molecules(10)
    add = AddCodingTree(3, cache=tmp_path / "trees")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (add.apply_all(graphs) for _ in range(2))
    plain = AddCodingTree(3).apply_all(graphs)
    assert builds == [10, 10]  # with the cache, and once without
    assert all(map(same_data, first, plain))
    assert all(map(same_data, second, plain))
    assert only_file(tmp_path / "trees").suffix == ".npz"


@pytest.mark.parametrize(
    "options",
    [
        {"height": 2},
        {"method": "fast"},
        {"seed": 1},
        {"symmetrise": True},
        {"ties": "structure"},
        {"edge_weight": lambda data: 1.0 + data.edge_index.sum(0)},
    ],
)
def test_cache_other_options_build_again(tmp_path, builds, options):
    graphs = molecules(2)
    AddCodingTree(cache=tmp_path).apply_all(graphs)
    AddCodingTree(cache=tmp_path, **options).apply_all(graphs)
    assert builds == [2, 2]
    assert len(list(tmp_path.iterdir())) == 2


def test_cache_other_graphs_build_again(tmp_path, builds):
    pair = as_data([(0, 1)], 2)
    others = [
        [as_data([(0, 1)], 3)],
        [as_data([(1, 2)], 3)],
        [pair, pair],
        [as_data([], 2)],
        [as_data([(0, 1)], 2, edge_weight=torch.ones(2))],
        [as_data([(0, 1)], 2, edge_weight=2 * torch.ones(2))],
    ]
    for graphs in [[pair], *others]:
        AddCodingTree(cache=tmp_path).apply_all(graphs)
    assert len(builds) == 7


def test_cache_changes_without_effect_build_nothing(tmp_path, builds):
    graphs = molecules(3)
    AddCodingTree(cache=tmp_path).apply_all(graphs)
    for graph in graphs:
        graph.x = graph.x + 1
        graph.edge_index = graph.edge_index.int()
    AddCodingTree(cache=tmp_path, num_threads=1, edge_weight=None).apply_all(graphs)
    assert len(builds) == 1


def test_cache_other_core_or_version_builds_again(tmp_path, builds, monkeypatch):
    add = AddCodingTree(cache=tmp_path)
    add.apply_all(molecules(3))
    monkeypatch.setattr(cache, "core_checksum", lambda: 7)
    with pytest.warns(UserWarning, match="built by another compiled core; .* built again"):
        add.apply_all(molecules(3))
    add.apply_all(molecules(3))
    assert len(builds) == 2
    monkeypatch.setattr(cache, "core_checksum", lambda: 0)  # no core: trees of any core are used
    add.apply_all(molecules(3))
    assert len(builds) == 2
    monkeypatch.setattr(sepool, "__version__", "9.9")
    with pytest.warns(UserWarning, match=r"have sepool version '.*', expected '9\.9'"):
        add.apply_all(molecules(3))
    assert len(builds) == 3


# Files of another content under the expected name


OTHER_GRAPHS = "its trees were built of other graphs or with other edge weights or features"


def weighted(graphs: list[Data]) -> list[Data]:
    for graph in graphs:
        graph.edge_weight = torch.full((graph.num_edges,), 2.0)
    return graphs


@pytest.mark.parametrize(
    ("options", "graphs", "reason"),
    [
        ({"height": 2}, molecules(2), "its trees have height 2, expected 3"),
        ({"height": 4}, molecules(2), "its trees have height 4, expected 3"),
        ({"method": "fast"}, molecules(2), "its trees have method 'fast', expected 'best'"),
        ({"seed": 1}, molecules(2), "its trees have seed 1, expected 0"),
        (
            {"ties": "structure"},
            molecules(2),
            "its trees have ties 'structure', expected 'features'",
        ),
        ({"symmetrise": True}, molecules(2), "its trees have symmetrise True, expected False"),
        ({}, molecules(3), OTHER_GRAPHS),
        ({}, weighted(molecules(2)), OTHER_GRAPHS),
    ],
)
def test_cache_file_of_other_trees_is_replaced(tmp_path, builds, options, graphs, reason):
    AddCodingTree(**{"height": 3, "cache": tmp_path / "other", **options}).apply_all(graphs)
    add = AddCodingTree(3, cache=tmp_path / "trees")
    before = add.apply_all(molecules(2))
    path = only_file(tmp_path / "trees")
    shutil.copy(only_file(tmp_path / "other"), path)
    with pytest.warns(UserWarning, match=f"{path}: {reason}; the trees are built again"):
        again = add.apply_all(molecules(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add.apply_all(molecules(2))
    assert builds == [len(graphs), 2, 2]
    assert all(map(same_data, again, before))


def test_cache_file_with_the_description_of_other_trees_is_replaced(tmp_path):
    for height in (2, 3):
        AddCodingTree(height, cache=tmp_path / str(height)).apply_all(molecules(2))
    path = only_file(tmp_path / "3")
    about = read_archive(path, FORMAT, VERSION)["about"]
    low = read_archive(only_file(tmp_path / "2"), FORMAT, VERSION)
    write_archive(path, FORMAT, VERSION, {**low, "about": about})
    with pytest.warns(UserWarning, match="its trees have height 2, expected 3; .* built again"):
        AddCodingTree(3, cache=tmp_path / "3").apply_all(molecules(2))


def test_cache_file_of_0_1_0_is_replaced(tmp_path, builds):
    [stored] = FILES.glob("trees-0.1.0-*.npz")
    name = stored.name.removeprefix("trees-0.1.0-")
    shutil.copy(stored, tmp_path / name)
    loaded = sepool.load_graphs(FILES / "graphs-0.1.0.npz")
    graphs = [Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes) for graph in loaded]
    add = AddCodingTree(3, ties="structure", cache=tmp_path)
    with pytest.warns(UserWarning, match="version 1 of the format; .* reads 2; .* built again"):
        add.apply_all(graphs)
    add.apply_all(graphs)
    assert builds == [2]
    assert only_file(tmp_path).name == name


def content(change):
    """Return a function that changes the bytes of a file."""
    return lambda path: path.write_bytes(change(path.read_bytes()))


def arrays(change, name=FORMAT, version=VERSION):
    """Return a function that changes the arrays of a file."""

    def write(path):
        stored = read_archive(path, FORMAT, VERSION)
        write_archive(path, name, version, {**stored, **change(stored)})

    return write


DAMAGE = {
    "empty": content(lambda whole: b""),
    "truncated": content(lambda whole: whole[: len(whole) // 2]),
    "flipped": content(lambda whole: whole.replace(whole[200:204], b"\0\xff\0\xff")),
    "no archive": content(lambda whole: b"not an archive"),
    "clusters out of range": arrays(lambda stored: {"parent": stored["parent"] + 100}),
    "a cluster less": arrays(lambda stored: {"parent": stored["parent"][1:]}),
    "other sizes": arrays(lambda stored: {"sizes": stored["sizes"] * 2}),
    "other counts": arrays(lambda stored: {"counts": stored["counts"] + 1}),
    "one level": arrays(lambda stored: {"counts": stored["counts"][:, :1]}),
    "other version": arrays(lambda stored: {}, version=VERSION + 1),
    "other format": arrays(lambda stored: {}, name="something"),
    **{
        f"description {text}": arrays(lambda stored, text=text: {"about": np.array(text)})
        for text in ("{", "5", "[]", "{}")
    },
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_cache_damaged_file_is_replaced(tmp_path, builds, damage):
    graphs = molecules(5)
    add = AddCodingTree(cache=tmp_path)
    before = add.apply_all(graphs)
    path = only_file(tmp_path)
    damage(path)
    with pytest.warns(UserWarning, match=f"{path}: .*built again"):
        again = add.apply_all(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        third = add.apply_all(graphs)
    assert len(builds) == 2
    assert all(map(same_data, again, before))
    assert all(map(same_data, third, before))


def test_cache_without_compiled_core_is_read(tmp_path):
    graphs = molecules(3)
    before = AddCodingTree(3, ties="structure", cache=tmp_path).apply_all(graphs)
    sepool.save_graphs(tmp_path / "graphs.npz", before)
    torch.save([graph.edge_index for graph in graphs], tmp_path / "edges.pt")
    code = (
        "import sys; sys.modules['sepool._core'] = None\n"
        "import torch, sepool\n"
        "from torch_geometric.data import Data\n"
        "loaded = sepool.load_graphs('graphs.npz')\n"
        "edges = torch.load('edges.pt')\n"
        "sizes = [graph.num_nodes for graph in loaded]\n"
        "plain = [Data(edge_index=e, num_nodes=n) for e, n in zip(edges, sizes)]\n"
        "add = sepool.AddCodingTree(3, ties='structure', cache='.')\n"
        "for a, b in zip(add.apply_all(plain), loaded):\n"
        "    assert torch.equal(a.tree, b.tree)\n"
        "sepool.hierarchy(loaded[0]).assignment(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


@given(st.lists(shapes.graphs(), min_size=1, max_size=4), st.integers(1, 5))
def test_unpack_forest_packed_trees_are_equal(graphs, height):
    made = [sepool.as_graph(edges, num_nodes=n) for n, edges in graphs if n]
    trees = Forest.of(sepool.coding_trees(made, height))
    nodes = np.array([graph.num_nodes for graph in made])
    again = unpack_forest(pack_forest(trees), nodes)
    assert again.counts.tolist() == trees.counts.tolist()
    assert again.parent.tolist() == trees.parent.tolist()
    with pytest.raises(ArchiveError, match="numbers of nodes differ"):
        unpack_forest(pack_forest(trees), nodes + 1)


def test_cache_folder_in_place_of_the_file_is_refused_before_any_search(tmp_path, builds):
    add, graphs = AddCodingTree(3, cache=tmp_path / "trees"), molecules(4)
    add.apply_all(graphs)
    path = only_file(tmp_path / "trees")
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match=r"\.npz: it is a folder, not a regular file; move it"):
        add.apply_all(graphs)
    assert builds == [4]
