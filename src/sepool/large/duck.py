"""DuckDB as an engine: in this process, with a memory limit, spilling to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sepool.extras import needs
from sepool.large.engine import Columns, Engine, to_numpy

_LEAST_MEMORY = 256_000_000  # below it DuckDB fails on small tables
_ROWS = 1_000_000  # of a part of a stream


class DuckEngine(Engine):
    """A connection to a database in memory whose tables are Parquet files."""

    best = "MAX(struct_pack(score := score, rank := rank)).rank"

    def __init__(self, folder: Path, memory: int, threads: int) -> None:
        super().__init__(folder)
        with needs("duckdb", "engine='duckdb'"):
            import duckdb
            import pyarrow  # noqa: F401  arrays go out as Parquet
        self.spill.mkdir(exist_ok=True)
        self._errors = (duckdb.OutOfMemoryException, duckdb.IOException)
        limit = max(memory, _LEAST_MEMORY)
        self._connection = duckdb.connect(
            config={
                "memory_limit": f"{limit // 1000}KB",
                "temp_directory": str(self.spill),
                "preserve_insertion_order": "false",
                **({"threads": str(threads)} if threads else {}),
            }
        )
        self._connection.execute("SET enable_progress_bar = false")

    def _execute(self, sql: str) -> Any:
        try:
            return self._connection.execute(sql)
        except self._errors as error:
            raise self._exhausted(error) from error

    def _exhausted(self, error: Exception) -> OSError:
        text = str(error).splitlines()[0]
        return OSError(
            f"DuckDB ran out of memory or of disk in {self.spill}: {text}; raise memory, or choose "
            "a folder on a larger disk"
        )

    def view(self, name: str, files: Sequence[str]) -> list[tuple[str, str]]:
        """Make files a view and return the names and types of its columns."""
        paths = ", ".join(_quoted(path) for path in files)
        if files[0].endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
            mark = "\\t" if ".tsv" in files[0] else ","
            table = f"read_csv([{paths}], header = true, delim = '{mark}', sample_size = -1)"
        else:
            table = f"read_parquet([{paths}])"
        self._execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM {table}')
        described = self.rows(f'DESCRIBE "{name}"')
        return [(column, str(column_type).lower()) for column, column_type, *_ in described]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        rows: list[tuple[Any, ...]] = self._execute(sql).fetchall()
        return rows

    def arrays(self, sql: str) -> Columns:
        """Return the columns of a query."""
        columns: Columns = self._execute(sql).fetchnumpy()
        return columns

    def stream(self, sql: str) -> Iterator[Columns]:
        """Yield the rows of a query in parts."""
        try:
            yield from map(to_numpy, self._connection.sql(sql).to_arrow_reader(_ROWS))
        except self._errors as error:
            raise self._exhausted(error) from error

    def write(self, sql: str, path: str) -> None:
        """Write the rows of a query as one Parquet file."""
        self._execute(f"COPY ({sql}) TO {_quoted(path)} (FORMAT parquet)")

    def numbered(self, names: str) -> None:
        """Store the table ``names(id, name)``: the ranks of the column of the view ``names``."""
        rank = "CAST(row_number() OVER (ORDER BY name) - 1 AS BIGINT)"
        self.store("names", f"SELECT {rank} AS id, name FROM ({names}) AS n")

    def close(self) -> None:
        """End the session."""
        self._connection.close()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
