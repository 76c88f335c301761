"""Relations of DuckDB."""

from __future__ import annotations

import pytest

from sepool import as_graph

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


def test_as_graph_relation_of_a_query_is_read():
    relation = duckdb.sql("select i as source, (i + 1) % 5 as target, 0.5 as w from range(5) t(i)")
    assert as_graph(relation).degrees().tolist() == [1] * 5


def test_as_graph_relation_columns_may_have_any_name():
    relation = duckdb.sql("""select 'a' as "the ""first", 'b' as "SELECT", 2 as "w w" """)
    graph = as_graph(relation, columns=('the "first', "SELECT", "w w"))
    assert graph.names == ("a", "b")
    assert graph.total_volume == 4


def test_as_graph_relation_other_columns_are_not_computed():
    relation = duckdb.sql("select 'a' as src, 'b' as dst, cast(src as int) as broken")
    assert as_graph(relation).num_edges == 1


def test_as_graph_relation_row_without_a_node_is_refused():
    with pytest.raises(ValueError, match="row 0: no node in column 'src'"):
        as_graph(duckdb.sql("select null as src, 'b' as dst"))
