"""Trains units in a pool of processes: works for any system, and outlives a killed worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for

from sepool_experiments.backends import RunOptions, train_alone
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Result, Unit


class Processes:
    """An engine with one thread a process and one unit at a time a process.

    When a worker dies, its pool goes with it: the units in flight, one a worker, start again in a
    new pool.

    Example:
        >>> Processes().name
        'processes'
    """

    name = "processes"

    def run(
        self, units: Sequence[Unit], protocol: Protocol, options: RunOptions
    ) -> Generator[Result, None, None]:
        """Trains every unit once.

        Raises:
            RuntimeError: a unit was in flight too often when a worker died.
        """
        waiting = deque(units)
        deaths: Counter[Unit] = Counter()
        while waiting:
            lost: list[Unit] = []
            yield from self._until_a_death(waiting, lost, protocol, options)
            deaths.update(lost)
            if lost:
                options.say(f"a worker process died; {len(lost)} units start again")
            if hopeless := [unit for unit in lost if deaths[unit] > options.retries]:
                raise RuntimeError(
                    f"a worker process died {options.retries + 1} times while it trained one of: "
                    + "; ".join(map(str, hopeless))
                )
            waiting.extendleft(reversed(lost))

    def _until_a_death(
        self, waiting: deque[Unit], lost: list[Unit], protocol: Protocol, options: RunOptions
    ) -> Generator[Result, None, None]:
        """Takes units off ``waiting`` until none is left or a worker dies, with units ``lost``."""
        flying: dict[Future[Result], Unit] = {}
        context = multiprocessing.get_context("spawn")
        leash, hand = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(options.workers, context, _start_worker, (leash,))
        try:
            while (waiting and not lost) or flying:
                while waiting and not lost and len(flying) < options.workers:
                    unit = waiting.popleft()
                    try:
                        future = pool.submit(train_alone, *_arguments(unit, protocol, options))
                        flying[future] = unit
                    except BrokenProcessPool:
                        lost.append(unit)
                for done in wait(flying, return_when=FIRST_COMPLETED).done:
                    unit = flying.pop(done)
                    try:
                        result = done.result()
                    except BrokenProcessPool:
                        lost.append(unit)
                    else:
                        yield result
        finally:
            hand.close()  # nobody wants what is in flight if a training failed or the caller left
            pool.shutdown(wait=True, cancel_futures=True)
            leash.close()


def _arguments(
    unit: Unit, protocol: Protocol, options: RunOptions
) -> tuple[str, Unit, Protocol, str, str]:
    return options.trainer, unit, protocol, str(options.data_root), options.device


def _start_worker(leash: Connection) -> None:
    """One thread a worker, and no worker without an owner."""
    os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it when it is imported, which is later
    os.environ["MKL_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to answer, in one line
    threading.Thread(target=_end_with_owner, args=(leash,), daemon=True).start()


def _end_with_owner(leash: Connection) -> None:
    """Ends the process when the other end is let go, which a killed owner does as well."""
    wait_for([leash])
    os._exit(1)
