from __future__ import annotations

import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.cells import cells, own_rows
from sepool_experiments.report.tree_study import control_table, tree_table
from sepool_experiments.results.rows import Rows

TABLE1, TABLE3 = PROTOCOLS["table1"], PROTOCOLS["table3"]
LEVELS = {"best": 0.03, "paper": 0.02, "released": 0.01, "random": 0.0}


def level(unit):
    return LEVELS[unit.tree]


def test_tree_table_compares_every_two_trees(write):
    few = {"seeds": 2, "configs": [0, 1, 2]}
    write(TABLE1.units(["MUTAG"], ["SEP-G"], list(LEVELS), **few), level=level)
    rows = own_rows(TABLE1, Rows.read(write(TABLE1.units(["MUTAG"], ["SEP-G"], **few))))
    by_pair = {(r["first"], r["second"]): r for r in tree_table(TABLE1, rows).records}
    assert len(by_pair) == 6
    for (first, second), record in by_pair.items():
        gap = 100 * (LEVELS[first] - LEVELS[second])
        assert record["first_less_second"] == pytest.approx(gap, abs=0.5)
        means = record["first_mean"] - record["second_mean"]
        assert record["first_less_second"] == pytest.approx(means)
        assert record["trainings"] == 2 * 3 * 10
        assert 0 < record["standard_error"] < 0.3
        assert 0 < record["standard_error_folds"] < 0.5


def test_tree_table_uses_common_units(write):
    write(TABLE1.units(["MUTAG"], ["SEP-G"], ["best"], seeds=3, configs=[0, 1]), level=level)
    units = TABLE1.units(["MUTAG"], ["SEP-G"], ["random"], seeds=[1, 2], configs=[1, 4])
    rows = own_rows(TABLE1, Rows.read(write(units, level=level)))
    (record,) = tree_table(TABLE1, rows).records
    assert record["trainings"] == 2 * 1 * 10
    both = rows[(rows["config"] == str(TABLE1.grid[1])) & rows["seed"].isin([1, 2])]
    means = 100 * both.groupby("tree")["test_accuracy"].mean()
    assert record["first_mean"] == pytest.approx(means["best"])
    assert record["second_mean"] == pytest.approx(means["random"])


def test_tree_table_averages_over_datasets(write):
    units = TABLE1.units(["MUTAG", "NCI1"], ["SEP-G"], ["best", "random"], seeds=1, configs=[0])
    shown = tree_table(TABLE1, own_rows(TABLE1, Rows.read(write(units, level=level))))
    *single, every = shown.records
    gaps = [record["first_less_second"] for record in single]
    assert [record["dataset"] for record in shown.records] == ["MUTAG", "NCI1", "all"]
    assert every["first_less_second"] == pytest.approx(sum(gaps) / 2)
    assert every["standard_error"] == pytest.approx(abs(gaps[0] - gaps[1]) / 2)
    assert every["trainings"] == 20


def test_tree_table_by_name_has_one_row_a_name(write):
    table = PROTOCOLS["sepn-ablation"]
    units = table.units(["Cora"], seeds=1, configs=range(12))
    shown = tree_table(table, own_rows(table, Rows.read(write(units, table))))
    assert [row[:2] for row in shown.rows] == [
        ("SEP-N(as published)", "Cora"),
        ("SEP-N(levels 1, 3)", "Cora"),
        ("SEP-N(levels 2, 3)", "Cora"),
    ]


class TestControl:
    def test_control_table_fixed_split_tests_over_seeds(self, write):
        """A fixed split is tested over seeds."""
        units = TABLE3.units(["Cora"], ["GCN", "SEP-N"], ["best", "random"], seeds=5)
        units = [u for u in units if u.system == "GCN" or u.config in TABLE3.grid[:3]]
        folder = write(units, TABLE3, level=lambda unit: 0.02 * (unit.tree == "best"))
        shown = control_table(TABLE3, cells(TABLE3, Rows.read(folder)))
        (record,) = shown.records
        assert record["rule"] == "customary"  # the strict rule selects the same
        assert (record["dataset"], record["system"]) == ("Cora", "SEP-N (best)")
        assert record["difference"] == pytest.approx(2, abs=0.6)
        assert (record["pairs"], record["test"]) == (5, "paired t-test over seeds")
        assert 0 < record["error"] < 0.6
        assert shown.rows[0][3].count("±") == 1

    def test_control_table_covers_every_tree(self, write):
        units = TABLE1.units(["MUTAG"], ["SEP-G"], list(LEVELS), seeds=1, configs=[0])
        shown = control_table(TABLE1, cells(TABLE1, Rows.read(write(units, level=level))))
        systems = [r["system"] for r in shown.records if r["rule"] == "strict"]
        assert systems == ["SEP-G (best)", "SEP-G (paper)", "SEP-G (released)"]

    def test_control_table_without_random_trees_is_empty(self, write):
        units = TABLE1.units(["MUTAG"], ["SEP-G"], ["best"], seeds=1, configs=[0])
        assert control_table(TABLE1, cells(TABLE1, Rows.read(write(units)))).rows == ()
