from __future__ import annotations

from dataclasses import replace
from time import monotonic

import pytest

from sepool_experiments.backends.processes import Processes


def run(units, protocol, options):
    return list(Processes().run(units, protocol, options))


def test_every_unit_once_and_the_same_results(units, protocol, options, result):
    results = run(units, protocol, options)
    assert sorted(results, key=lambda r: r.unit.key) == sorted(
        map(result, units), key=lambda r: r.unit.key
    )
    assert options.messages == []


def test_a_killed_worker_costs_nothing_but_time(
    units, protocol, options, result, tmp_path, monkeypatch
):
    monkeypatch.setenv("FAKE_DIE", str(tmp_path))
    results = run(units, protocol, options)
    assert (tmp_path / "died").exists()
    assert {r.unit for r in results} == set(units)
    assert len(results) == len(units)
    assert all(r == result(r.unit) for r in results)
    assert len(options.messages) == 1
    assert options.messages[0].startswith("a worker process died; ")


def test_a_unit_that_always_kills_its_worker_ends_the_run(units, protocol, options, monkeypatch):
    monkeypatch.setenv("FAKE_KILL", units[3].key)
    options = replace(options, workers=1, retries=1, log=lambda text: None)
    running = Processes().run(units, protocol, options)
    assert [next(running).unit for _ in range(3)] == units[:3]
    with pytest.raises(RuntimeError, match="died 2 times while it trained one of: table1 MUTAG"):
        next(running)


def test_a_failing_training_ends_the_run(units, protocol, options, monkeypatch):
    monkeypatch.setenv("FAKE_FAIL", units[0].key)
    with pytest.raises(ArithmeticError, match="told to fail"):
        run(units, protocol, options)


def test_leaving_early_does_not_wait_for_what_is_in_flight(units, protocol, options, monkeypatch):
    monkeypatch.setenv("FAKE_SECONDS", "600")
    monkeypatch.setenv("FAKE_QUICK", units[0].key)
    running = Processes().run(units, protocol, options)
    assert next(running).unit == units[0]
    began = monotonic()
    running.close()
    assert monotonic() - began < 60


def test_nothing_to_do(protocol, options):
    assert run([], protocol, options) == []
