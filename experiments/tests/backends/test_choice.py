from __future__ import annotations

from dataclasses import replace

import pytest

from sepool_experiments import backends
from sepool_experiments.models.systems import SYSTEMS


class Fake:
    def __init__(self, name):
        self.name = name


@pytest.fixture
def two_systems(monkeypatch, units):
    """Units of SEP-G, which trains in lockstep, and of a system that does not."""
    monkeypatch.setattr(backends, "make_backend", Fake)
    slow = replace(SYSTEMS["SEP-G"], name="Slow", lockstep=False)
    monkeypatch.setitem(SYSTEMS, "Slow", slow)
    return units + [replace(unit, system="Slow") for unit in units[:2]]


def test_auto_deals_by_what_a_system_can_do(two_systems, units):
    dealt = {engine.name: some for engine, some in backends.assign_units("auto", two_systems)}
    assert dealt == {"replicas": units, "processes": two_systems[len(units) :]}


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_one_engine_for_all(two_systems, name):
    ((engine, some),) = backends.assign_units(name, two_systems)
    assert engine.name == name
    assert some == two_systems


def test_replicas_refuse_what_does_not_train_in_lockstep(two_systems):
    with pytest.raises(ValueError, match="Slow does not train in lockstep; use --backend processes"):
        backends.assign_units("replicas", two_systems)


def test_unknown_engine():
    for choose in (lambda: backends.assign_units("magic", []), lambda: backends.make_backend("magic")):
        with pytest.raises(ValueError, match="backend must be auto, replicas, processes, ray"):
            choose()


@pytest.mark.parametrize("name", ["replicas", "processes", "ray"])
def test_every_engine_has_its_name(name, monkeypatch):
    monkeypatch.setattr(backends, "find_spec", lambda package: package)
    assert backends.make_backend(name).name == name


def test_ray_is_missing(monkeypatch, units):
    monkeypatch.setattr(backends, "find_spec", lambda package: None)
    with pytest.raises(ValueError, match="the backend ray needs Ray: pip install"):
        backends.assign_units("ray", units)
