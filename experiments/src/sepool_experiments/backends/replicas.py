"""The engine that trains many units as one model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from typing import Any

from sepool_experiments.backends import RunOptions, load
from sepool_experiments.engine.launch_lock import GATE
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Result, Unit

GPU_WORKERS = 6
LAST = 3  # the thread from which on all are alike: PyTorch knows four priorities
PATIENCE = 30  # seconds to wait for a thread that was told to end


class Replicas:
    """Units that fit together train in lockstep, on one GPU or on the CPU.

    On a GPU a few threads share it, each with a group of units and a stream of its own: while one
    group waits for its last replicas, which leave the GPU nearly idle, others fill it. The first
    threads come first on the GPU: groups end one after another, and a run that is cut off loses
    little.
    """

    name = "replicas"

    def run(
        self, units: Sequence[Unit], protocol: Protocol, options: RunOptions
    ) -> Generator[Result, None, None]:
        """Trains every unit once; results come as trainings stop."""
        train = load(options.trainer)
        workers = min(options.workers, GPU_WORKERS) if options.device != "cpu" else 1
        if workers < 2:
            yield from train(units, protocol, options.data_root, options.device, options.say)
            return
        groups = load(options.trainer.partition(":")[0] + ":group_units")(units)
        tasks: queue.SimpleQueue[Sequence[Unit] | None] = queue.SimpleQueue()
        found: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
        for group in [*groups, *[None] * workers]:
            tasks.put(group)
        work = (tasks, found, protocol, options)
        threads = [
            threading.Thread(target=_work, args=(rank, *work), daemon=True)
            for rank in range(workers)
        ]
        for thread in threads:
            thread.start()
        try:
            while workers:
                message = found.get()
                if message is None:
                    workers -= 1
                elif isinstance(message, BaseException):
                    raise message
                else:
                    yield message
        finally:
            _end(threads)


def _end(threads: Sequence[threading.Thread]) -> None:
    """Ends threads after their epoch: Python cannot end cleanly while one is in a library."""
    GATE.close()
    for thread in threads:
        thread.join(PATIENCE)
    GATE.open()


def _work(rank: int, tasks: Any, found: Any, protocol: Protocol, options: RunOptions) -> None:
    """Trains groups until there are none left, or the gate is closed."""
    train = load(options.trainer)
    try:
        with _own_stream(options.device, rank):
            while (group := tasks.get()) is not None:
                for result in train(
                    group, protocol, options.data_root, options.device, options.say
                ):
                    found.put(result)
        found.put(None)
    except BaseException as error:
        found.put(error)


def _own_stream(device: str, rank: int) -> Any:
    if not device.startswith("cuda"):
        return nullcontext()
    import torch

    first = min(rank - LAST, 0)  # lower comes first
    return torch.cuda.stream(torch.cuda.Stream(device, priority=first))  # type: ignore[no-untyped-call]
