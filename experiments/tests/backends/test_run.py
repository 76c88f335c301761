from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sepool_experiments.backends import processes
from sepool_experiments.backends.run import Plan, run
from sepool_experiments.results.rows import Rows, finished

SCRIPT = Path(__file__).parents[1] / "killed_run.py"


def stored(folder):
    """Every row that is stored in a folder."""
    return Rows.read(folder).to_dict("records")


def test_run_writes_and_reports_results(units, protocol, options, result, tmp_path):
    results = []
    plan = Plan.of(protocol, units, tmp_path)
    assert run(plan, options, "processes", results.append) == len(units)
    assert finished(tmp_path, protocol) == {u.key for u in units}
    assert sorted(r.unit.key for r in results) == sorted(u.key for u in units)


def test_run_finished_plan_writes_nothing(units, protocol, options, tmp_path, monkeypatch):
    run(Plan.of(protocol, units, tmp_path), options, "processes")
    before = stored(tmp_path)
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    plan = Plan.of(protocol, units, tmp_path)
    assert plan.todo == ()
    assert run(plan, options, "processes") == 0
    assert not (tmp_path / "log").exists()
    assert stored(tmp_path) == before


def test_run_results_of_other_data_raises(units, protocol, options, tmp_path):
    marks = {"MUTAG": "0123456789ab", "NCI1": "0123456789ab"}
    run(Plan.of(protocol, units[:5], tmp_path), options, "processes", data=marks)
    before = stored(tmp_path)
    others = {**marks, "MUTAG": "ba9876543210"}
    with pytest.raises(ValueError, match=r"other graphs or folds of MUTAG .* another --out"):
        run(Plan.of(protocol, units, tmp_path), options, "processes", data=others)
    assert stored(tmp_path) == before
    run(Plan.of(protocol, units, tmp_path), options, "processes", data=marks)
    assert finished(tmp_path, protocol) == {u.key for u in units}


def test_run_failing_training_keeps_finished_results_and_resumes(
    units, protocol, options, tmp_path, monkeypatch
):
    monkeypatch.setenv("FAKE_FAIL", units[4].key)
    with pytest.raises(ArithmeticError):
        run(Plan.of(protocol, units, tmp_path), replace(options, workers=1), "processes")
    assert finished(tmp_path, protocol) == {u.key for u in units[:4]}
    monkeypatch.delenv("FAKE_FAIL")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    run(Plan.of(protocol, units, tmp_path), options, "processes")
    assert set((tmp_path / "log").read_text().split()) == {u.key for u in units[4:]}


def test_run_incomplete_backend_raises(units, protocol, options, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "run", lambda *_: (unit for unit in ()))
    with pytest.raises(RuntimeError, match="the engine processes left out 12 units"):
        run(Plan.of(protocol, units, tmp_path), options, "processes")


class TestKilled:
    """SIGKILL of a process at arbitrary moments, until the run is complete."""

    def start(self, out, log, **more):
        env = {**os.environ, "FAKE_LOG": str(log), "FAKE_SECONDS": "0.1"}
        env["PYTHONPATH"] = os.pathsep.join([str(SCRIPT.parent), *filter(None, sys.path)])
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), str(out), "processes"], env=env, **more
        )

    def test_run_killed_at_any_moment_resumes(self, protocol, tmp_path):
        out, log, kills = tmp_path / "out", tmp_path / "log", 0
        done: set[str] = set()
        for moment in (3, 6, 11, 99):
            process = self.start(out, log)
            try:
                while process.poll() is None and self.started(log) < len(done) + moment:
                    time.sleep(0.01)
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                process.wait()
            now = finished(out, protocol)
            assert done <= now
            done = now
        assert kills >= 2
        assert len(done) == 20
        starts = Counter(log.read_text().split())
        assert set(starts) == done
        # Two workers: every kill repeats at most two running units.
        assert sum(starts.values()) - len(done) <= 2 * kills

    def test_run_killed_leaves_no_worker(self, tmp_path):
        psutil = pytest.importorskip("psutil")
        process = self.start(tmp_path / "out", log := tmp_path / "log")
        while process.poll() is None and not self.started(log):
            time.sleep(0.01)
        workers = psutil.Process(process.pid).children(recursive=True)
        assert workers
        process.send_signal(signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(workers, timeout=20)
        assert not [worker for worker in alive if worker.status() != psutil.STATUS_ZOMBIE]

    @staticmethod
    def started(log):
        return len(log.read_text().split()) if log.exists() else 0
