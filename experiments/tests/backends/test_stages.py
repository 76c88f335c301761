"""Runs of a protocol with a search, and of one without."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from sepool_experiments.backends import stages
from sepool_experiments.backends.stages import run_stages
from sepool_experiments.data.tasks.catalog import TASKS
from sepool_experiments.data.tasks.colours import colour_task, grid_edges
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.longrange import FLAT_NET, TREE_NET
from sepool_experiments.results.choice import chosen_configs
from sepool_experiments.results.rows import Rows

TABLE = PROTOCOLS["longrange"]


@pytest.fixture
def task(monkeypatch, options):
    """Train a small task with the fake trainer."""
    small = colour_task("matched-16", grid_edges(4), (8, 4, 4))
    monkeypatch.setitem(TASKS, "matched-16", lambda root, name: small)
    monkeypatch.setattr(stages, "TASK_TRAINER", options.trainer)
    return options


def test_run_stages_trains_the_search_and_then_its_choice(task, tmp_path):
    units, out = TABLE.units(["matched-16"], trees=["best", "random"]), tmp_path / "out"
    plan = run_stages(TABLE, units, out, task, "auto")
    rows = Rows.read(out)
    grid = len(TABLE.configs("matched-16", TREE_NET))
    assert len(plan.units) == len(plan.todo) == len(rows) == 3 * (grid + TABLE.seeds - 1)
    chosen = chosen_configs(TABLE, rows)
    for key, part in rows.groupby(["dataset", "system", "tree"]):
        seeds = Counter(part["config"])
        assert seeds.pop(chosen[key][0]) == TABLE.seeds
        assert set(seeds.values()) == {1}


def test_run_stages_again_trains_nothing(task, tmp_path):
    units = TABLE.units(["matched-16"], [FLAT_NET], seeds=2)
    first = run_stages(TABLE, units, tmp_path / "out", task, "auto")
    again = run_stages(TABLE, units, tmp_path / "out", task, "auto")
    assert first.todo
    assert not again.todo
    assert set(again.units) == set(first.units)


def test_run_stages_one_seed_is_the_search_alone(task, tmp_path):
    units = TABLE.units(["matched-16"], [FLAT_NET], seeds=1)
    plan = run_stages(TABLE, units, tmp_path / "out", task, "auto")
    assert set(plan.units) == set(units)


def test_run_stages_of_a_table_trains_all_units(options, data, tmp_path, protocol):
    units = protocol.units(["MUTAG"], ["SEP-G"], seeds=1, folds=2, configs=[0])
    plan = run_stages(protocol, units, tmp_path / "out", replace(options, data_root=data), "auto")
    assert len(plan.todo) == len(Rows.read(tmp_path / "out")) == 2
