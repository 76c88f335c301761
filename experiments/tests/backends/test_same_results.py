"""Equal results of all backends, on trainings short enough for small rounding errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sepool_experiments.backends import RunOptions, load_backend
from sepool_experiments.data.checks import check_data


@pytest.fixture
def short(protocol):
    return replace(protocol, epochs=2, steps=3)


def run(name, units, protocol, data):
    check_data(data, "MUTAG", ["best"], protocol.folds)
    results = load_backend(name)(units, protocol, RunOptions(data, workers=2))
    return {result.unit: result for result in results}


def assert_same(first, second):
    assert set(first) == set(second)
    for unit, result in first.items():
        other = second[unit]
        assert (result.epochs, result.best_epoch) == (other.epochs, other.best_epoch)
        assert result.val_loss == pytest.approx(other.val_loss, abs=1e-5)
        assert result.val_accuracy == pytest.approx(other.val_accuracy)
        assert result.test_accuracy == pytest.approx(other.test_accuracy)


def test_replicas_equal_processes(short, data):
    units = short.units(["MUTAG"], ["SEP-G"], seeds=2, folds=2, configs=[0, 1, 2])
    assert_same(run("replicas", units, short, data), run("processes", units, short, data))


@pytest.mark.heavy
def test_processes_equal_ray(short, data):
    ray = pytest.importorskip("ray", reason="pip install 'sepool-experiments[ray]'")
    units = short.units(["MUTAG"], ["SEP-G"], seeds=1, folds=2, configs=[0])
    try:
        assert_same(run("processes", units, short, data), run("ray", units, short, data))
    finally:
        ray.shutdown()
