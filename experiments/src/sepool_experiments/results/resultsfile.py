"""One file of results, read line by line; what is no line of results is named with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sepool_experiments.results.lines import MEASURED, RunInfo, whole_lines
from sepool_experiments.results.rowcheck import check_complete, check_curve, check_row, check_run


@dataclass(frozen=True)
class ResultsFile:
    """What one results file holds."""

    runs: dict[str, RunInfo]
    rows: list[dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> ResultsFile:
        """Reads a file.

        Raises:
            ValueError: a line is damaged, other than by being half written at the end.
        """
        known = {field.name for field in fields(RunInfo)}
        runs: dict[str, RunInfo] = {}
        rows: dict[int, dict[str, Any]] = {}
        for place, line in whole_lines(path):
            with _named(path, place):
                row = json.loads(line)
                if isinstance(row["run"], dict):
                    run = {name: row["run"].get(name, "") for name in known}
                    check_run(run)
                    runs[run["id"]] = RunInfo(**run)
                elif row["run"] in runs:
                    check_row(row)
                    rows[place] = row
                else:
                    raise ValueError(f"no line above describes its run {row['run']!r}")
        if any(row.keys() >= set(MEASURED) for row in rows.values()):  # of a table, not a picture
            for place, row in rows.items():
                with _named(path, place):
                    check_complete(row)
        return cls(runs, list(rows.values()))


def read_curve_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file of curves.

    Raises:
        ValueError: as `ResultsFile.read`.
    """
    for place, line in whole_lines(path):
        with _named(path, place):
            row = json.loads(line)
            check_curve(row)
        yield row


@contextmanager
def _named(path: Path, place: int) -> Iterator[None]:
    """Says where a line is that cannot be read."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}:{place}: not a line of results ({error}); restore the file or remove this line"
        ) from None
