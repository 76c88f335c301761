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
    """Units of SEP-G, and of a system without lockstep training."""
    monkeypatch.setattr(backends, "make_backend", Fake)
    slow = replace(SYSTEMS["SEP-G"], name="Slow", lockstep=False)
    monkeypatch.setitem(SYSTEMS, "Slow", slow)
    return units + [replace(unit, system="Slow") for unit in units[:2]]


def test_assign_units_auto_follows_lockstep(two_systems, units):
    assigned = {backend.name: part for backend, part in backends.assign_units("auto", two_systems)}
    assert assigned == {"replicas": units, "processes": two_systems[len(units) :]}


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_assign_units_named_backend_gets_all(two_systems, name):
    ((backend, part),) = backends.assign_units(name, two_systems)
    assert backend.name == name
    assert part == two_systems


def test_assign_units_replicas_without_lockstep_raises(two_systems):
    with pytest.raises(
        ValueError, match="Slow does not train in lockstep; use --backend processes"
    ):
        backends.assign_units("replicas", two_systems)


def test_unknown_backend_raises():
    for choose in (
        lambda: backends.assign_units("magic", []),
        lambda: backends.make_backend("magic"),
    ):
        with pytest.raises(ValueError, match="backend must be auto, replicas, processes, ray"):
            choose()


@pytest.mark.parametrize("name", ["replicas", "processes", "ray"])
def test_make_backend_has_its_name(name, monkeypatch):
    monkeypatch.setattr(backends, "find_spec", lambda package: package)
    assert backends.make_backend(name).name == name


def test_make_backend_without_ray_raises(monkeypatch, units):
    monkeypatch.setattr(backends, "find_spec", lambda package: None)
    with pytest.raises(ValueError, match="the backend ray needs Ray: pip install"):
        backends.assign_units("ray", units)
