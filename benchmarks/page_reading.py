"""The section on reading graph files."""

from __future__ import annotations

from page import Section, Verdict, count, seconds, table
from results import Row

TEXT = (
    "A random graph without weights in files, one row an edge, with whole numbers as ids. polars' "
    "own read makes a table of the file, `as_graph` sorted rows. All cores."
)


def reading(rows: list[Row]) -> Section:
    programs = list(rows[0]["seconds"])
    lines = [
        [f"{count(row['edges'])} edges", *(seconds(row["seconds"][name]) for name in programs)]
        for row in rows
    ]
    verdicts = [
        Verdict(
            "Parquet to a graph: at most polars' read and 1.2 times `as_graph` of the array",
            f"{row['limit_share']:.2f} of it",
            row["limit_share"] <= 1,
        )
        for row in rows
    ]
    return Section("Reading files", TEXT, [table(["graph", *programs], lines)], verdicts)
