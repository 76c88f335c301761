"""Coding trees over Ray, for datasets too large for one machine."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sepool.build import coding_trees, core_options
from sepool.extras import needs
from sepool.tree import CodingTree


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
    """Build the coding trees of many graphs with Ray Data, one `sepool.coding_trees` call a batch.

    Args:
        graphs: anything that `sepool.coding_trees` takes, or a Ray Dataset with a column ``graph``.
        height: as in `sepool.coding_trees`.
        method: "best", "fast" or "paper".
        seed: of the search of "best".
        batch_size: graphs a call.
        address: of a Ray cluster; "" starts a local one, unless one is running.
        workers: processes of a local one, all cores by default.

    Yields:
        The trees in the order of the graphs, equal to those of `sepool.coding_trees`.

    Raises:
        sepool.extras.MissingPackage: Ray Data is not installed.
    """
    core_options(height, method, seed, None, None)  # before anything starts
    connect(address, workers or os.cpu_count() or 1)
    with needs("ray", "sepool.integrations.ray"):
        from ray import data
    if isinstance(graphs, data.Dataset):
        dataset: Any = graphs
    else:
        # Ray leaves bytes as they are; a list of pairs would become a column of numbers.
        dataset = data.from_items([{"graph": pickle.dumps(graph)} for graph in graphs])
    options = {"height": height, "method": method, "seed": seed}
    built = dataset.map_batches(
        _build_batch, batch_size=batch_size, batch_format="numpy", fn_kwargs=options
    )
    # A dataset copies the global settings when it is made, so only its own ones count; they may be
    # shared with the caller's dataset.
    execution = built.context.execution_options
    before, execution.preserve_order = execution.preserve_order, True
    try:
        for row in built.iter_rows():
            yield row["tree"]
    finally:
        execution.preserve_order = before


def connect(address: str, workers: int) -> Any:
    """Connect to a cluster, by default a running one, that of ``RAY_ADDRESS``, or a local one."""
    with needs("ray", "sepool.integrations.ray"):
        import ray
    if not ray.is_initialized():
        if address or os.environ.get("RAY_ADDRESS"):
            ray.init(address=address or None, log_to_driver=False)
        else:
            ray.init(
                address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False
            )
    return ray


def _build_batch(batch: dict[str, Any], height: int, method: str, seed: int) -> dict[str, Any]:
    """Return the trees of a batch of Ray Data, on one thread: the tasks share the cores."""
    column = batch["graph"]
    graphs = [pickle.loads(graph) if isinstance(graph, bytes) else graph for graph in column]
    trees = coding_trees(graphs, height, method=method, seed=seed, num_threads=1)
    column_of_trees = np.empty(len(trees), dtype=object)
    column_of_trees[:] = list(trees)
    return {"tree": column_of_trees}
