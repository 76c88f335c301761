from __future__ import annotations

import csv
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree

pd = pytest.importorskip("pandas")


@pytest.fixture
def tree() -> CodingTree:
    return sepool.coding_tree(nx.les_miserables_graph(), height=3)


def labels(tree: CodingTree) -> list[list[int]]:
    return [tree.labels(level).tolist() for level in range(1, tree.height)]


def test_to_frame_pandas_has_a_row_a_node(tree):
    frame = tree.to_frame()
    assert list(frame) == ["node", "level_1", "level_2"]
    assert tuple(frame["node"]) == tree.names
    assert [frame[f"level_{i}"].tolist() for i in (1, 2)] == labels(tree)
    assert frame["level_1"].dtype == np.int32


def test_to_frame_polars_equals_pandas(tree):
    pl = pytest.importorskip("polars")
    frame = tree.to_frame("polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame.rows() == list(tree.to_frame().itertuples(index=False, name=None))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_to_frame_without_names_has_numbers(bridge, library):
    pytest.importorskip(library)
    frame = sepool.coding_tree(bridge, height=1).to_frame(library)
    assert list(frame.columns) == ["node"]
    assert frame["node"].to_list() == [0, 1, 2, 3, 4, 5]


def test_to_frame_keeps_tuples_as_names():
    graph = nx.grid_2d_graph(2, 2)
    frame = sepool.coding_tree(graph, height=2).to_frame()
    assert frame["node"].tolist() == list(graph)


def test_to_frame_mixed_names_are_refused_by_polars():
    pytest.importorskip("polars")
    tree = sepool.coding_tree(nx.Graph([(1, "a"), ("a", (2, 3))]), height=2)
    assert tree.to_frame()["node"].tolist() == [1, "a", (2, 3)]
    with pytest.raises(
        TypeError, match="polars needs names of one plain type, got int, str, tuple"
    ):
        tree.to_frame("polars")


def test_to_frame_other_library_is_refused(tree):
    with pytest.raises(ValueError, match="library must be one of pandas, polars"):
        tree.to_frame("dask")


@pytest.mark.parametrize(("library", "command"), [("pandas", "io"), ("polars", "polars")])
def test_to_frame_missing_library_has_its_command(library, command):
    program = (
        f"import sys; sys.modules[{library!r}] = None; import sepool\n"
        f"sepool.coding_tree([(0, 1)], 1).to_frame({library!r})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    line = done.stderr.splitlines()[-1]
    assert f"to_frame needs {library}: pip install" in line
    assert command in line.partition("pip install")[2]


@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_save_table_is_read_by_pandas(tmp_path, tree, ending, delimiter):
    path = tmp_path / f"labels.{ending}"
    tree.save(path)
    assert path.read_bytes().startswith(delimiter.join(["node", "level_1", "level_2"]).encode())
    frame = pd.read_csv(path, sep=delimiter)
    assert frame.equals(tree.to_frame().astype({"level_1": "int64", "level_2": "int64"}))


def test_save_table_quotes_names(tmp_path):
    names = ['a "b"', "c,d\te", "f\ng", "é"]
    tree = CodingTree.from_levels(nx.path_graph(names), [0, 0, 1, 1])
    for name, delimiter in (("x.csv", ","), ("x.tsv", "\t")):
        tree.save(tmp_path / name)
        with open(tmp_path / name, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter=delimiter))
        assert [row[0] for row in rows[1:]] == names


def test_save_parquet_keeps_types(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    tree = sepool.coding_tree(nx.path_graph(range(5, 9)), height=2)
    tree.save(tmp_path / "labels.parquet")
    table = pq.read_table(tmp_path / "labels.parquet").to_pydict()
    assert table == {"node": [5, 6, 7, 8], "level_1": tree.labels(1).tolist()}


def test_save_parquet_mixed_names_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    tree = sepool.coding_tree(nx.Graph([(1, "a")]), height=1)
    with pytest.raises(TypeError, match=r"a \.parquet file needs names of one plain type, got int"):
        tree.save(tmp_path / "labels.parquet")
