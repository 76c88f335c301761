from __future__ import annotations

import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.accuracy import shortfall_table
from sepool_experiments.report.cells import cells
from sepool_experiments.results.rows import Rows
from sepool_experiments.tables import latex, section

TABLE1 = PROTOCOLS["table1"]


def table_of(write, level):
    units = TABLE1.units(["MUTAG"], ["GCN", "GIN", "SEP-G"], seeds=1, configs=[0])
    return shortfall_table(TABLE1, cells(TABLE1, Rows.read(write(units, level=level))))


def test_shortfall_table_lists_weak_baselines(write):
    """Published: GCN 69.50, GIN 81.39; SEP-G is no baseline."""
    table = table_of(write, lambda unit: 0.0)
    (short,) = table.records
    assert (short["system"], short["dataset"], short["published"]) == ("GIN", "MUTAG", 81.39)
    assert short["difference"] == pytest.approx(-11.4, abs=1)
    assert table.note.startswith("1 of 2 cells, by the customary rule")
    assert table.rows[0][:2] == ("MUTAG", "GIN")
    assert table.rows[0][-1] == "10 of 1,600"


def test_shortfall_table_without_rows_has_note(write):
    table = table_of(write, lambda unit: 0.2)
    assert table.rows == ()
    assert "0 of 2 cells" in section(table)
    assert "|" not in section(table)
    assert r"\begin{tabular}{rrrrrr}" in latex(table)


def test_shortfall_table_without_baselines_is_none(write):
    units = TABLE1.units(["MUTAG"], ["SEP-G"], seeds=1, configs=[0])
    assert shortfall_table(TABLE1, cells(TABLE1, Rows.read(write(units)))) is None
