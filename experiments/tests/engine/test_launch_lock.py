"""Many launch at a time, one records alone."""

from __future__ import annotations

import threading

import pytest

from sepool_experiments.engine.launch_lock import Gate, Stopped

WAIT = 10  # seconds, where something is expected to happen
SOON = 0.05  # where nothing is


def entering(enter, inside, leave):
    """A thread that goes in, says so, and stays until it may leave."""

    def work():
        with enter():
            inside.set()
            leave.wait(WAIT)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_many_may_launch():
    gate, inside, leave = Gate(), threading.Event(), threading.Event()
    thread = entering(gate.launching, inside, leave)
    assert inside.wait(WAIT)
    with gate.launching():
        leave.set()
    thread.join(WAIT)
    assert not thread.is_alive()


def test_who_records_is_alone():
    gate = Gate()
    launched, recorded, later, leave = (threading.Event() for _ in range(4))
    with gate.launching():
        recorder = entering(gate.recording, recorded, leave)
        assert not recorded.wait(SOON)  # one is launching
        launcher = entering(gate.launching, launched, later)
        assert not launched.wait(SOON)  # one wants to record, and comes first
    assert recorded.wait(WAIT)
    assert not launched.wait(SOON)
    leave.set()
    assert launched.wait(WAIT)
    later.set()
    for thread in (recorder, launcher):
        thread.join(WAIT)
        assert not thread.is_alive()


def test_an_error_inside_opens_the_gate_again():
    gate = Gate()
    for enter in (gate.launching, gate.recording):
        try:
            with enter():
                raise ValueError
        except ValueError:
            pass
    with gate.recording():
        pass


def test_a_closed_gate_turns_away_who_waits_and_who_comes():
    gate, turned = Gate(), []

    def wait():
        try:
            with gate.recording():
                pass
        except Stopped:
            turned.append(True)

    with gate.launching():
        waiter = threading.Thread(target=wait)
        waiter.start()
        gate.close()
        waiter.join(WAIT)
    assert turned == [True]
    for enter in (gate.launching, gate.recording):
        with pytest.raises(Stopped), enter():
            pass
    gate.open()
    for enter in (gate.launching, gate.recording):
        with enter():
            pass
