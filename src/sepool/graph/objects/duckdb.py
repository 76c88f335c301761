"""DuckDB relations, a row an edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from sepool.extras import needs
from sepool.graph.edges import Edges
from sepool.graph.objects.arrow import from_arrow
from sepool.graph.objects.columns import edge_columns


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

    chosen = edge_columns(relation.columns, columns, weight)
    names = chosen.distinct()
    table = relation.select(*map(duckdb.ColumnExpression, names)).to_arrow_table()
    picked = chosen[:2] if chosen.w is None else chosen
    return from_arrow(table, "weight", symmetrise, picked)
