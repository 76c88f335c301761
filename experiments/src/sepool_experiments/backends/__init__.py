"""Backends that run units: lockstep replicas, a pool of processes, Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

from sepool.extras import install_command
from sepool_experiments.engine.checkpoint import Checkpoints
from sepool_experiments.models.catalog import system_of
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Result, Unit

BACKENDS = ("replicas", "processes", "ray")
Run = Callable[..., Generator[Result, None, None]]


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
        checkpoints: of interrupted groups of trainings.
    """

    data_root: Path
    device: str = "cpu"
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    gpu_share: float = 0.1
    retries: int = 3
    address: str = ""
    trainer: str = "sepool_experiments.engine.trainer:train"
    log: Callable[[str], None] = print
    checkpoints: Checkpoints = field(default_factory=Checkpoints)


def load_backend(name: str) -> Run:
    """Return the function of a backend, which trains units in any order and yields each result.

    The modules import torch or Ray.
    """
    if name == "ray" and find_spec("ray") is None:
        command = install_command("sepool-experiments[ray]")
        raise ValueError(f"the backend ray needs Ray: {command}")
    run: Run = resolve_name(f"sepool_experiments.backends.{name}:run")
    return run


def assign_units(name: str, units: Sequence[Unit]) -> list[tuple[str, Run, list[Unit]]]:
    """Assign units to backends, by default to replicas if they train in lockstep, or processes.

    >>> assign_units("magic", [])
    Traceback (most recent call last):
    ValueError: backend must be auto, replicas, processes, ray, got 'magic'
    """
    if name not in ("auto", *BACKENDS):
        raise ValueError(f"backend must be auto, {', '.join(BACKENDS)}, got {name!r}")
    assigned: dict[str, list[Unit]] = {}
    for unit in units:
        lockstep = system_of(unit).lockstep
        if name == "replicas" and not lockstep:
            raise ValueError(
                f"{unit.system} does not train in lockstep; use --backend processes or auto"
            )
        backend = name if name != "auto" else "replicas" if lockstep else "processes"
        assigned.setdefault(backend, []).append(unit)
    return [(backend, load_backend(backend), part) for backend, part in assigned.items()]


def train_alone(
    trainer: str,
    unit: Unit,
    protocol: Protocol,
    root: str,
    device: str,
    checkpoints: Checkpoints | None = None,
) -> Result:
    """Train one unit by itself, in a worker process of any backend."""
    options = {} if checkpoints is None else {"checkpoints": checkpoints}
    result: Result
    (result,) = resolve_name(trainer)([unit], protocol, Path(root), device, **options)
    return result
