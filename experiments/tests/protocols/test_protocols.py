from __future__ import annotations

from dataclasses import replace

import pytest

from sepool_experiments.models.node_systems import NODE_SYSTEMS
from sepool_experiments.protocols.catalog import BACKBONES, PROTOCOLS, Protocol
from sepool_experiments.protocols.node_studies import CHANGES
from sepool_experiments.protocols.units import Config


def test_table1_grid_has_all_combinations(protocol):
    assert len(set(protocol.grid)) == 16
    choices = {(c.hidden, c.batch, c.dropout, c.schedule) for c in protocol.grid}
    assert len(choices) == 16
    assert {c.lr for c in protocol.grid} == {5e-4}
    assert (protocol.folds, protocol.seeds, protocol.epochs, protocol.patience) == (10, 10, 500, 50)


def test_units_chosen_parts_are_ordered(protocol):
    units = protocol.units(
        ["MUTAG"], ["SEP-G"], ["best", "random"], seeds=[4], folds=2, configs=[3]
    )
    assert [(u.tree, u.fold, u.seed) for u in units] == [
        ("best", 0, 4),
        ("best", 1, 4),
        ("random", 0, 4),
        ("random", 1, 4),
    ]
    assert {u.config for u in units} == {protocol.grid[3]}


def test_units_are_unique_and_sorted_by_seed(protocol):
    units = protocol.units(["MUTAG"], ["SEP-G"])
    assert len({u.key for u in units}) == len(units) == 16 * 10 * 10
    assert [u.seed for u in units] == sorted(u.seed for u in units)
    search = PROTOCOLS["sepn-search"].units(["Cora", "CiteSeer"], trees=["best"])
    assert len(search) == len({unit.key for unit in search}) == 2 * 128 * 10


def test_steps_for_large_datasets_is_full_pass(protocol):
    passes = {name for name in protocol.datasets if protocol.steps_for(name) is None}
    assert passes == {"COLLAB", "NCI1"}


def test_table2_grid_excludes_gcn():
    table2 = PROTOCOLS["table2"]
    assert {c.conv for c in table2.grid} == set(BACKBONES) - {"GCN"}
    assert table2.borrows == "table1"
    assert len(table2.grid) == 6 * 16
    normed = [c for c in table2.grid if dict(c.extra).get("norm")]
    assert {c.conv for c in normed} == {"GIN"}
    plain = [c for c in table2.grid if c.conv == "GIN" and not c.extra]
    assert [replace(c, extra=()) for c in normed] == plain * 2
    assert [dict(c.extra).get("init") for c in normed] == [None] * 16 + ["torch"] * 16


def test_configs_with_dataset_settings_are_replaced(protocol):
    linked = replace(protocol, per_dataset=(("DD", (("input_link", True),)),))
    assert {c.input_link for c in linked.configs("DD")} == {True}
    assert linked.configs("MUTAG") == protocol.grid
    doubled = replace(protocol, per_dataset=(("DD", (("hidden", 64),)),))
    assert len(doubled.configs("DD")) == 8


def test_table3_grids_cover_all_systems():
    table = PROTOCOLS["table3"]
    assert (table.folds, table.seeds, table.epochs, table.patience) == (1, 10, 1000, 50)
    assert {name for name, _, _ in table.grids} == set(table.systems) == set(NODE_SYSTEMS)
    assert len(table.configs("Cora", "SEP-N")) == 128
    layers = {
        data: dict(table.configs(data, "GCNII")[0].extra)["layers"] for data in table.datasets
    }
    assert layers == {"Cora": 64, "CiteSeer": 32, "PubMed": 16}
    assert dict(table.configs("PubMed", "GAT")[0].extra)["out_heads"] == 8
    assert "out_heads" not in dict(table.configs("Cora", "GAT")[0].extra)


def test_node_tables_pair_best_with_random_trees():
    for name in ("table3", "table4", "tableA1", "sepn-ablation", "sepn-search"):
        units = PROTOCOLS[name].units(["Cora"], ["SEP-N"], seeds=1)
        trees = [unit.tree for unit in units]
        assert set(trees) == {"best", "random"}
        assert trees.count("best") == trees.count("random")


def test_ablation_configs_have_names():
    table = PROTOCOLS["sepn-ablation"]
    plain, *changed = (dict(config.extra) for config in table.grid)
    assert plain["name"] == "as published"
    assert set(plain) == {"name", "pool_dropout"}
    names = [extra["name"] for extra in changed]
    assert list(dict.fromkeys(names)) == list(CHANGES)
    assert max(names.count(name) for name in CHANGES) == 4
    assert all(config.weight_decay < 0.02 for config in table.grid)


@pytest.mark.parametrize("name", ["table1", "table2", "table3", "table4", "tableA1"])
def test_quick_tables_are_small(name):
    quick = PROTOCOLS[f"{name}-quick"]
    units = quick.units()
    assert {unit.dataset for unit in units} == {quick.datasets[0]} != set(PROTOCOLS[name].datasets)
    assert {unit.system for unit in units} == set(quick.systems)
    assert len(units) <= 80
    assert quick.epochs * (quick.steps or 1000) <= 1000
    assert quick.digest != PROTOCOLS[name].digest


def test_digest_depends_on_rules_alone(protocol):
    rules = {"folds": 5, "epochs": 9, "patience": 9, "steps": 9, "full_pass": (), "clip": 9.0}
    others = {"datasets": ("DD",), "systems": (), "trees": ("paper",), "grid": (Config(),)}
    digests = {replace(protocol, **{rule: value}).digest for rule, value in rules.items()}
    assert len(digests | {protocol.digest}) == len(rules) + 1
    for name, value in {**others, "seeds": 3, "title": ""}.items():
        assert replace(protocol, **{name: value}).digest == protocol.digest


def test_digest_of_default_rules_is_fixed():
    """Stored results have the digest: rules with results never change."""
    assert Protocol("p", "", "graphs", (), ()).digest == "d74655460ded"
