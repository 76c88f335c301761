"""Who may launch work on a GPU that threads share: many at a time, but nobody while one records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopped(Exception):
    """Nobody is let in any more: the training is to end here."""


class Gate:
    """Many may be inside to launch, or one to record; who wants to record is let in first.

    Recorded steps may be played at any time: they need no gate.

    Example:
        >>> gate = Gate()
        >>> with gate.launching(), gate.launching():
        ...     pass
        >>> with gate.recording():
        ...     pass
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._launching = self._waiting = 0
        self._recording = self._closed = False

    def close(self) -> None:
        """Whoever wants in from now on gets `Stopped` instead."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def open(self) -> None:
        """Ends what `close` began."""
        with self._changed:
            self._closed = False

    @contextmanager
    def launching(self) -> Iterator[None]:
        """Inside, kernels may be launched and memory taken."""
        with self._changed:
            self._wait_until(lambda: not self._recording and not self._waiting)
            self._launching += 1
        try:
            yield
        finally:
            with self._changed:
                self._launching -= 1
                self._changed.notify_all()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Inside, one may record, and nobody launches."""
        with self._changed:
            self._waiting += 1
            try:
                self._wait_until(lambda: not self._recording and not self._launching)
            finally:
                self._waiting -= 1
            self._recording = True
        try:
            yield
        finally:
            with self._changed:
                self._recording = False
                self._changed.notify_all()

    def _wait_until(self, free: Callable[[], bool]) -> None:
        self._changed.wait_for(lambda: self._closed or free())
        if self._closed:
            raise Stopped


GATE = Gate()
