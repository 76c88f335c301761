from __future__ import annotations

from dataclasses import replace

import pytest

from sepool_experiments import backends
from sepool_experiments.models.systems import SYSTEMS


@pytest.fixture
def two_systems(monkeypatch, units):
    """Units of SEP-G, and of a system without lockstep training."""
    monkeypatch.setattr(backends, "find_spec", lambda package: package)
    slow = replace(SYSTEMS["SEP-G"], name="Slow", lockstep=False)
    monkeypatch.setitem(SYSTEMS, "Slow", slow)
    return units + [replace(unit, system="Slow") for unit in units[:2]]


def test_assign_units_auto_follows_lockstep(two_systems, units):
    assigned = {name: part for name, _, part in backends.assign_units("auto", two_systems)}
    assert assigned == {"replicas": units, "processes": two_systems[len(units) :]}


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_assign_units_named_backend_gets_all(two_systems, name):
    ((assigned, run, part),) = backends.assign_units(name, two_systems)
    assert (assigned, run.__module__) == (name, f"sepool_experiments.backends.{name}")
    assert part == two_systems


def test_assign_units_replicas_without_lockstep_raises(two_systems):
    with pytest.raises(
        ValueError, match="Slow does not train in lockstep; use --backend processes"
    ):
        backends.assign_units("replicas", two_systems)


def test_assign_units_without_ray_raises(monkeypatch, units):
    monkeypatch.setattr(backends, "find_spec", lambda package: None)
    with pytest.raises(ValueError, match="the backend ray needs Ray: pip install"):
        backends.assign_units("ray", units)
