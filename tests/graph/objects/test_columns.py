"""Tables of edges of every library: their columns, and the nodes in them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from sepool import as_graph, as_graph_batch, coding_trees

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")


def relation(frame):
    return duckdb.connect().from_arrow(pa.Table.from_pandas(frame))


TABLES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "table": pa.Table.from_pandas,
    "batch": lambda frame: pa.RecordBatch.from_pandas(frame),
    "reader": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "duckdb": relation,
}
NAMED = pd.DataFrame(
    {"date": [1, 2, 3], "Src": ["b", "a", "b"], "Dst": ["a", "c", "c"], "weight": [1, 2, 0.5]}
)
NUMBERED = pd.DataFrame({"u": [7, 3, 3], "v": [3, 5, 7], "cost": [1.0, 2.0, 3.0]})


@pytest.fixture(params=TABLES)
def table(request):
    return TABLES[request.param]


def test_as_graph_table_with_customary_columns_is_read(table):
    graph = as_graph(table(NAMED))
    assert graph.names == ("b", "a", "c")
    assert graph.degrees().tolist() == [1.5, 3, 2.5]
    assert as_graph(table(NAMED), weight=None).degrees().tolist() == [2, 2, 2]
    assert as_graph(edges=table(NAMED)).names == ("b", "a", "c")


def test_as_graph_table_integers_are_ordered_by_id(table):
    graph = as_graph(table(NUMBERED), columns=("u", "v", "cost"))
    assert graph.names == (3, 5, 7)
    assert graph.degrees().tolist() == [6, 2, 4]
    dense = NUMBERED.replace({7: 0, 3: 1, 5: 2})
    assert as_graph(table(dense), columns=["u", "v"]).names is None


def test_as_graph_table_weight_names_a_column(table):
    assert as_graph(table(NAMED), weight="date").degrees().tolist() == [4, 3, 5]
    graph = as_graph(table(NUMBERED), columns=("u", "v"), weight="cost")
    assert graph.degrees().tolist() == [6, 2, 4]
    assert as_graph(table(NUMBERED), columns=("u", "v")).total_volume == 6


def test_as_graph_table_with_flow_reads_arcs(table):
    arcs = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0]})
    expected = as_graph([(0, 1), (1, 2), (2, 0)], directed="flow").degrees()
    assert as_graph(table(arcs), directed="flow").degrees() == pytest.approx(expected)


def test_as_graph_table_weights_that_are_decimals_are_read():
    columns = {"source": ["a"], "target": ["b"], "weight": [Decimal("0.5")]}
    for build in (pd.DataFrame, pl.DataFrame, pa.table):
        assert as_graph(build(columns)).total_volume == 1


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (("u", "w"), ValueError, "no column 'w'; the columns are u, v, cost"),
        (("u", "u"), ValueError, "a column is chosen twice; the columns are u, v, cost"),
        ("uv", TypeError, "columns must be the names .* got 'uv'"),
        (("u",), ValueError, "columns must be two ends and perhaps a weight, got u"),
    ],
)
def test_as_graph_table_impossible_columns_are_refused(table, columns, error, message):
    with pytest.raises(error, match=message):
        as_graph(table(NUMBERED), columns=columns)


def test_as_graph_table_impossible_weight_is_refused(table):
    with pytest.raises(ValueError, match="no column 'cots'; the columns are u, v, cost"):
        as_graph(table(NUMBERED), columns=("u", "v"), weight="cots")
    with pytest.raises(ValueError, match="columns= has the weights in 'cost', weight= in 'v'"):
        as_graph(table(NUMBERED), columns=("u", "v", "cost"), weight="v")
    text = NAMED.assign(weight=["1", "x", ""])
    with pytest.raises(TypeError, match="edge weights must be real numbers, got '1' for edge 0"):
        as_graph(table(text))
    with pytest.raises(ValueError, match=r"row 1: a weight must be .*, got nan"):
        as_graph(table(NAMED.assign(weight=[1, None, 2])))


def test_as_graph_table_without_customary_names_is_refused(table):
    other = NUMBERED.rename(columns={"u": "buyer", "v": "seller"})
    message = r"no customary names of two ends, .* the columns are buyer, seller, cost; choose two"
    with pytest.raises(ValueError, match=message):
        as_graph(table(other))
    assert as_graph(table(other[["buyer", "seller"]])).names == (3, 5, 7)
    assert as_graph(table(other.rename(columns={"cost": "w"}))).total_volume == 12


def test_as_graph_table_that_fits_in_two_ways_is_refused(table):
    ends = {"source": [0], "target": [1]}
    with pytest.raises(ValueError, match=r"could be \('source', 'target'\) or \('from', 'to'\)"):
        as_graph(table(pd.DataFrame({**ends, "from": [1], "to": [2]})))
    with pytest.raises(ValueError, match="weights could be in w, count; choose one"):
        as_graph(table(pd.DataFrame({**ends, "w": [1], "count": [2]})))
    assert as_graph(table(pd.DataFrame({**ends, "weight": [5], "count": [2]}))).total_volume == 10


def test_as_graph_table_without_a_node_names_the_row(table):
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", None]})
    with pytest.raises(ValueError, match="row 1: no node in column 'target'; leave out rows"):
        as_graph(table(frame))


def test_as_graph_table_of_other_ids_is_refused(table):
    half = pd.DataFrame({"source": [0.5], "target": [1.0]})
    with pytest.raises(ValueError, match=r"node ids must be whole numbers, got 0\.5"):
        as_graph(table(half))
    with pytest.raises(TypeError, match="whole numbers or names, got an array of bool"):
        as_graph(table(pd.DataFrame({"source": [True], "target": [False]})))
    beyond = pd.DataFrame({"source": [2**63 + 1], "target": [1]}, dtype=np.uint64)
    with pytest.raises(ValueError, match="got 9223372036854775809; make them strings"):
        as_graph(table(beyond))


def test_as_graph_table_without_rows_has_no_nodes(table):
    with pytest.raises(ValueError, match="no nodes"):
        as_graph(table(NAMED[:0]))


def test_as_graph_columns_of_other_graphs_are_refused():
    with pytest.raises(ValueError, match=r"columns=.*chooses columns of a table.*for a list"):
        as_graph([(0, 1)], columns=("u", "v"))


def test_as_graph_batch_takes_tables(table):
    batch = as_graph_batch([table(NAMED), [("x", "y")]])
    assert [graph.names for graph in batch] == [("b", "a", "c"), ("x", "y")]
    assert len(coding_trees([table(NAMED), table(NAMED)], height=2)) == 2
    with pytest.raises(TypeError, match="expected a list of graphs, got a single"):
        as_graph_batch(table(NAMED))
