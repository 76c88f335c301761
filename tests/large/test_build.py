from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.large.conftest import labels_of, planted

import sepool
from sepool.large import Report, coding_tree

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import generators


def entropy_of(rows, u, v, w=None):
    """The library's entropy of rows of labels on a list of edges."""
    place = {row[0]: i for i, row in enumerate(rows)}
    ends = [[place[x] for x in side] for side in (u, v)]
    edges = np.column_stack([*ends, np.ones(len(u), np.int64) if w is None else w])
    graph = sepool.as_graph(edges=edges, num_nodes=len(rows))
    levels = [np.array([row[k] for row in rows]) for k in range(1, len(rows[0]))]
    return sepool.structural_entropy(graph, levels)


def assert_nested(rows):
    for level in range(1, len(rows[0]) - 1):
        assert len({row[level] for row in rows}) == len({row[level : level + 2] for row in rows})


@pytest.mark.parametrize("height", [1, 2, 3, 4])
def test_coding_tree_contracted_labels_are_nested_complete_and_of_the_entropy(
    write, tmp_path, height
):
    u, v = planted(3000)
    w = np.arange(len(u)) % 3 + 1
    output = tmp_path / "labels.parquet"
    path = write(source=u * 7 - 50, target=v * 7 - 50, weight=w)
    result = coding_tree(path, height=height, memory="90kB", output=output)
    rows = labels_of(output)
    assert [row[0] for row in rows] == sorted({*(u * 7 - 50), *(v * 7 - 50)})
    assert len(rows[0]) == result.height == height
    assert_nested(rows)
    assert result.counts == (*(len({*column}) for column in zip(*rows, strict=True)), 1)
    expected = entropy_of(rows, u * 7 - 50, v * 7 - 50, w)
    assert result.entropy == pytest.approx(expected, abs=1e-9)
    assert result.rounds > 3
    assert result.folder is None
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("sepool-")] == []


@pytest.mark.parametrize("height", [2, 3, None])
def test_coding_tree_of_a_graph_that_fits_is_that_of_the_library(write, tmp_path, height):
    u, v = planted(1500)
    result = coding_tree(
        write(source=u, target=v), height=height, output=tmp_path / "labels.parquet"
    )
    tree = sepool.coding_tree(np.column_stack([u, v]), height)
    assert (result.counts, result.rounds) == (tree.counts, 0)
    assert result.entropy == pytest.approx(tree.entropy, abs=1e-9)


@pytest.mark.heavy
@pytest.mark.parametrize("height", [2, 3])
@pytest.mark.parametrize("family", ["LFR", "planted"])
def test_coding_tree_contracted_is_near_the_search_in_memory(write, tmp_path, family, height):
    if family == "LFR":
        pairs = generators.lfr(14_000, 0.3, seed=0).graph.pairs
    else:
        pairs = generators.planted_partition(100_000, seed=0).pairs
    u, v = pairs.T
    output = tmp_path / "labels.parquet"
    result = coding_tree(write(source=u, target=v), height=height, memory="2.5MB", output=output)
    assert result.rounds >= 3
    assert result.entropy < 1.02 * sepool.coding_tree(pairs, height).entropy


def test_coding_tree_without_height_chooses_the_depth(write, tmp_path):
    u, v = planted(4000)
    result = coding_tree(
        write(source=u, target=v), memory="120kB", output=tmp_path / "labels.parquet"
    )
    assert result.height == 2
    assert result.rounds > 3
    assert 3 < result.counts[1] < 10


def test_coding_tree_text_ids_are_the_nodes(tmp_path):
    (tmp_path / "edges").mkdir()
    parts = ("ann,bob\nbob,cat\ncat,ann\ncat,dan\n", "dan,eve\neve,fay\nfay,dan\n")
    for k, rows in enumerate(parts):
        (tmp_path / "edges" / f"{k}.csv").write_text("from,to\n" + rows)
    for edges in (tmp_path / "edges", tmp_path / "edges" / "*.csv"):
        result = coding_tree(edges, height=2, output=tmp_path / "labels.parquet")
        assert result.entropy == pytest.approx(1.6995, abs=5e-5)
        rows = labels_of(result.output)
        assert [name for name, _ in rows] == ["ann", "bob", "cat", "dan", "eve", "fay"]
        assert len({rows[0], ("ann", rows[1][1])}) == 1


def test_coding_tree_counts_self_loops_and_repeated_edges(write, tmp_path):
    path = write(source=[0, 1, 0, 1, 2, 3], target=[1, 0, 1, 2, 2, 3])
    result = coding_tree(path, height=2, output=tmp_path / "labels.parquet")
    assert (result.edges, result.self_loops, result.repeated) == (2, 2, 2)
    assert [row[0] for row in labels_of(result.output)] == [0, 1, 2, 3]


def test_coding_tree_scale_makes_weights_whole(write, tmp_path):
    path = write(source=[0, 1, 2], target=[1, 2, 0], weight=[0.5, 1.25, 2.0])
    result = coding_tree(path, height=1, scale=100, output=tmp_path / "labels.parquet")
    expected = sepool.one_dimensional_entropy([(0, 1, 0.5), (1, 2, 1.25), (2, 0, 2.0)])
    assert result.entropy == pytest.approx(expected)


def test_coding_tree_threads_do_not_change_the_labels(write, tmp_path):
    u, v = planted(2000)
    path, labels = write(source=u, target=v), []
    for threads in (1, 2):
        output = tmp_path / "labels.parquet"
        coding_tree(path, height=3, memory="60kB", threads=threads, output=output)
        labels.append(labels_of(output))
    assert labels[0] == labels[1]


def test_coding_tree_star_is_contracted(write, tmp_path):
    path = write(source=np.zeros(3000, np.int64), target=np.arange(1, 3001))
    result = coding_tree(path, height=2, memory="60kB", output=tmp_path / "labels.parquet")
    assert result.counts[0] == 3001


def test_coding_tree_progress_gets_a_report_of_every_step(write, tmp_path):
    u, v = planted(2000)
    reports: list[Report] = []
    coding_tree(
        write(source=u, target=v),
        height=2,
        memory="60kB",
        output=tmp_path / "labels.parquet",
        progress=reports.append,
    )
    steps = [report.step for report in reports]
    assert steps[:2] == ["reading", "level 1, moves 1"]
    assert "level 1, contraction" in steps
    assert all(report.seconds > 0 for report in reports)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "much"}, "memory must be a size such as '2GB'"),
        ({"engine": "sqlite"}, "engine must be one of duckdb, spark"),
        ({"height": 0}, "height must be 1 to 64"),
        ({"scale": -1}, "scale must be a positive number"),
        ({"master": "spark://host:7077"}, "goes with engine='spark'"),
        ({"output": "labels.csv"}, "output must end in .parquet"),
    ],
)
def test_coding_tree_wrong_option_raises_error(write, tmp_path, options, message):
    path = write(source=[0], target=[1])
    with pytest.raises(ValueError, match=message):
        coding_tree(path, **{"output": tmp_path / "labels.parquet", **options})
