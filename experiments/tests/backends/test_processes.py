from __future__ import annotations

from dataclasses import replace
from time import monotonic

import pytest

from sepool_experiments.backends import processes


def test_run_yields_every_unit_once(units, protocol, options, result):
    results = list(processes.run(units, protocol, options))
    assert sorted(results, key=lambda r: r.unit.key) == sorted(
        map(result, units), key=lambda r: r.unit.key
    )
    assert options.messages == []


def test_run_killed_worker_restarts_units(units, protocol, options, result, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_DIE", str(tmp_path))
    results = list(processes.run(units, protocol, options))
    assert (tmp_path / "died").exists()
    assert {r.unit for r in results} == set(units)
    assert len(results) == len(units)
    assert all(r == result(r.unit) for r in results)
    assert len(options.messages) == 1
    assert options.messages[0].startswith("a worker process died; ")


def test_run_unit_killing_its_worker_raises(units, protocol, options, monkeypatch):
    monkeypatch.setenv("FAKE_KILL", units[3].key)
    options = replace(options, workers=1, retries=1, log=lambda text: None)
    running = processes.run(units, protocol, options)
    assert [next(running).unit for _ in range(3)] == units[:3]
    with pytest.raises(RuntimeError, match="died 2 times while it trained one of: table1 MUTAG"):
        next(running)


def test_run_failing_training_raises(units, protocol, options, monkeypatch):
    monkeypatch.setenv("FAKE_FAIL", units[0].key)
    with pytest.raises(ArithmeticError, match="told to fail"):
        list(processes.run(units, protocol, options))


def test_close_does_not_wait_for_running_units(units, protocol, options, monkeypatch):
    monkeypatch.setenv("FAKE_SECONDS", "600")
    monkeypatch.setenv("FAKE_QUICK", units[0].key)
    running = processes.run(units, protocol, options)
    assert next(running).unit == units[0]
    began = monotonic()
    running.close()
    assert monotonic() - began < 60
