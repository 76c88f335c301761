"""DuckDB relations, a row an edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from sepool.extras import needs
from sepool.graph.columns import choose_columns
from sepool.graph.edges import Edges
from sepool.graph.objects.arrow import from_arrow


def from_duckdb(
    relation: Any,
    weight: str | None,
    symmetrise: bool,
    columns: Sequence[Hashable] | None = None,
) -> Edges:
    """Read a DuckDB relation; DuckDB computes the columns of the edges and no others."""
    with needs("io", "a graph in a DuckDB relation"):
        import pyarrow  # noqa: F401
    import duckdb

    names = choose_columns(relation.columns, columns, weight).chosen
    table = relation.select(*map(duckdb.ColumnExpression, names)).to_arrow_table()
    return from_arrow(table, "weight", symmetrise, names)
