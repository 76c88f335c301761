"""Backends that run units: lockstep replicas, a pool of processes, Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol as Interface

from sepool_experiments.models.catalog import system_of
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit

# By name, because the modules import torch or Ray.
BACKENDS = {
    "replicas": "sepool_experiments.backends.replicas:Replicas",
    "processes": "sepool_experiments.backends.processes:Processes",
    "ray": "sepool_experiments.backends.ray:Ray",
}
NO_RAY = "the backend ray needs Ray: pip install 'sepool-experiments[ray]'"
Train = Callable[..., Iterable[Result]]


@dataclass(frozen=True)
class RunOptions:
    """Options of a run that do not change its results.

    Args:
        data_root: folder of the datasets.
        device: device to train on, "cpu", "cuda" or "cuda:1".
        workers: number of worker processes, or of threads on one GPU.
        gpu_share: fraction of a GPU per training, for backends that share GPUs.
        retries: crashes of its process that a unit survives.
        address: address of a Ray cluster; "" for a local one.
        trainer: the training function as "module:name"; for replicas its module also has a
            function ``group_units``.
        log: callback for progress messages.
    """

    data_root: Path
    device: str = "cpu"
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    gpu_share: float = 0.1
    retries: int = 3
    address: str = ""
    trainer: str = "sepool_experiments.engine.trainer:train"
    log: Callable[[str], None] = print


class Backend(Interface):
    """Trains units in any order and yields each result as soon as it is complete."""

    name: str

    def run(
        self, units: Sequence[Unit], protocol: Protocol, options: RunOptions
    ) -> Generator[Result, None, None]:
        """Train every unit once."""
        ...


def make_backend(name: str) -> Backend:
    """Return the backend of a name."""
    _check_name(name)
    if name == "ray" and find_spec("ray") is None:
        raise ValueError(NO_RAY)
    backend: Backend = resolve_name(BACKENDS[name])()
    return backend


def assign_units(name: str, units: Sequence[Unit]) -> list[tuple[Backend, list[Unit]]]:
    """Assign units to backends.

    Example:
        >>> assign_units("replicas", [])
        []
        >>> assign_units("magic", [])
        Traceback (most recent call last):
        ValueError: backend must be auto, replicas, processes, ray, got 'magic'
    """
    if name != "auto":
        _check_name(name)
    assigned: dict[str, list[Unit]] = {}
    for unit in units:
        lockstep = system_of(unit).lockstep
        if name == "replicas" and not lockstep:
            raise ValueError(
                f"{unit.system} does not train in lockstep; use --backend processes or auto"
            )
        backend = name if name != "auto" else "replicas" if lockstep else "processes"
        assigned.setdefault(backend, []).append(unit)
    return [(make_backend(backend), part) for backend, part in assigned.items()]


def _check_name(name: str) -> None:
    if name not in BACKENDS:
        raise ValueError(f"backend must be auto, {', '.join(BACKENDS)}, got {name!r}")


def train_alone(trainer: str, unit: Unit, protocol: Protocol, root: str, device: str) -> Result:
    """Train one unit by itself, in a worker process of any backend."""
    train: Train = resolve_name(trainer)
    (result,) = train([unit], protocol, Path(root), device)
    return result
