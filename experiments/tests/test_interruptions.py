"""The command reproduce that is killed, runs twice, or fills the disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.results.rows import Rows, finished

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and limits")
HERE = str(Path(__file__).parent)
FAKE = """
import functools, sys
from sepool_experiments import backends
backends.RunOptions = functools.partial(backends.RunOptions, trainer="fake_trainer:train")
"""
EAGER = """
from sepool_experiments.engine import checkpoint
checkpoint.SECONDS = 0.2
"""
MAIN = """
from sepool.__main__ import main
main()
"""
ARGUMENTS = ("--device", "cpu", "--datasets", "MUTAG", "--systems", "SEP-G")


def start(code, table, *args, folder, limit=None, **env):
    """Start the command in a folder, after some code, with a limit on the size of files."""
    paths = os.pathsep.join([HERE, *filter(None, sys.path)])

    def prepare():
        if limit is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-c", code + MAIN, "reproduce", table, *ARGUMENTS, *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "SEPOOL_DATA": str(folder / "data"), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
    )


def wait_for(process, condition):
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline and not condition():
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


def rows(out):
    """Return the measured values of every row, in the order of their keys."""
    table = Rows.read(out).drop(columns=["seconds"])
    runs = [name for name in table.columns if name.startswith("run_")]
    return table.drop(columns=runs).sort_values("key", ignore_index=True)


def test_reproduce_killed_run_has_the_rows_of_a_whole_one(tmp_path, data):
    args = ("--folds", "3", "--seeds", "1", "--configs", "0,1")
    whole = start(EAGER, "table1-quick", *args, "--out", "whole", folder=tmp_path)
    out = tmp_path / "killed"
    for _ in range(3):
        with start(EAGER, "table1-quick", *args, "--out", "killed", folder=tmp_path) as killed:
            wait_for(killed, lambda: list((out / "table1-quick").glob("*.checkpoint")))
            time.sleep(0.3)
            killed.send_signal(signal.SIGKILL)
    last = start(EAGER, "table1-quick", *args, "--out", "killed", folder=tmp_path)
    for process in (whole, last):
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    expected = rows(tmp_path / "whole")
    assert len(expected) == 6
    assert rows(out).equals(expected)
    assert not list((out / "table1-quick").glob("*.checkpoint"))


def test_reproduce_second_process_is_refused_with_one_line(tmp_path, data):
    args = ("--engine", "processes", "--folds", "1", "--seeds", "1", "--configs", "1")
    with start(FAKE, "table1", *args, folder=tmp_path, FAKE_SECONDS="60") as first:
        wait_for(first, lambda: (tmp_path / "results" / "table1" / "rows.sqlite").exists())
        with start(FAKE, "table1", *args, folder=tmp_path) as second:
            out, err = second.communicate(timeout=120)
        first.send_signal(signal.SIGKILL)
    assert (second.returncode, out) == (2, "")
    [line] = [line for line in err.splitlines() if not line.startswith("0/1 trainings")]
    assert line.startswith("sepool: another process writes to results/table1; wait for it, or ch")


def test_reproduce_full_disk_ends_with_one_line_and_goes_on_later(tmp_path, data):
    args = ("--engine", "processes", "--workers", "1", "--seeds", "3", "--configs", "4")
    done: set[str] = set()
    for limit in (80_000, 120_000, None):
        with start(FAKE, "table1", *args, folder=tmp_path, limit=limit) as process:
            out, err = process.communicate(timeout=300)
        now = finished(tmp_path / "results", PROTOCOLS["table1"])
        assert done < now
        done = now
        if limit is not None:
            assert (process.returncode, out) == (1, "")
            [line] = [line for line in err.splitlines() if line.startswith("sepool: ")]
            assert "what was stored before stays, and the same command goes on from there" in line
            assert "Traceback" not in err
    assert process.returncode == 0, err
    assert len(done) == 10 * 3 * 4
