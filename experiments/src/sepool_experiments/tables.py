"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sepool.files.atomic import atomic_write

MISSING = "missing"
Record = dict[str, Any]  # what is missing is NaN
Column = str | Callable[[Record], str]  # a key, or a function of the record


@dataclass(frozen=True)
class Table:
    """Texts of a table and the numbers behind them, in full precision, for the CSV file."""

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    records: tuple[Record, ...]

    @classmethod
    def of(
        cls, name: str, title: str, note: str, columns: Mapping[str, Column], records: list[Record]
    ) -> Table:
        """Build a table with a row a record."""
        rows = tuple(
            tuple(
                show(record) if callable(show) else str(record[show]) for show in columns.values()
            )
            for record in records
        )
        return cls(name, title, note, tuple(columns), rows, tuple(records))


def figure(mean: float, spread: float = np.nan, mark: str = "") -> str:
    """Format a mean and its spread.

    >>> figure(85.556, 1.091), figure(85.556), figure(np.nan)
    ('85.56 ± 1.09', '85.56', 'missing')
    """
    if np.isnan(mean):
        return MISSING
    return f"{mean:.2f}{mark}" if np.isnan(spread) else f"{mean:.2f} ± {spread:.2f}{mark}"


def signed(difference: float) -> str:
    """Format a difference with its sign.

    >>> signed(1.666), signed(-1.236), signed(-0.001), signed(np.nan)
    ('+1.67', '-1.24', '0.00', 'missing')
    """
    if np.isnan(difference):
        return MISSING
    return "0.00" if round(difference, 2) == 0 else f"{difference:+.2f}"


def markdown(table: Table) -> str:
    """Return the table as Markdown with aligned columns."""
    lines = [table.header, *table.rows]
    columns = list(zip(*lines, strict=True))
    widths = [max(3, *map(len, column)) for column in columns]
    ends = [":" if _numeric(column[1:]) else "-" for column in columns]
    rule = ["-" * (width - 1) + end for width, end in zip(widths, ends, strict=True)]
    return "\n".join(_line(cells, widths) for cells in [table.header, rule, *table.rows])


def _numeric(cells: Sequence[str]) -> bool:
    return all(cell in ("", MISSING) or cell[0] in "+-0123456789" for cell in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def csv_text(table: Table) -> str:
    """Return the numbers behind the table; missing values are empty cells."""
    frame = pd.DataFrame.from_records(table.records).convert_dtypes()  # integers stay integers
    return str(frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


_LATEX = str.maketrans(
    {
        **{char: f"\\{char}" for char in "&%$#_{}"},
        "±": r"$\pm$",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"$<$",
    }
)


def latex(table: Table) -> str:
    """Return the table for a paper with the LaTeX package booktabs."""
    columns = zip(table.header, *table.rows, strict=True)
    alignment = "".join("r" if _numeric(column[1:]) else "l" for column in columns)
    header, *rows = [
        [cell.translate(_LATEX) for cell in line] for line in (table.header, *table.rows)
    ]
    caption = ". ".join(text for text in (table.title, table.note) if text)
    style = pd.DataFrame(rows, columns=header).style.hide(axis="index")
    return str(
        style.to_latex(
            column_format=alignment,
            hrules=True,
            position_float="centering",
            caption=caption.translate(_LATEX),
            label=f"tab:{table.name}",
        )
    )


def section(table: Table) -> str:
    """Return the table as a section of a Markdown page; of an empty table, title and note."""
    parts = [f"### {table.title}", *([markdown(table)] if table.rows else []), table.note]
    return "\n\n".join(parts) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"md": section, "csv": csv_text, "tex": latex}


def write_table(table: Table, folder: Path) -> list[Path]:
    """Write the table in every format and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, text in FORMATS.items():
        path = folder / f"{table.name}.{suffix}"
        write_text(path, text(table))
        paths.append(path)
    return paths


def write_text(path: Path, text: str) -> None:
    """Replace a file atomically."""
    with atomic_write(path) as file:
        file.write(text.encode())
