"""Trains units on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from sepool.integrations.ray import connect
from sepool_experiments.backends import RunOptions, train_alone
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Result, Unit


class Ray:
    """An engine with one Ray task a unit, some of them to a GPU; Ray repeats what a dead node had.

    Every machine needs sepool and the data, under the same path.

    Example:
        >>> Ray().name
        'ray'
    """

    name = "ray"

    def run(
        self, units: Sequence[Unit], protocol: Protocol, options: RunOptions
    ) -> Generator[Result, None, None]:
        """Trains every unit once.

        Raises:
            RuntimeError: a unit took its worker down too often.
        """
        ray = connect(options.address, options.workers)
        on_gpu = options.device.startswith("cuda")
        # Ray shows a task only the GPU that it may use, whatever its number on the machine is.
        device = "cuda" if on_gpu else options.device
        task = ray.remote(
            num_cpus=1,
            num_gpus=options.gpu_share if on_gpu else 0,
            max_retries=options.retries,
        )(_train)
        rules, root = ray.put(protocol), str(options.data_root.resolve())
        waiting = iter(units)
        flying: dict[Any, Unit] = {}
        room = 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)  # nobody waits for the driver
        try:
            while True:
                for unit in _take(waiting, room - len(flying)):
                    flying[task.remote(options.trainer, unit, rules, root, device)] = unit
                if not flying:
                    return
                done, _ = ray.wait(list(flying), num_returns=1)
                for reference in done:
                    yield _get(ray, reference, flying.pop(reference), options)
        finally:
            for reference in flying:
                ray.cancel(reference, force=True)


def _train(trainer: str, unit: Unit, protocol: Protocol, root: str, device: str) -> Result:
    """What a task does: one unit on one thread, because the tasks share the cores."""
    os.environ["OMP_NUM_THREADS"] = "1"
    return train_alone(trainer, unit, protocol, root, device)


def _take(units: Iterator[Unit], count: int) -> Iterator[Unit]:
    for _, unit in zip(range(count), units, strict=False):
        yield unit


def _get(ray: Any, reference: Any, unit: Unit, options: RunOptions) -> Result:
    try:
        result: Result = ray.get(reference)
    except ray.exceptions.WorkerCrashedError as error:
        raise RuntimeError(
            f"a worker died {options.retries + 1} times while it trained {unit}"
        ) from error
    return result
