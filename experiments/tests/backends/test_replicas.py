"""Threads that share a GPU: results, and the end of all threads after an early exit."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext

import pytest

from fake_trainer import result
from sepool_experiments.backends import RunOptions, replicas
from sepool_experiments.engine.launch_lock import LAUNCH_LOCK

NAME = f"{__name__}:"


def group_units(units):
    return [units[i : i + 2] for i in range(0, len(units), 2)]


def train(units, protocol, data_root, device, log, checkpoints):
    for unit in units:
        with LAUNCH_LOCK.launching():
            yield result(unit)


def train_for_ever(units, protocol, data_root, device, log, checkpoints):
    yield result(units[0])
    while True:
        with LAUNCH_LOCK.launching():
            time.sleep(0.001)


def fail(units, protocol, data_root, device, log, checkpoints):
    if any(unit.fold for unit in units):
        raise ArithmeticError("told to fail")
    yield from train_for_ever(units, protocol, data_root, device, log, checkpoints)


@pytest.fixture
def threaded(monkeypatch, units, protocol, tmp_path):
    """Run a trainer of this file in two threads, without a GPU."""
    monkeypatch.setattr(replicas, "_own_stream", lambda device, rank: nullcontext())

    def run(trainer):
        options = RunOptions(tmp_path, "cuda", workers=2, trainer=NAME + trainer.__name__)
        return replicas.run(units, protocol, options)

    before = set(threading.enumerate())
    yield run
    assert set(threading.enumerate()) <= before
    with LAUNCH_LOCK.launching():  # launches are allowed again
        pass


def test_run_yields_every_unit(threaded, units):
    assert {one.unit for one in threaded(train)} == set(units)


def test_close_ends_all_threads(threaded):
    running = threaded(train_for_ever)
    next(running)
    running.close()


def test_run_error_in_one_thread_ends_all(threaded, units):
    assert {unit.fold for unit in units} > {0}
    with pytest.raises(ArithmeticError, match="told to fail"):
        list(threaded(fail))


def test_own_stream_priorities_descend(monkeypatch):
    """PyTorch has four priorities; the lower, the earlier."""
    monkeypatch.setattr("torch.cuda.Stream", lambda device, priority: (device, priority))
    monkeypatch.setattr("torch.cuda.stream", lambda stream: stream)
    streams = [replicas._own_stream("cuda:1", rank) for rank in range(6)]
    assert streams == [("cuda:1", priority) for priority in (-3, -2, -1, 0, 0, 0)]
