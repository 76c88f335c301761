from __future__ import annotations

from dataclasses import replace

import pytest

from sepool.bench.protocols import BACKBONES, PROTOCOLS, Protocol
from sepool.bench.units import Config


def test_the_full_grid(protocol):
    assert len(set(protocol.grid)) == 16
    choices = {(c.hidden, c.batch, c.dropout, c.schedule) for c in protocol.grid}
    assert len(choices) == 16
    assert {c.lr for c in protocol.grid} == {5e-4}
    assert (protocol.folds, protocol.seeds, protocol.epochs, protocol.patience) == (10, 10, 500, 50)


def test_units_of_a_part(protocol):
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


def test_no_unit_twice_and_seeds_complete_one_after_another(protocol):
    units = protocol.units(["MUTAG"])
    assert len({u.key for u in units}) == len(units) == 16 * 10 * 10
    assert [u.seed for u in units] == sorted(u.seed for u in units)


def test_only_what_can_be_trained_by_default(protocol):
    assert {u.system for u in protocol.units()} <= {"SEP-G"} | set(protocol.systems)
    assert "SEP-G" in {u.system for u in protocol.units()}


def test_a_pass_over_the_large_datasets(protocol):
    passes = {name for name in protocol.datasets if protocol.steps_for(name) is None}
    assert passes == {"COLLAB", "NCI1"}


def test_table2_leaves_gcn_to_table1():
    table2 = PROTOCOLS["table2"]
    assert {c.conv for c in table2.grid} == set(BACKBONES) - {"GCN"}
    assert table2.borrows == "table1"
    assert len(table2.grid) == 4 * 16


def test_settings_of_a_dataset(protocol):
    linked = replace(protocol, per_dataset=(("DD", (("input_link", True),)),))
    assert {c.input_link for c in linked.configs("DD")} == {True}
    assert linked.configs("MUTAG") == protocol.grid
    doubled = replace(protocol, per_dataset=(("DD", (("hidden", 64),)),))
    assert len(doubled.configs("DD")) == 8


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_quick_is_small_and_has_its_own_name(name):
    quick = PROTOCOLS[f"{name}-quick"]
    assert len(quick.units()) <= 80
    assert quick.epochs * (quick.steps or 1000) <= 1000
    assert quick.digest != PROTOCOLS[name].digest


def test_digest_covers_the_rules_and_nothing_else(protocol):
    rules = {"folds": 5, "epochs": 9, "patience": 9, "steps": 9, "full_pass": (), "clip": 9.0}
    others = {"datasets": ("DD",), "systems": (), "trees": ("paper",), "grid": (Config(),)}
    digests = {replace(protocol, **{rule: value}).digest for rule, value in rules.items()}
    assert len(digests | {protocol.digest}) == len(rules) + 1
    for name, value in {**others, "seeds": 3, "title": ""}.items():
        assert replace(protocol, **{name: value}).digest == protocol.digest


def test_digest_is_the_same_everywhere():
    """Committed results carry it: rules do not change under a name that has results."""
    assert Protocol("p", "", "graphs", (), ()).digest == "d74655460ded"
