"""DataFrames of pandas and polars."""

from __future__ import annotations

import pandas as pd
import pytest

from sepool import as_graph

pl = pytest.importorskip("polars")
PAIRS = {"source": ["b", "a"], "target": ["a", "c"]}


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_as_graph_pandas_types_of_text_are_names(dtype):
    frame = pd.DataFrame(PAIRS)
    assert as_graph(frame.astype(dtype)).names == ("b", "a", "c")
    assert as_graph(frame.astype({"source": dtype})).names == ("b", "a", "c")


@pytest.mark.parametrize("dtype", ["int32", "uint64", "Int64", "float", "object", "category"])
def test_as_graph_pandas_types_of_integers_are_ids(dtype):
    frame = pd.DataFrame({"source": [5, 3], "target": [3, 8]}).astype(dtype)
    assert as_graph(frame).names == (3, 5, 8)


def test_as_graph_pandas_columns_may_have_any_index_and_label():
    frame = pd.DataFrame({0: ["a", "b"], 1: ["b", "c"]}, index=[9, 9])
    assert as_graph(frame, columns=(0, 1)).names == ("a", "b", "c")


def test_as_graph_pandas_integers_and_text_are_different_nodes():
    frame = pd.DataFrame({"source": [1, 2], "target": ["1", "2"]})
    assert as_graph(frame).names == (1, "1", 2, "2")


def test_as_graph_pandas_column_that_occurs_twice_is_refused():
    frame = pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "target"])
    with pytest.raises(ValueError, match="several columns 'target'; rename them"):
        as_graph(frame)


@pytest.mark.parametrize("graph", [pd.Series([1, 2]), pl.Series([1, 2])])
def test_as_graph_series_is_refused(graph):
    with pytest.raises(TypeError, match="cannot read a graph from Series"):
        as_graph(graph)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a", "b", "c"])])
def test_as_graph_polars_categories_are_names(dtype):
    frame = pl.DataFrame(PAIRS)
    assert as_graph(frame.cast(dtype)).names == ("b", "a", "c")
    assert as_graph(frame.with_columns(pl.col("source").cast(dtype))).names == ("b", "a", "c")


def test_as_graph_polars_columns_of_two_types_are_refused():
    frame = pl.DataFrame({"source": ["a"], "target": [1]})
    with pytest.raises(TypeError, match="'source' holds String, column 'target' Int64; convert"):
        as_graph(frame)


def test_as_graph_polars_integers_of_two_widths_are_ids():
    frame = pl.DataFrame({"source": [0, 1], "target": [1, 2]})
    assert as_graph(frame.cast({"source": pl.Int16})).num_nodes == 3
