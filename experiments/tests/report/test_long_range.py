"""Choice by validation, and the tables of long-range tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.longrange import FLAT_NET, TREE_NET
from sepool_experiments.report.cells import own_rows
from sepool_experiments.report.long_range import choices, long_range_tables
from sepool_experiments.report.report import write_report
from sepool_experiments.results.choice import chosen_configs, final_units
from sepool_experiments.results.database import Writer
from sepool_experiments.results.rows import Rows
from sepool_experiments.results.run_info import RunInfo

TABLE = PROTOCOLS["longrange"]
TASK = "matched-16"
LEVELS = {"best": 0.9, "random": 0.8, "": 0.7}


@pytest.fixture
def measured(tmp_path, result):
    """Write rows of units and read them: scores by tree, the second configuration the best."""

    def measured(units, protocol=TABLE, score=None):
        def by_tree(unit):
            grid = protocol.configs(unit.dataset, unit.system)
            gain = 0.02 * (unit.config == grid[1]) + 0.001 * unit.seed
            return LEVELS[unit.tree] + gain

        score = score or by_tree
        with Writer(tmp_path / "rows", protocol, RunInfo.now(protocol, "cpu", "test")) as writer:
            for unit in units:
                value = score(unit)
                writer.add(replace(result(unit), val_accuracy=value, test_accuracy=value - 0.01))
        return own_rows(protocol, Rows.read(tmp_path / "rows"))

    return measured


def units_of(dataset=TASK, trees=("best", "random"), **options):
    return TABLE.units([dataset], trees=trees, **options)


def test_chosen_configs_by_validation_of_the_search(measured):
    rows = measured(TABLE.searched(units_of()))
    chosen = chosen_configs(TABLE, rows)
    assert set(chosen) == {
        (TASK, TREE_NET, "best"), (TASK, TREE_NET, "random"), (TASK, FLAT_NET, "")
    }  # fmt: skip
    for (dataset, system, _), (config, searched, _) in chosen.items():
        assert config == str(TABLE.configs(dataset, system)[1])
        assert searched == len(TABLE.configs(dataset, system))


def test_chosen_configs_ignore_test_scores_and_later_seeds(measured):
    def score(unit):
        second = unit.config == TABLE.configs(unit.dataset, unit.system)[1]
        return 0.5 + (0.4 if second == (unit.seed == 0) else 0.0)

    rows = measured(units_of(seeds=2), score=score)
    rows["test_accuracy"] = 1 - rows["val_accuracy"]
    for (dataset, system, _), (config, *_) in chosen_configs(TABLE, rows).items():
        assert config == str(TABLE.configs(dataset, system)[1])


def test_final_units_are_all_seeds_of_the_chosen_configuration(measured):
    units = units_of()
    final = final_units(TABLE, units, measured(TABLE.searched(units)))
    assert len(final) == 3 * TABLE.seeds
    for unit in final:
        assert unit.config == TABLE.configs(unit.dataset, unit.system)[1]


def test_final_units_without_a_search_are_none():
    assert final_units(TABLE, units_of(), Rows.read("nowhere")) == []


def test_choices_incomplete_seeds_do_not_count(measured):
    table = PROTOCOLS["longrange-tu"]
    units = table.units(["MUTAG"], seeds=2, configs=[0, 1])
    missing = next(u for u in units if u.seed == 1 and u.fold == 7 and u.tree == "best")
    grid = table.configs("MUTAG", TREE_NET)
    missing = replace(missing, config=grid[1])
    rows = measured([unit for unit in units if unit != missing], table)
    found = choices(table, rows)
    assert found["MUTAG", TREE_NET, "best"].selected.seeds == 1
    assert found["MUTAG", TREE_NET, "random"].selected.seeds == 2


def test_tables_scores_and_differences(measured):
    rows = measured(units_of())
    scores, tests = long_range_tables(TABLE, rows)
    assert scores.header == ("", TASK)
    assert [line[0] for line in scores.rows] == [
        "SEPGraphNet (best)",
        "SEPGraphNet (random)",
        "flat GCN",
    ]
    assert scores.rows[0][1].startswith("91.20 ± 0.16")
    assert scores.records[0]["mean"] == pytest.approx(91.2)
    frame = pd.DataFrame(tests.records)
    assert frame["against"].tolist() == ["SEPGraphNet (random)", "flat GCN"]
    assert frame["difference"].tolist() == pytest.approx([10, 20])
    assert (frame["p_holm"] < 0.05).all()


def test_tables_of_numbers_have_the_error_and_positive_gains(measured):
    errors = {"best": -1.5, "random": -2.0, "": -4.0}
    rows = measured(units_of("diameter"), score=lambda unit: errors[unit.tree] + 0.01 * unit.seed)
    scores, tests = long_range_tables(TABLE, rows)
    assert scores.header == ("", "diameter, MAE")
    assert scores.rows[0][1].startswith("1.49 ± 0.02")
    differences = [record["difference"] for record in tests.records]
    assert differences == pytest.approx([0.5, 2.5])


def test_tables_control_below_the_flat_model_is_marked(measured):
    levels = {"best": 0.9, "random": 0.6, "": 0.7}
    scores, _ = long_range_tables(
        TABLE, measured(units_of(), score=lambda unit: levels[unit.tree] + 1e-4 * unit.seed)
    )
    assert [line[1].endswith("†") for line in scores.rows] == [False, True, False]


def test_tables_fewer_seeds_have_a_star(measured):
    scores, _ = long_range_tables(TABLE, measured(units_of(seeds=2)))
    assert all("*" in line[1] for line in scores.rows)


def test_report_has_the_tables_of_long_range_tasks(measured, tmp_path):
    measured(units_of())
    page = write_report(tmp_path / "rows", tmp_path / "report")
    names = [table.name for table in page.tables]
    assert names == ["longrange-scores", "longrange-tests"]
    assert "SEPGraphNet (best)" in page.text
    assert np.isfinite([record["p"] for record in page.tables[1].records]).all()
