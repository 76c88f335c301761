"""A table, and how it is written: Markdown, CSV, LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sepool.files.atomic import atomic_write

MISSING = "missing"
Record = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Table:
    """What a reader sees, and the numbers behind it.

    Args:
        name: of its files.
        title: one line above it.
        note: what the figures are.
        header: titles of the columns.
        rows: texts of the cells.
        records: one a figure, in full precision, for the CSV file.
    """

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    records: tuple[Record, ...]


def figure(mean: float, spread: float = np.nan, mark: str = "") -> str:
    """A mean and its spread.

    >>> figure(85.556, 1.091), figure(85.556), figure(np.nan)
    ('85.56 ± 1.09', '85.56', 'missing')
    """
    if np.isnan(mean):
        return MISSING
    return f"{mean:.2f}{mark}" if np.isnan(spread) else f"{mean:.2f} ± {spread:.2f}{mark}"


def signed(difference: float) -> str:
    """A difference with its sign.

    >>> signed(1.666), signed(-0.001), signed(np.nan)
    ('+1.67', '0.00', 'missing')
    """
    if np.isnan(difference):
        return MISSING
    return "0.00" if round(difference, 2) == 0 else f"{difference:+.2f}"


def number(value: str | int | float | None) -> float:
    """A value of a record as a number; NaN where there is none."""
    return np.nan if value is None else float(value)


def markdown(table: Table) -> str:
    """The table as Markdown, columns in line.

    >>> print(markdown(Table("t", "T", "", ("a", "b"), (("x", "1"),), ())))
    | a   | b   |
    | --- | --: |
    | x   | 1   |
    """
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
    """The numbers behind the table; a missing one is an empty cell."""
    names = dict.fromkeys(name for record in table.records for name in record)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(names), lineterminator="\n")
    writer.writeheader()
    for record in table.records:
        writer.writerow({name: _plain(value) for name, value in record.items()})
    return out.getvalue()


def _plain(value: str | int | float | None) -> str | int:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value


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
    """The table for a paper; it needs the package booktabs.

    >>> latex(Table("t", "50%", "", ("a",), (("1 ± 2",),), ())).splitlines()[2:4]
    ['\\\\caption{50\\\\%}', '\\\\label{tab:t}']
    """
    columns = zip(table.header, *table.rows, strict=True)
    kinds = "".join("r" if _numeric(column[1:]) else "l" for column in columns)
    lines = [" & ".join(cell.translate(_LATEX) for cell in row) for row in table.rows]
    caption = ". ".join(text for text in (table.title, table.note) if text)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption.translate(_LATEX)}}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            " & ".join(cell.translate(_LATEX) for cell in table.header) + r" \\",
            r"\midrule",
            *(line + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def section(table: Table) -> str:
    """The table as a part of a Markdown page; of an empty one, what there is to say about it."""
    parts = [f"### {table.title}", *([markdown(table)] if table.rows else []), table.note]
    return "\n\n".join(parts) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"md": section, "csv": csv_text, "tex": latex}


def write_table(table: Table, folder: Path) -> list[Path]:
    """Writes the table in every format and returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix, text in FORMATS.items():
        path = folder / f"{table.name}.{suffix}"
        write_text(path, text(table))
        paths.append(path)
    return paths


def write_text(path: Path, text: str) -> None:
    """Replaces a file as a whole."""
    with atomic_write(path) as file:
        file.write(text.encode())
