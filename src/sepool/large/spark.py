"""Spark as an engine: on this machine or on a cluster that shares the folder."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from sepool.extras import needs
from sepool.large.engine import Columns, Engine, to_numpy

_PATIENCE = 5.0  # seconds for a cluster to answer


class SparkEngine(Engine):
    """A Spark session; every table is written before it is read again, which cuts its lineage."""

    best = "MAX(named_struct('score', score, 'rank', rank)).rank"

    def __init__(self, folder: Path, memory: int, threads: int, master: str | None) -> None:
        super().__init__(folder.resolve())
        self._held: dict[str, Any] = {}  # data frames that are computed once
        with needs("spark", "engine='spark'"):
            from pyspark.sql import SparkSession
        check_java()
        master = master or f"local[{threads or '*'}]"
        check_master(master)
        self.spill.mkdir(exist_ok=True)
        settings = {
            "spark.local.dir": str(self.spill.resolve()),
            "spark.driver.memory": f"{max(memory // 2**20, 512)}m",
            "spark.sql.join.preferSortMergeJoin": "true",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.sql.shuffle.partitions": str(max(threads, os.cpu_count() or 1)),
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.appName("sepool").master(master)
        self._own = SparkSession.getActiveSession() is None
        for key, value in settings.items():
            builder = builder.config(key, value)
        self._session = builder.getOrCreate()
        if self._own:
            self._session.sparkContext.setLogLevel("ERROR")

    def view(self, name: str, files: Sequence[str]) -> list[tuple[str, str]]:
        """Make files a view and return the names and types of its columns."""
        reader = self._session.read
        if files[0].endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
            mark = "\t" if ".tsv" in files[0] else ","
            frame = reader.csv(list(files), header=True, inferSchema=True, sep=mark)
        else:
            frame = reader.parquet(*files)
        frame.createOrReplaceTempView(name)
        return [(column, column_type.lower()) for column, column_type in frame.dtypes]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return [tuple(row) for row in self._session.sql(_spark(sql)).collect()]

    def arrays(self, sql: str) -> Columns:
        """Return the columns of a query."""
        return to_numpy(self._session.sql(_spark(sql)).toArrow())

    def stream(self, sql: str) -> Iterator[Columns]:
        """Yield the rows of a query in parts."""
        yield from map(to_numpy, self._session.sql(_spark(sql)).toArrow().to_batches())

    def write(self, sql: str, path: str) -> None:
        """Write the rows of a query as a folder of Parquet files."""
        self._session.sql(_spark(sql)).write.mode("overwrite").parquet(path)

    def numbered(self, names: str) -> None:
        """Store the table ``names(id, name)``: the ranks of the column of the view ``names``.

        Ranks come from the sorted partitions: ``monotonically_increasing_id`` has gaps that depend
        on them, and adaptive execution changes them.
        """
        rows = self._session.sql(_spark(names)).sort("name").rdd.zipWithIndex()
        frame = self._session.createDataFrame(
            rows.map(lambda pair: (pair[1], pair[0][0])), "id BIGINT, name STRING"
        )
        frame.createOrReplaceTempView("numbered")
        self.store("names", "SELECT id, name FROM numbered")

    def hold(self, table: str, sql: str) -> None:
        """Make a query a view whose rows are computed once, in memory or on disk."""
        if table in self._held:
            self._held.pop(table).unpersist()
        self._held[table] = self._session.sql(_spark(sql)).persist()
        self._held[table].createOrReplaceTempView(table)

    def drop(self, *tables: str) -> None:
        """Remove tables that no later step reads."""
        for table in tables:
            if table in self._held:
                self._held.pop(table).unpersist()
        super().drop(*tables)

    def close(self) -> None:
        """End the session, unless the caller started it."""
        if self._own:
            self._session.stop()


def check_java() -> None:
    """Raise an error with the package's name where Java is missing."""
    home = os.environ.get("JAVA_HOME")
    if home and Path(home, "bin", "java").exists():
        return
    if shutil.which("java") is None:
        raise FileNotFoundError(
            "Spark needs Java 17 or later: install openjdk-17-jre-headless (Debian, Ubuntu) or "
            "java-17-openjdk-headless (Fedora), or set JAVA_HOME; engine='duckdb' needs none"
        )


def check_master(master: str) -> None:
    """Raise an error where the cluster at a URL ``spark://host:port`` does not answer.

    Example:
        >>> check_master("local[2]")
    """
    if master.startswith(("local", "yarn", "k8s")):
        return
    url = urlparse(master)
    if url.scheme != "spark" or not url.hostname:
        raise ValueError(
            f"master must be a URL such as spark://host:7077 or local[4], got {master!r}"
        )
    try:
        socket.create_connection((url.hostname, url.port or 7077), _PATIENCE).close()
    except OSError as error:
        raise ValueError(
            f"no Spark cluster answers at {master}: {error}; start it, or leave master out to run "
            "on this machine"
        ) from None


def _spark(sql: str) -> str:
    return sql.replace('"', "`")
