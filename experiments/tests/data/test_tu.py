"""Files of TU datasets: equality with PyG, and errors with file and line."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from torch_geometric import datasets

from sepool_experiments.data.graphs import load_folds, load_graphs
from sepool_experiments.data.tu import TUFiles, read_numbers


@pytest.fixture
def files(data):
    return TUFiles(data / "TU" / "MUTAG" / "raw", "MUTAG")


def change(path, line, text):
    lines = path.read_text().splitlines()
    lines[line - 1 : line] = [text] if text is not None else []
    path.write_text("".join(f"{line}\n" for line in lines))


def test_read_edges_equals_pyg(data, files):
    files.path("A").write_text("2, 1\n1, 2\n1, 1\n1, 2\n5, 6\n6, 5\n" + "58, 60\n60, 58\n")
    files.path("node_labels").write_text("".join(f"{2 + i % 3}, 7\n" for i in range(60)))
    theirs = datasets.TUDataset(str(data / "TU"), "MUTAG")
    nodes, labels, y = files.read_nodes()
    edges = files.read_edges(nodes)
    at = 0
    for number, graph in enumerate(theirs):
        assert graph.num_nodes == nodes[number]
        assert graph.y.item() == y[number]
        assert graph.x.argmax(1).tolist() == labels[number * 3 : number * 3 + 3].tolist()
        count = edges.counts[number]
        pairs = np.stack([edges.row[at : at + count], edges.col[at : at + count]])
        assert pairs.tolist() == graph.edge_index.tolist()
        at += count


def test_read_edges_empty_last_graphs_have_no_edges(data, files):
    files.path("A").write_text("1, 2\n2, 1\n")
    assert load_graphs(data, "MUTAG").edges.counts.tolist() == [2] + [0] * 19


@pytest.mark.parametrize(
    ("part", "line", "text", "message"),
    [
        ("graph_labels", 3, "yes", r"labels.txt: expected whole numbers: .* 'yes' .* row 2, .*"),
        ("graph_labels", 4, "0.5", r"labels.txt: expected whole numbers: .* '0.5' .* row 3, .*"),
        ("graph_labels", 1, None, "MUTAG_graph_labels.txt has 19 classes, .* 20 graphs"),
        ("graph_labels", 20, "1, 2", "MUTAG_graph_labels.txt: .* number of columns"),
        ("node_labels", 1, None, "MUTAG_node_labels.txt has 59 labels, .* 60 nodes"),
        ("graph_indicator", 5, "1", "MUTAG_graph_indicator.txt: node 5 is in graph 1; .* sorted"),
        ("graph_indicator", 1, "2", "indicator.txt: node 1 is in graph 2; graphs must be numbered"),
        ("A", 1, "1, 61", "MUTAG_A.txt: edge 1, 61: nodes must be 1 to 60"),
        ("A", 1, "0, 1", "MUTAG_A.txt: edge 0, 1: nodes must be"),
        ("A", 1, "1, 5", "MUTAG_A.txt: edge 1, 5 joins the graphs 1 and 2 of MUTAG"),
        ("A", 6, "5, x", "MUTAG_A.txt: expected whole numbers: .* ' x' .* row 5, column 2"),
        ("A", 2, None, "edge 1, 2 of MUTAG is listed in one direction only; .* reverse, 2, 1"),
    ],
)
def test_load_graphs_damaged_file_names_line(data, files, part, line, text, message):
    change(files.path(part), line, text)
    with pytest.raises(ValueError, match=message):
        load_graphs(data, "MUTAG")
    assert not (data / "sepool").exists()


def test_read_edges_three_columns_raise(data, files):
    files.path("A").write_text("1, 2, 1\n2, 1, 1\n")
    with pytest.raises(ValueError, match=r"MUTAG_A.txt: numbers a line: expected 2, got 3"):
        load_graphs(data, "MUTAG")


@pytest.mark.parametrize("part", ["A", "graph_indicator", "graph_labels"])
def test_load_graphs_missing_file_raises_without_download(data, files, part, monkeypatch):
    monkeypatch.setattr(datasets, "TUDataset", lambda *_: pytest.fail("asked the network"))
    files.path(part).unlink()
    with pytest.raises(ValueError, match=f"MUTAG_{part}.txt is missing; copy it to"):
        load_graphs(data, "MUTAG")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\nthree\n", r"test_idx-3.txt: expected whole numbers: .* 'three' .* row 1, column 1"),
        ("\n", "test_idx-3.txt: expected whole numbers: .* no data"),
    ],
)
def test_load_folds_bad_file_names_line(data, text, message):
    (data / "splits" / "MUTAG" / "test_idx-3.txt").write_text(text)
    graphs = load_graphs(data, "MUTAG")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match=message):
            load_folds(data, graphs)
    assert not caught


def test_read_numbers_on_one_or_many_lines_agree(tmp_path):
    path = tmp_path / "some.txt"
    for text in ("4 5 6", "4\n5\n\n6\n"):
        path.write_text(text)
        assert read_numbers(path).ravel().tolist() == [4, 5, 6]


def test_digest_depends_on_contents_alone(files):
    digest = files.digest()
    os.utime(files.path("A"), ns=(0, 0))
    assert files.digest() == digest
    files.path("node_labels").unlink()
    assert files.digest() != digest
