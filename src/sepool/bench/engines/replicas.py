"""The engine that trains many units as one model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from sepool.bench.engines import RunOptions, load
from sepool.bench.protocols import Protocol
from sepool.bench.units import Result, Unit

GPU_WORKERS = 6


class Replicas:
    """Units that fit together train in lockstep, on one GPU or on the CPU.

    On a GPU a few threads share it, each with a group of units and a stream of its own: while one
    group waits for its last replicas, which leave the GPU nearly idle, others fill it.
    """

    name = "replicas"

    def run(
        self, units: Sequence[Unit], protocol: Protocol, options: RunOptions
    ) -> Iterator[Result]:
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
        stop = threading.Event()
        for _ in range(workers):
            work = (tasks, found, protocol, options, stop)
            threading.Thread(target=_work, args=work, daemon=True).start()
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
            stop.set()


def _work(
    tasks: Any, found: Any, protocol: Protocol, options: RunOptions, stop: threading.Event
) -> None:
    """Trains groups until there are none left, or somebody wants to stop."""
    train = load(options.trainer)
    try:
        with _own_stream(options.device):
            while (group := tasks.get()) is not None:
                for result in train(
                    group, protocol, options.data_root, options.device, options.say
                ):
                    found.put(result)
                    if stop.is_set():
                        return
        found.put(None)
    except BaseException as error:
        found.put(error)


def _own_stream(device: str) -> Any:
    if not device.startswith("cuda"):
        return nullcontext()
    import torch

    return torch.cuda.stream(torch.cuda.Stream(device))  # type: ignore[no-untyped-call]
