from __future__ import annotations

import pytest

from sepool_experiments.data.tasks.catalog import TASKS
from sepool_experiments.models.catalog import system_of
from sepool_experiments.models.task_systems import TASK_SYSTEMS
from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.protocols.longrange import FLAT_NET, TREE_NET

FULL = [PROTOCOLS["longrange"], PROTOCOLS["longrange-tu"]]
PAIRS = [(table, dataset) for table in FULL for dataset in table.datasets]


def parameters(config, system):
    model = TASK_SYSTEMS[system].build(8, 2, config, None)
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("table", "dataset"), PAIRS, ids=lambda value: getattr(value, "name", value)
)
def test_flat_model_is_deeper_and_larger_than_every_stack_along_a_tree(table, dataset):
    along, flat = (table.configs(dataset, system) for system in (TREE_NET, FLAT_NET))
    assert len(along) == len(flat)
    assert {dict(c.extra)["epochs"] for c in along} == {dict(c.extra)["epochs"] for c in flat}
    assert max(parameters(c, TREE_NET) for c in along) <= min(parameters(c, FLAT_NET) for c in flat)
    depth = max(dict(c.extra)["layers"] for c in along)
    assert min(dict(c.extra)["layers"] for c in flat) >= depth


def test_flat_model_reads_no_tree():
    table = FULL[0]
    units = table.units(["GCB-hard"], seeds=1)
    assert {unit.tree for unit in units if unit.system == FLAT_NET} == {""}
    assert {unit.tree for unit in units if unit.system == TREE_NET} == set(table.trees)
    assert {system_of(unit) for unit in units} == set(TASK_SYSTEMS.values())


def test_searched_units_are_the_first_seeds_and_folds():
    table = PROTOCOLS["longrange-tu"]
    searched = table.searched(table.units(["NCI1"]))
    assert {unit.seed for unit in searched} == set(range(table.search))
    assert {unit.fold for unit in searched} == set(range(table.search_folds))
    assert len({unit.config for unit in searched if unit.system == FLAT_NET}) == len(
        table.configs("NCI1", FLAT_NET)
    )


def test_metric_is_that_of_the_task(tmp_path):
    table = PROTOCOLS["longrange"]
    assert table.metric("matched-16") == "accuracy"
    for name in ("match-3", "diameter"):
        assert table.metric(name) == TASKS[name](tmp_path, name).metric


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ((["MUTAG"], None, None), "unknown task 'MUTAG'"),
        ((None, ["SEP-G"], None), "unknown system 'SEP-G'"),
        ((None, None, ["paper"]), "unknown tree 'paper'"),
    ],
)
def test_check_other_names_are_refused(choice, words):
    with pytest.raises(ValueError, match=words):
        PROTOCOLS["longrange"].check(*choice)
