"""Columns of tables of edges: the same choice for frames and files."""

from __future__ import annotations

import pytest

from sepool import as_graph

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def from_frame(table, tmp_path):
    return pd.DataFrame(table)


def from_csv(table, tmp_path):
    pd.DataFrame(table).to_csv(tmp_path / "graph.csv", index=False)
    return tmp_path / "graph.csv"


def from_parquet(table, tmp_path):
    pd.DataFrame(table).to_parquet(tmp_path / "graph.parquet")
    return tmp_path / "graph.parquet"


@pytest.fixture(params=[from_frame, from_csv, from_parquet])
def table(request, tmp_path):
    return lambda columns: request.param(columns, tmp_path)


@pytest.mark.parametrize(
    "names",
    [
        ("source", "target", "weight", "count"),
        ("From", "TO", "Weight", "w"),
        ("u", "v", "value", "year"),
        ("start", "end", "w", "u"),
        ("source_id", "target_id", "weights", "id"),
    ],
)
def test_choose_columns_customary_names_are_taken(table, names):
    graph = as_graph(table(dict(zip(names, (["a"], ["b"], [2], [7]), strict=True))))
    assert (graph.names, graph.total_volume) == (("a", "b"), 4)


def test_choose_columns_usual_ends_come_before_others(table):
    columns = {"start": [1], "end": [2], "source": ["a"], "target": ["b"]}
    assert as_graph(table(columns)).names == ("a", "b")


def test_choose_columns_names_in_other_case_and_numbers_are_taken(table):
    columns = {"Buyer": ["a"], "Seller": ["b"], "Heft": [2], "Year": [3]}
    assert as_graph(table(columns), columns=("buyer", "SELLER", "heft")).total_volume == 4
    assert as_graph(table(columns), columns=("1", "2", "4")).total_volume == 6
    assert as_graph(table(columns), columns=("1", "2"), weight="Year").total_volume == 6
    assert as_graph(table(columns), columns=("1", "2", "4"), weight=None).total_volume == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no customary names of two ends"),
        ({"columns": ("x", "y")}, "no column 'x'; the columns are a, b, c, d"),
        ({"columns": ("a", "b", "a")}, "a column is chosen twice; the columns are a, b, c, d"),
        ({"columns": ("a",)}, "columns must be two ends and perhaps a weight, got a"),
        ({"columns": ("a", "b", "c"), "weight": "d"}, "weights in 'c', weight= in 'd'; pass one"),
        ({"columns": ("a", "b"), "weight": "e"}, "no column 'e'; the columns are a, b, c, d"),
    ],
)
def test_choose_columns_impossible_choices_are_refused(table, options, message):
    with pytest.raises(ValueError, match=message):
        as_graph(table({"a": [1], "b": [2], "c": [3], "d": [4]}), **options)


def test_choose_columns_names_that_differ_in_case_alone_are_refused(table):
    with pytest.raises(ValueError, match="the table has several columns 'source'; rename them"):
        as_graph(table({"source": [1], "Source": [2], "target": [3]}))
