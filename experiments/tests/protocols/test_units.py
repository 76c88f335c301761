from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sepool_experiments.protocols.units import Config, Unit

UNIT = Unit("table1", "MUTAG", "SEP-G", "best", Config(), fold=0, seed=0)

configs = st.builds(
    Config,
    hidden=st.integers(1, 512),
    dropout=st.floats(0, 1),
    conv=st.sampled_from(["GCN", "GIN"]),
    input_link=st.booleans(),
    extra=st.lists(st.tuples(st.text(max_size=5), st.integers())).map(tuple),
)


def test_config_defaults_are_fixed():
    """Rows omit defaults: a changed default would change the meaning of old rows."""
    assert Config().to_dict() == {
        "hidden": 64,
        "batch": 128,
        "dropout": 0.0,
        "lr": 5e-4,
        "weight_decay": 1e-4,
        "conv": "GCN",
        "readout": "sum",
        "pooled": "weighted",
        "blocks": 3,
        "input_link": False,
        "schedule": "constant",
        "extra": [],
    }


@given(configs)
def test_config_json_round_trip_is_equal(config):
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert Config.from_dict(json.loads(json.dumps(config.changes()))) == config
    assert hash(config) == hash(Config.from_dict(config.to_dict()))


def test_config_unknown_setting_raises():
    with pytest.raises(ValueError, match="a configuration has no hiden; it has"):
        Config.from_dict({"hiden": 64})


def test_key_differs_in_every_field():
    others = {
        "protocol": "table2",
        "dataset": "NCI1",
        "system": "GCN",
        "tree": "paper",
        "config": Config(hidden=128),
        "fold": 1,
        "seed": 1,
    }
    assert set(others) == {field.name for field in fields(Unit)}
    keys = {replace(UNIT, **{name: value}).key for name, value in others.items()}
    assert len(keys | {UNIT.key}) == len(others) + 1
    assert replace(UNIT, config=Config(dropout=0)).key == UNIT.key


def test_unit_str_names_all_fields():
    assert str(UNIT) == "table1 MUTAG SEP-G (best), fold 0, seed 0, defaults"
    assert "SEP-G, fold" in str(replace(UNIT, tree=""))


def test_keeps_curve_only_first_fold_and_seed():
    assert UNIT.keeps_curve
    assert not replace(UNIT, fold=1).keeps_curve
    assert not replace(UNIT, seed=1).keeps_curve
