from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="pip install 'sepool-experiments[ray]'")

import ray

from sepool_experiments.backends import ray as backend

pytestmark = pytest.mark.heavy
HERE = str(Path(__file__).parents[1])


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    """A local Ray of two worker processes, which find sepool and the fake trainer."""
    paths = os.pathsep.join([HERE, *filter(None, sys.path)])
    quiet = {"RAY_DEDUP_LOGS": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        for name, value in quiet.items():
            patch.setenv(name, value)
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": paths}},
        )
        yield
        ray.shutdown()


@pytest.fixture
def tell(monkeypatch, tmp_path):
    """Tells the fake trainer what to do: Ray's workers do not see our environment."""
    real = ray.remote

    def tell(**variables):
        def remote(**options):
            return real(**options, runtime_env={"env_vars": variables})

        monkeypatch.setattr(ray, "remote", remote)

    return tell


def run(units, protocol, options):
    return list(backend.run(units, protocol, options))


def test_run_yields_every_unit_once(units, protocol, options, result):
    results = run(units, protocol, options)
    assert sorted(r.unit.key for r in results) == sorted(u.key for u in units)
    assert all(r == result(r.unit) for r in results)


def test_run_killed_worker_restarts_its_unit(units, protocol, options, result, tell, tmp_path):
    tell(FAKE_DIE=str(tmp_path), FAKE_LOG=str(tmp_path / "log"), FAKE_SECONDS="0.05")
    results = run(units, protocol, options)
    assert (tmp_path / "died").exists()
    assert sorted(r.unit.key for r in results) == sorted(u.key for u in units)
    assert all(r == result(r.unit) for r in results)
    starts = (tmp_path / "log").read_text().split()
    assert len(starts) == len(units) + 1  # only what the dead worker had was repeated


def test_run_unit_killing_its_worker_raises(units, protocol, options, tell):
    tell(FAKE_KILL=units[0].key)
    with pytest.raises(RuntimeError, match="a worker died 2 times while it trained table1 MUTAG"):
        run(units[:2], protocol, replace(options, retries=1))


def test_run_failing_training_raises(units, protocol, options, tell):
    tell(FAKE_FAIL=units[0].key)
    with pytest.raises(ArithmeticError, match="told to fail"):
        run(units[:2], protocol, options)
