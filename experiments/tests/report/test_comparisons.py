from __future__ import annotations

import numpy as np
import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.cells import cells
from sepool_experiments.report.comparisons import (
    comparison_table,
    paired_tests,
    ranking_table,
    reference_line,
    verdict_table,
)
from sepool_experiments.results.rows import Rows

TABLE1 = PROTOCOLS["table1"]
# Accuracy above 70 percent; SEP-G equals GMT except on NCI1.
LEVELS = {"GCN": -0.05, "GIN": 0.05, "GMT": 0.0, "SEP-G": 0.0}


def level(unit):
    if unit.system == "SEP-G":
        return 0.05 * (unit.dataset == "NCI1") - 0.03 * (unit.tree == "random")
    return LEVELS[unit.system]


@pytest.fixture
def table_cells(write):
    systems, few = list(LEVELS), {"seeds": 2, "configs": [0, 5]}
    write(TABLE1.units(["MUTAG", "NCI1"], systems, ["best", "random"], **few), level=level)
    folder = write(TABLE1.units(["DD"], ["GCN", "SEP-G"], ["best"], **few), level=level)
    return cells(TABLE1, Rows.read(folder))


def test_paired_tests_cover_every_other_row(table_cells):
    tests = paired_tests(TABLE1, table_cells)
    assert str(reference_line(table_cells)) == "SEP-G (best)"
    customary = [test for test in tests if test["rule"] == "customary"]
    assert len(customary) == 2 * 4 + 1  # GCN, GIN, GMT, random trees; on DD one of them
    for test in customary:
        assert test["pairs"] == 10
        assert 0 < test["error"] < 1
        assert test["p"] <= test["p_holm"] <= min(1, 9 * test["p"])
    to_gcn = next(t for t in customary if (t["dataset"], t["second"]) == ("MUTAG", "GCN"))
    assert to_gcn["difference"] == pytest.approx(5, abs=1)
    shown = comparison_table(TABLE1, tests)
    assert len(shown.rows) == len(tests)
    assert " ± " in shown.rows[0][4]


def test_verdict_table_counts_wins_and_losses(table_cells):
    tests = paired_tests(TABLE1, table_cells)
    shown = verdict_table(TABLE1, table_cells, tests)
    by_system = {r["second"]: r for r in shown.records if r["rule"] == "customary"}
    assert set(by_system) == {"GCN", "GIN", "GMT"}  # without SEP-G along other trees
    assert by_system["GCN"]["wins_on"] == "MUTAG, DD, NCI1"
    assert (by_system["GIN"]["losses_on"], by_system["GIN"]["ties_on"]) == ("MUTAG", "NCI1")
    assert (by_system["GMT"]["wins_on"], by_system["GMT"]["ties_on"]) == ("NCI1", "MUTAG")
    assert (
        "By the customary rule SEP-G (best) wins 4 of 7 comparisons, ties 2 and loses 1."
        in shown.note
    )
    gmt = next(row for row in shown.rows if row[:2] == ("GMT", "customary"))
    assert gmt[2:] == ("1", "1", "0", "NCI1", "MUTAG", "none")


def test_ranking_table_ranks_by_accuracy(table_cells):
    shown = ranking_table(TABLE1, table_cells)
    by_system = {r["system"]: r for r in shown.records if r["rule"] == "customary"}
    assert set(by_system) == {"GCN", "GIN", "GMT", "SEP-G (best)"}  # without random trees
    assert (
        by_system["GCN"]["MUTAG"] == by_system["GCN"]["NCI1"] == by_system["GCN"]["mean_rank"] == 4
    )
    assert by_system["GIN"]["MUTAG"] == 1
    assert (by_system["GCN"]["DD"], by_system["SEP-G (best)"]["DD"]) == (2, 1)
    assert np.isnan(by_system["GMT"]["DD"])
    assert by_system["GMT"]["datasets"] == 2
    assert sum(r["mean_rank"] for r in by_system.values()) == 1 + 2 + 3 + 4
    assert "have results: MUTAG, NCI1." in shown.note
    assert shown.rows[-1][0] == "GCN"  # sorted by rank
    assert dict(zip(shown.header, shown.rows[-1], strict=True))["DD"] == "2"
    gmt = next(row for row in shown.rows if row[0] == "GMT")
    assert dict(zip(shown.header, gmt, strict=True))["DD"] == "missing"


def test_ranking_table_one_system_is_none(write):
    folder = write(TABLE1.units(["MUTAG"], ["SEP-G"], ["best", "random"], seeds=1, configs=[0]))
    assert ranking_table(TABLE1, cells(TABLE1, Rows.read(folder))) is None


def test_ranking_table_no_common_dataset_is_missing(write):
    few = {"seeds": 1, "configs": [0]}
    write(TABLE1.units(["MUTAG"], ["GCN"], **few))
    folder = write(TABLE1.units(["NCI1"], ["SEP-G"], **few))
    shown = ranking_table(TABLE1, cells(TABLE1, Rows.read(folder)))
    assert {row[1] for row in shown.rows} == {"missing"}
    assert "have results: none." in shown.note
    assert shown.header == (
        "system",
        "mean rank, customary",
        "mean rank, strict",
    )  # no single ranks
