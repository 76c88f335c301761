from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from sepool_experiments.tables import (
    Table,
    csv_text,
    figure,
    latex,
    markdown,
    write_table,
)

TABLE = Table(
    name="t",
    title="A & B",
    note="50 % of it.",
    header=("system", "MUTAG"),
    rows=(("SEP-G_x", "85.56 ± 1.09"), ("GCN", "missing")),
    records=({"system": "SEP-G_x", "mean": 85.5612345}, {"system": "GCN", "mean": np.nan, "n": 0}),
)


def test_markdown_aligns_columns():
    assert markdown(TABLE).splitlines() == [
        "| system  | MUTAG        |",
        "| ------- | -----------: |",
        "| SEP-G_x | 85.56 ± 1.09 |",
        "| GCN     | missing      |",
    ]


def test_csv_text_missing_values_are_empty():
    records = list(csv.DictReader(io.StringIO(csv_text(TABLE))))
    assert records == [
        {"system": "SEP-G_x", "mean": "85.5612", "n": ""},
        {"system": "GCN", "mean": "", "n": "0"},
    ]


def test_latex_escapes_special_characters():
    text = latex(TABLE)
    assert r"\caption{A \& B. 50 \% of it.}" in text
    assert r"SEP-G\_x & 85.56 $\pm$ 1.09 \\" in text
    assert r"\begin{tabular}{lr}" in text


@pytest.mark.parametrize("spread", [np.nan, 0.0])
def test_figure_spread_and_mark_formatted(spread):
    assert figure(50.0, spread, " *") == ("50.00 *" if np.isnan(spread) else "50.00 ± 0.00 *")
    assert figure(np.nan, spread) == "missing"


def test_write_table_writes_every_format(tmp_path):
    paths = write_table(TABLE, tmp_path / "new")
    assert [path.name for path in paths] == ["t.md", "t.csv", "t.tex"]
    assert (tmp_path / "new" / "t.md").read_text(encoding="utf-8").startswith("### A & B\n\n| ")
