"""Shared launches and exclusive captures."""

from __future__ import annotations

import threading

import pytest

from sepool_experiments.engine.launch_lock import LaunchLock, ShutDown

WAIT = 10  # seconds to wait for an event
SOON = 0.05  # seconds without an event


def entering(enter, inside, leave):
    """Start a thread that holds the lock until `leave` is set."""

    def work():
        with enter():
            inside.set()
            leave.wait(WAIT)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_launching_is_shared():
    lock, inside, leave = LaunchLock(), threading.Event(), threading.Event()
    thread = entering(lock.launching, inside, leave)
    assert inside.wait(WAIT)
    with lock.launching():
        leave.set()
    thread.join(WAIT)
    assert not thread.is_alive()


def test_capturing_is_exclusive_and_has_priority():
    lock = LaunchLock()
    launched, captured, later, leave = (threading.Event() for _ in range(4))
    with lock.launching():
        capturer = entering(lock.capturing, captured, leave)
        assert not captured.wait(SOON)  # one is launching
        launcher = entering(lock.launching, launched, later)
        assert not launched.wait(SOON)  # a capture waits and has priority
    assert captured.wait(WAIT)
    assert not launched.wait(SOON)
    leave.set()
    assert launched.wait(WAIT)
    later.set()
    for thread in (capturer, launcher):
        thread.join(WAIT)
        assert not thread.is_alive()


def test_error_releases_the_lock():
    lock = LaunchLock()
    for enter in (lock.launching, lock.capturing):
        try:
            with enter():
                raise ValueError
        except ValueError:
            pass
    with lock.capturing():
        pass


def test_a_closed_lock_turns_away_who_waits_and_who_comes():
    lock, turned = LaunchLock(), []

    def wait():
        try:
            with lock.capturing():
                pass
        except ShutDown:
            turned.append(True)

    with lock.launching():
        waiter = threading.Thread(target=wait)
        waiter.start()
        lock.close()
        waiter.join(WAIT)
    assert turned == [True]
    for enter in (lock.launching, lock.capturing):
        with pytest.raises(ShutDown), enter():
            pass
    lock.open()
    for enter in (lock.launching, lock.capturing):
        with enter():
            pass
