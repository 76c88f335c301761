from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from tests import shapes  # noqa: E402
from tests.pyg_graphs import as_data, molecules, same_data  # noqa: E402

import sepool  # noqa: E402
from sepool import AddCodingTree  # noqa: E402
from sepool.files.archive import ArchiveError, read_archive, write_archive  # noqa: E402
from sepool.pyg import cache, transform  # noqa: E402
from sepool.pyg.cache import FORMAT, VERSION, pack_forest, unpack_forest  # noqa: E402
from sepool.pyg.format import Forest  # noqa: E402


@pytest.fixture
def builds(monkeypatch) -> list[int]:
    """How many graphs each call of the core was given."""
    calls = []

    def count(batch, *options, **named):
        calls.append(len(batch))
        return sepool.coding_trees(batch, *options, **named)

    monkeypatch.setattr(transform, "coding_trees", count)
    return calls


def test_no_tree_is_built_twice(tmp_path, builds):
    graphs = molecules(10)
    add = AddCodingTree(3, cache=tmp_path / "trees")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [add.apply_all(graphs) for _ in range(2)]
    plain = AddCodingTree(3).apply_all(graphs)
    assert builds == [10, 10]  # with the cache and, once, without
    assert all(map(same_data, found[0], plain))
    assert all(map(same_data, found[1], plain))
    assert len(list((tmp_path / "trees").iterdir())) == 1


def test_one_graph(tmp_path, builds):
    graph = molecules(1)[0]
    add = AddCodingTree(3, cache=tmp_path)
    assert same_data(add(graph), add(graph))
    assert builds == [1]


@pytest.mark.parametrize(
    "options",
    [
        {"height": 2},
        {"method": "fast"},
        {"seed": 1},
        {"symmetrise": True},
        {"edge_weight": lambda data: 1.0 + data.edge_index.sum(0)},
    ],
)
def test_what_the_trees_depend_on(tmp_path, builds, options):
    graphs = molecules(2)
    AddCodingTree(cache=tmp_path).apply_all(graphs)
    AddCodingTree(cache=tmp_path, **options).apply_all(graphs)
    assert builds == [2, 2]


def test_the_graphs_they_depend_on(tmp_path, builds):
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


def test_what_they_do_not_depend_on(tmp_path, builds):
    graphs = molecules(3)
    AddCodingTree(cache=tmp_path).apply_all(graphs)
    for graph in graphs:
        graph.x = graph.x + 1
        graph.edge_index = graph.edge_index.int()
    AddCodingTree(cache=tmp_path, num_threads=1, edge_weight=None).apply_all(graphs)
    assert len(builds) == 1


def test_trees_of_another_version_or_core(tmp_path, builds, monkeypatch):
    add = AddCodingTree(cache=tmp_path)
    add.apply_all(molecules(3))
    monkeypatch.setattr(cache, "core_checksum", lambda: 7)
    add.apply_all(molecules(3))
    add.apply_all(molecules(3))
    assert len(builds) == 2
    monkeypatch.setattr(cache, "core_checksum", lambda: 0)  # no core: any tree is welcome
    add.apply_all(molecules(3))
    assert len(builds) == 2
    monkeypatch.setattr(sepool, "__version__", "9.9")
    add.apply_all(molecules(3))
    assert len(builds) == 3


DAMAGE = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "flipped": lambda content: content.replace(content[200:204], b"\0\xff\0\xff"),
    "something else": lambda content: b"not an archive",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_built_again(tmp_path, builds, damage):
    graphs = molecules(5)
    add = AddCodingTree(cache=tmp_path)
    before = add.apply_all(graphs)
    [path] = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match=r"\.npz: .*built again"):
        again = add.apply_all(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        third = add.apply_all(graphs)
    assert len(builds) == 2
    assert all(map(same_data, again, before))
    assert all(map(same_data, third, before))


def test_trees_that_do_not_fit(tmp_path, builds):
    add = AddCodingTree(2, cache=tmp_path)
    add.apply_all(molecules(2))
    [path] = tmp_path.iterdir()
    arrays = read_archive(path, FORMAT, VERSION)
    for wrong in (
        {"parent": arrays["parent"] + 100},
        {"parent": arrays["parent"][1:]},
        {"sizes": arrays["sizes"] * 2},
        {"counts": arrays["counts"] + 1},
        {"counts": arrays["counts"][:, :1]},
    ):
        write_archive(path, FORMAT, VERSION, {**arrays, **wrong})
        with pytest.warns(UserWarning, match=f"{path}: .* built again"):
            add.apply_all(molecules(2))
    for version, kind in ((VERSION + 1, FORMAT), (VERSION, "something")):
        write_archive(path, kind, version, arrays)
        with pytest.warns(UserWarning, match="built again"):
            add.apply_all(molecules(2))


def test_without_a_compiled_core(tmp_path):
    graphs = molecules(3)
    before = AddCodingTree(3, cache=tmp_path).apply_all(graphs)
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
        "for a, b in zip(sepool.AddCodingTree(3, cache='.').apply_all(plain), loaded):\n"
        "    assert torch.equal(a.tree, b.tree)\n"
        "sepool.hierarchy(loaded[0]).assignment(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        AddCodingTree(cache=tmp_path)(molecules(1)[0])
    assert list(tmp_path.iterdir()) == []


@given(st.lists(shapes.graphs(), min_size=1, max_size=4), st.integers(1, 5))
def test_trees_as_arrays(graphs, height):
    made = [sepool.as_graph(edges, num_nodes=n) for n, edges in graphs if n]
    trees = Forest.of(sepool.coding_trees(made, height))
    nodes = np.array([graph.num_nodes for graph in made])
    again = unpack_forest(pack_forest(trees), nodes)
    assert again.counts.tolist() == trees.counts.tolist()
    assert again.parent.tolist() == trees.parent.tolist()
    with pytest.raises(ArchiveError, match="numbers of nodes differ"):
        unpack_forest(pack_forest(trees), nodes + 1)
