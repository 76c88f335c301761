"""Cells of tables by name, and of systems with their own grids."""

from __future__ import annotations

import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.cells import LIGHT, Line, cells, matched, own_rows
from sepool_experiments.report.stats import RULES
from sepool_experiments.results.rows import Rows


@pytest.fixture
def rows(write):
    return lambda name, units: Rows.read(write(units, PROTOCOLS[name]))


def test_cells_by_name_have_one_line_a_depth(rows):
    table = PROTOCOLS["table4"]
    results = rows("table4", table.units(["Cora"], ["SEP-N"], ["best"], seeds=1))
    by_line = {cell.line: cell for cell in cells(table, results) if cell.dataset == "Cora"}
    for depth in "12345":
        cell = by_line[Line("SEP-N", "best", variant=depth)]
        light = by_line[Line("SEP-N", "best", variant=f"{depth}, {LIGHT}")]
        assert (len(cell.rows), cell.expected) == (16, 160)
        assert (len(light.rows), light.expected) == (4, 40)
        assert set(cell.rows["blocks"]) == set(light.rows["blocks"]) == {int(depth)}
        assert cell.published is not None
        assert light.published is None
        assert light.line.name == f"SEP-N light, predicted trees({depth})"
        assert cell.line.depth == light.line.depth == int(depth)
    assert len(by_line[Line("g-U-Nets", variant="2")].rows) == 0
    assert Line("g-U-Nets", variant="1") not in by_line


def test_cells_expected_follows_grid_of_system(rows):
    table = PROTOCOLS["table3"]
    units = table.units(["Cora"], ["GCN", "SGC"], seeds=2)
    results = rows("table3", units)
    assert len(own_rows(table, results)) == len(units) == 12
    by_line = {cell.line: cell for cell in cells(table, results) if cell.dataset == "Cora"}
    assert (by_line[Line("GCN")].expected, by_line[Line("SGC")].expected) == (10, 50)
    assert by_line[Line("SEP-N", "random")].expected == 1280


def test_matched_longer_search_uses_common_configs(rows):
    table = PROTOCOLS["table1"]
    units = [
        *table.units(["MUTAG"], ["SEP-G"], ["best"], seeds=2),
        *table.units(["MUTAG"], ["SEP-G"], ["random"], seeds=2, configs=[3, 5]),
    ]
    by_line = {c.line: c for c in cells(table, rows("table1", units)) if c.dataset == "MUTAG"}
    best, control = (by_line[Line("SEP-G", tree)] for tree in ("best", "random"))
    shared = {str(table.configs("MUTAG")[place]) for place in (3, 5)}
    for some in matched(best, control, "strict"):
        assert set(some.configs) <= shared
    assert not set(best.selected["strict"].configs) <= shared


def test_matched_unfinished_config_is_left_out(rows):
    """One cell has two complete configurations, the other one and a part of the second."""
    table = PROTOCOLS["table1"]
    short = table.units(["MUTAG"], ["SEP-G"], ["random"], seeds=2, configs=[3, 5])
    third = str(table.configs("MUTAG")[3])
    fifth = [unit for unit in short if str(unit.config) != third]
    units = [
        *table.units(["MUTAG"], ["SEP-G"], ["best"], seeds=3, configs=[3, 5]),
        *(unit for unit in short if str(unit.config) == third),
        *fifth[:7],
    ]
    by_line = {c.line: c for c in cells(table, rows("table1", units)) if c.dataset == "MUTAG"}
    best, control = (by_line[Line("SEP-G", tree)] for tree in ("best", "random"))
    for one in (some for rule in RULES for some in matched(best, control, rule)):
        assert (one.configs, one.seeds, one.folds) == ((third,), 2, 10)


def test_trained_ignores_additional_seeds(rows):
    table = PROTOCOLS["table1-quick"]
    units = table.units(["MUTAG"], ["SEP-G"], ["best"], seeds=2, configs=[0])
    (cell,) = (c for c in cells(table, rows("table1-quick", units)) if len(c.rows))
    assert (len(cell.rows), cell.trained, cell.expected) == (20, 10, 20)
    assert not cell.complete


def test_matched_unfinished_grid_is_left_out(rows):
    table = PROTOCOLS["table3"]
    units = table.units(["Cora"], ["GCN", "SGC"], seeds=3)
    cut = [u for u in units if u.system == "SGC" and u.seed == 2][:-1]
    results = rows("table3", [u for u in units if u.system == "GCN" or u.seed < 2] + cut)
    by_line = {cell.line: cell for cell in cells(table, results) if cell.dataset == "Cora"}
    gcn, sgc = matched(by_line[Line("GCN")], by_line[Line("SGC")], "customary")
    assert (gcn.seeds, sgc.seeds) == (3, 2)
    results = results[(results["system"] == "GCN") | (results["seed"] == 2)]
    by_line = {cell.line: cell for cell in cells(table, results) if cell.dataset == "Cora"}
    assert matched(by_line[Line("GCN")], by_line[Line("SGC")], "customary")[1] is None


def test_matched_disjoint_grids_use_own_selection(rows):
    table = PROTOCOLS["table3"]
    results = rows("table3", table.units(["Cora"], ["GCN", "SGC"], seeds=2))
    by_line = {cell.line: cell for cell in cells(table, results) if cell.dataset == "Cora"}
    gcn, sgc = by_line[Line("GCN")], by_line[Line("SGC")]
    for one, cell in zip(matched(gcn, sgc, "customary"), (gcn, sgc), strict=True):
        assert one.configs == cell.selected["customary"].configs
        assert one.accuracy.equals(cell.selected["customary"].accuracy)


def test_cells_of_a_shared_model_have_the_rows_of_both_tables(write):
    depths, shallow = PROTOCOLS["table4"], PROTOCOLS["tableA1"]
    units = {
        "table4": depths.units(["Cora"], ["SEP-N"], ["best"], seeds=[0, 1]),
        "tableA1": shallow.units(["Cora"], ["SEP-N"], ["best"], seeds=[1, 2]),
    }
    for name, part in units.items():
        folder = write(part, PROTOCOLS[name], level=lambda u: 0.1 * (u.protocol == "table4"))
    measured = Rows.read(folder)
    accuracies = []
    for table, number in ((depths, "2"), (shallow, "5")):
        line = Line("SEP-N", "best", variant=f"{number}, {LIGHT}")
        (cell,) = (c for c in cells(table, measured) if c.line == line and c.dataset == "Cora")
        by_seed = cell.rows.groupby("seed")["test_accuracy"]
        assert by_seed.size().to_dict() == {0: 4, 1: 4, 2: 4}
        accuracies.append(by_seed.mean().round(6).to_dict())
        assert accuracies[-1][1] > accuracies[-1][2] + 0.05
    assert accuracies[0] == accuracies[1]
