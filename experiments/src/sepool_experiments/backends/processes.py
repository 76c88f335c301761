"""Training in a pool of processes, for any system; restarts after a killed worker."""

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
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit


def run(
    units: Sequence[Unit], protocol: Protocol, options: RunOptions
) -> Generator[Result, None, None]:
    """Train one unit at a time with one thread in every process.

    A dead worker breaks its pool: the running units, one a worker, restart in a new pool.
    """
    waiting = deque(units)
    crashes: Counter[Unit] = Counter()
    while waiting:
        lost: list[Unit] = []
        yield from _run_pool(waiting, lost, protocol, options)
        crashes.update(lost)
        if lost:
            options.log(f"a worker process died; {len(lost)} units restart")
        if failed := [unit for unit in lost if crashes[unit] > options.retries]:
            raise RuntimeError(
                f"a worker process died {options.retries + 1} times while it trained one of: "
                + "; ".join(map(str, failed))
            )
        waiting.extendleft(reversed(lost))


def _run_pool(
    waiting: deque[Unit], lost: list[Unit], protocol: Protocol, options: RunOptions
) -> Generator[Result, None, None]:
    """Train units from ``waiting``; after a crash, put the running ones into ``lost``."""
    running: dict[Future[Result], Unit] = {}
    context = multiprocessing.get_context("spawn")
    worker_end, owner_end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(options.workers, context, _start_worker, (worker_end,))
    try:
        while (waiting and not lost) or running:
            while waiting and not lost and len(running) < options.workers:
                unit = waiting.popleft()
                try:
                    place = (str(options.data_root), options.device, options.checkpoints)
                    task = pool.submit(train_alone, options.trainer, unit, protocol, *place)
                    running[task] = unit
                except BrokenProcessPool:
                    lost.append(unit)
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                unit = running.pop(done)
                try:
                    result = done.result()
                except BrokenProcessPool:
                    lost.append(unit)
                else:
                    yield result
    finally:
        owner_end.close()  # ends the workers, also after an error or an early exit
        pool.shutdown(wait=True, cancel_futures=True)
        worker_end.close()


def _start_worker(worker_end: Connection) -> None:
    """Limit a worker to one thread, and to the life of its owner."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read by torch at its import, which is later
    os.environ["MKL_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner handles Ctrl-C
    threading.Thread(target=_end_with_owner, args=(worker_end,), daemon=True).start()


def _end_with_owner(worker_end: Connection) -> None:
    """End the process when the owner closes the pipe, or is killed."""
    wait_for([worker_end])
    os._exit(1)
