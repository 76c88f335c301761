"""Training on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from itertools import islice
from typing import Any

from sepool.integrations.ray import connect
from sepool_experiments.backends import RunOptions, train_alone
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit


def run(
    units: Sequence[Unit], protocol: Protocol, options: RunOptions
) -> Generator[Result, None, None]:
    """Train a unit a Ray task; tasks share GPUs, and Ray repeats those of a dead node.

    Every machine needs sepool-experiments, and the data under the same path.
    """
    ray = connect(options.address, options.workers)
    on_gpu = options.device.startswith("cuda")
    # A task sees only its own GPU, as number 0.
    device = "cuda" if on_gpu else options.device
    task = ray.remote(
        num_cpus=1,
        num_gpus=options.gpu_share if on_gpu else 0,
        max_retries=options.retries,
    )(_train)
    rules, root = ray.put(protocol), str(options.data_root.resolve())
    waiting = iter(units)
    running: dict[Any, Unit] = {}
    # Twice the cores, so that no core waits for the driver.
    capacity = 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    try:
        while True:
            for unit in islice(waiting, capacity - len(running)):
                running[task.remote(options.trainer, unit, rules, root, device)] = unit
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                yield _get(ray, reference, running.pop(reference), options)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _train(trainer: str, unit: Unit, protocol: Protocol, root: str, device: str) -> Result:
    """Train one unit on one thread: tasks share the cores."""
    os.environ["OMP_NUM_THREADS"] = "1"
    return train_alone(trainer, unit, protocol, root, device)


def _get(ray: Any, reference: Any, unit: Unit, options: RunOptions) -> Result:
    try:
        result: Result = ray.get(reference)
    except ray.exceptions.WorkerCrashedError as error:
        raise RuntimeError(
            f"a worker died {options.retries + 1} times while it trained {unit}"
        ) from error
    return result
