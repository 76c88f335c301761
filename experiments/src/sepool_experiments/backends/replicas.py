"""Training of many units as one model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from pkgutil import resolve_name
from typing import Any

from sepool_experiments.backends import RunOptions
from sepool_experiments.engine.launch_lock import LAUNCH_LOCK
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit

GPU_WORKERS = 6
LOWEST = 3  # first thread of the lowest of PyTorch's four stream priorities
PATIENCE = 30  # seconds to wait for the end of a thread


def run(
    units: Sequence[Unit], protocol: Protocol, options: RunOptions
) -> Generator[Result, None, None]:
    """Train units of one shape in lockstep, on one GPU or on the CPU.

    A few threads share a GPU, each with a group of units and a CUDA stream: the last replicas of a
    group leave the GPU nearly idle, and other groups fill it. Streams have descending priorities,
    so that groups end one after another and an interrupted run loses little.
    """
    train = resolve_name(options.trainer)
    workers = min(options.workers, GPU_WORKERS) if options.device != "cpu" else 1
    if workers < 2:
        yield from _train(train, units, protocol, options)
        return
    groups = resolve_name(options.trainer.partition(":")[0] + ":group_units")(units)
    tasks: queue.SimpleQueue[Sequence[Unit] | None] = queue.SimpleQueue()
    messages: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
    for group in [*groups, *[None] * workers]:
        tasks.put(group)
    work = (tasks, messages, protocol, options)
    threads = [
        threading.Thread(target=_work, args=(rank, *work), daemon=True) for rank in range(workers)
    ]
    for thread in threads:
        thread.start()
    try:
        while workers:
            message = messages.get()
            if message is None:
                workers -= 1
            elif isinstance(message, BaseException):
                raise message
            else:
                yield message
    finally:
        _end(threads)


def _end(threads: Sequence[threading.Thread]) -> None:
    """End threads after their epoch: Python cannot exit while one is in a library call."""
    LAUNCH_LOCK.close()
    for thread in threads:
        thread.join(PATIENCE)
    LAUNCH_LOCK.open()


def _work(rank: int, tasks: Any, messages: Any, protocol: Protocol, options: RunOptions) -> None:
    """Train groups until none is left, or the training is shut down."""
    train = resolve_name(options.trainer)
    try:
        with _own_stream(options.device, rank):
            while (group := tasks.get()) is not None:
                for result in _train(train, group, protocol, options):
                    messages.put(result)
        messages.put(None)
    except BaseException as error:
        messages.put(error)


def _train(
    train: Any, units: Sequence[Unit], protocol: Protocol, options: RunOptions
) -> Iterator[Result]:
    """Train units with the options that trainers have."""
    results: Iterator[Result] = train(
        units,
        protocol,
        options.data_root,
        options.device,
        options.log,
        checkpoints=options.checkpoints,
    )
    return results


def _own_stream(device: str, rank: int) -> Any:
    if not device.startswith("cuda"):
        return nullcontext()
    import torch

    priority = min(rank - LOWEST, 0)  # the lower, the earlier
    return torch.cuda.stream(torch.cuda.Stream(device, priority=priority))  # type: ignore[no-untyped-call]
