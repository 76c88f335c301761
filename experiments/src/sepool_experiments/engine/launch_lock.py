"""Lock for a GPU shared by threads: many may launch kernels, or one may capture a CUDA graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class ShutDown(Exception):
    """Raised in threads that acquire the lock after training was shut down."""


class LaunchLock:
    """A shared lock for launches and an exclusive one for captures, which have priority.

    Captured steps may be replayed at any time without the lock.

    Example:
        >>> lock = LaunchLock()
        >>> with lock.launching(), lock.launching():
        ...     pass
        >>> with lock.capturing():
        ...     pass
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._launching = self._waiting = 0
        self._capturing = self._closed = False

    def close(self) -> None:
        """Raise `ShutDown` in all threads that acquire the lock from now on."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def open(self) -> None:
        """Undo `close`."""
        with self._changed:
            self._closed = False

    @contextmanager
    def launching(self) -> Iterator[None]:
        """Hold the shared lock: launch kernels and allocate memory."""
        with self._changed:
            self._wait_until(lambda: not self._capturing and not self._waiting)
            self._launching += 1
        try:
            yield
        finally:
            with self._changed:
                self._launching -= 1
                self._changed.notify_all()

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Hold the exclusive lock: capture a CUDA graph."""
        with self._changed:
            self._waiting += 1
            try:
                self._wait_until(lambda: not self._capturing and not self._launching)
            finally:
                self._waiting -= 1
            self._capturing = True
        try:
            yield
        finally:
            with self._changed:
                self._capturing = False
                self._changed.notify_all()

    def _wait_until(self, free: Callable[[], bool]) -> None:
        self._changed.wait_for(lambda: self._closed or free())
        if self._closed:
            raise ShutDown


LAUNCH_LOCK = LaunchLock()
