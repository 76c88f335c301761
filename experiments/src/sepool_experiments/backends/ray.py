"""Trains units on a Ray cluster, and builds trees of datasets too large for one machine."""

from __future__ import annotations

import os
import pickle
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sepool.build import coding_trees, core_options
from sepool.tree import CodingTree
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
        ray = _connect(options.address, options.workers)
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


def coding_trees_over_ray(
    graphs: Iterable[Any],
    height: int = 2,
    method: str = "best",
    *,
    seed: int = 0,
    batch_size: int = 1024,
    address: str = "",
    workers: int | None = None,
) -> Iterator[CodingTree]:
    """Finds the coding trees of a dataset with Ray Data, one `coding_trees` call a batch.

    Args:
        graphs: anything that `coding_trees` takes, or a Ray Dataset with a column ``graph``.
        height: see `coding_trees`, as for the other arguments.
        method: "best", "fast" or "paper".
        seed: orders what "best" tries.
        batch_size: graphs a call.
        address: of a Ray cluster; "" is a local one.
        workers: processes of a local one, all cores by default.

    Yields:
        The trees in the order of the graphs, equal to those of `coding_trees`.
    """
    core_options(height, method, seed, None, None)  # complain before anything starts
    data = _ray_data(address, workers or os.cpu_count() or 1)
    if isinstance(graphs, data.Dataset):
        dataset: Any = graphs
    else:
        # As bytes, which Ray leaves as they are; a plain list would become a column of numbers.
        dataset = data.from_items([{"graph": pickle.dumps(graph)} for graph in graphs])
    options = {"height": height, "method": method, "seed": seed}
    built = dataset.map_batches(
        _trees, batch_size=batch_size, batch_format="numpy", fn_kwargs=options
    )
    # A dataset copies the global settings when it is made, so only its own ones count; they may be
    # shared with the caller's dataset.
    order = built.context.execution_options
    before, order.preserve_order = order.preserve_order, True
    try:
        for row in built.iter_rows():
            yield row["tree"]
    finally:
        order.preserve_order = before


def _train(trainer: str, unit: Unit, protocol: Protocol, root: str, device: str) -> Result:
    """What a task does: one unit on one thread, because the tasks share the cores."""
    os.environ["OMP_NUM_THREADS"] = "1"
    return train_alone(trainer, unit, protocol, root, device)


def _trees(batch: dict[str, Any], height: int, method: str, seed: int) -> dict[str, Any]:
    """One batch of Ray Data: graphs in, trees out."""
    column = batch["graph"]
    graphs = [pickle.loads(graph) if isinstance(graph, bytes) else graph for graph in column]
    trees = coding_trees(graphs, height, method=method, seed=seed, num_threads=1)
    found = np.empty(len(trees), dtype=object)
    found[:] = list(trees)
    return {"tree": found}


def _connect(address: str, workers: int) -> Any:
    """Ray, connected to the cluster of the address, to a running one, or to a local one."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ValueError("the engine ray needs Ray: pip install 'sepool[ray]'") from error
    if not ray.is_initialized():
        if address or os.environ.get("RAY_ADDRESS"):
            ray.init(address=address or None, log_to_driver=False)
        else:
            ray.init(
                address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False
            )
    return ray


def _ray_data(address: str, workers: int) -> Any:
    _connect(address, workers)
    try:
        from ray import data
    except ModuleNotFoundError as error:
        raise ValueError(f"Ray Data needs {error.name}: pip install 'sepool[ray]'") from error
    return data


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
