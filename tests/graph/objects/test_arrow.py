"""Arrow tables, streams and datasets."""

from __future__ import annotations

import pytest

from sepool import as_graph

pa = pytest.importorskip("pyarrow")
PAIRS = {"source": ["b", "a"], "target": ["a", "c"]}


class Stream:
    """An object that has nothing but the stream of the Arrow C interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_as_graph_arrow_stream_of_any_class_is_read():
    assert as_graph(Stream(pa.table(PAIRS))).names == ("b", "a", "c")


def test_as_graph_arrow_dataset_is_read(tmp_path):
    dataset, parquet = map(pytest.importorskip, ("pyarrow.dataset", "pyarrow.parquet"))
    parquet.write_table(pa.table({"x": [0, 0], **PAIRS}), tmp_path / "edges.parquet")
    assert as_graph(dataset.dataset(tmp_path / "edges.parquet")).names == ("b", "a", "c")


@pytest.mark.parametrize(
    "dtype", [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.dictionary("i1", "i8")]
)
def test_as_graph_arrow_types_of_names_are_read(dtype):
    column = pa.array(["b", "a"]) if "string" in str(dtype) else pa.array([5, 3])
    target = pa.array(["a", "c"]) if "string" in str(dtype) else pa.array([3, 8])
    column = column.dictionary_encode() if pa.types.is_dictionary(dtype) else column.cast(dtype)
    names = as_graph(pa.table({"source": column, "target": target})).names
    assert names == (("b", "a", "c") if "string" in str(dtype) else (3, 5, 8))


def test_as_graph_arrow_chunks_have_one_set_of_nodes():
    table = pa.concat_tables([pa.table(PAIRS), pa.table({"source": ["c"], "target": ["b"]})])
    assert as_graph(table).degrees().tolist() == [2, 2, 2]


def test_as_graph_arrow_columns_of_two_types_are_refused():
    with pytest.raises(TypeError, match="'source' holds large_string, column 'target' int64"):
        as_graph(pa.table({"source": ["a"], "target": [1]}))


def test_as_graph_arrow_array_is_refused():
    with pytest.raises(TypeError, match="cannot read a graph from ChunkedArray"):
        as_graph(pa.chunked_array([[1]]))
