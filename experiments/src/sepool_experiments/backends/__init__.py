"""Engines: ways to train many units, behind one interface."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from sepool_experiments.protocols.catalog import Protocol, system_of
from sepool_experiments.protocols.units import Result, Unit

# By name instead of by class: an engine imports what it needs only where it is used.
ENGINES = {
    "replicas": "sepool_experiments.backends.replicas:Replicas",
    "processes": "sepool_experiments.backends.processes:Processes",
    "ray": "sepool_experiments.backends.ray:Ray",
}
Train = Callable[..., Iterable[Result]]


@dataclass(frozen=True)
class RunOptions:
    """How to train, as far as it does not change the results.

    Args:
        data_root: folder of the datasets.
        device: where to train, "cpu" or "cuda" or "cuda:1".
        workers: processes that train at the same time, where an engine uses processes.
        gpu_share: part of a GPU that one training takes, where an engine shares GPUs.
        retries: how often a unit may take its process down before the run ends.
        address: of a Ray cluster; "" is a local one.
        trainer: the function that trains, as "module:name"; for replicas its module also has a
            ``group_units``.
        say: told, a line at a time, what the user should know.
    """

    data_root: Path
    device: str = "cpu"
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    gpu_share: float = 0.1
    retries: int = 3
    address: str = ""
    trainer: str = "sepool_experiments.engine.trainer:train"
    say: Callable[[str], None] = print


class Engine(Interface):
    """Trains units, in any order, and hands out each result as soon as it is there."""

    name: str

    def run(
        self, units: Sequence[Unit], protocol: Protocol, options: RunOptions
    ) -> Generator[Result, None, None]:
        """Trains every unit once.

        Args:
            units: what to train.
            protocol: the rules to train by.
            options: where and how.
        """
        ...


def load(name: str) -> Any:
    """What "module:name" stands for.

    >>> load("math:sqrt")(9.0)
    3.0
    """
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def engine(name: str) -> Engine:
    """The engine of a name.

    Raises:
        ValueError: there is none, or what it needs is not installed.
    """
    if name not in ENGINES:
        raise ValueError(f"engine must be auto, {', '.join(ENGINES)}, got {name!r}")
    if name == "ray" and find_spec("ray") is None:
        raise ValueError("the engine ray needs Ray: pip install 'sepool[ray]'")
    made: Engine = load(ENGINES[name])()
    return made


def choose(name: str, units: Sequence[Unit]) -> list[tuple[Engine, list[Unit]]]:
    """Deals units to engines.

    Args:
        name: of an engine, or "auto": replicas for what can train in lockstep, processes for the
            rest.
        units: what to train.

    Raises:
        ValueError: there is no such engine, or it cannot train one of the systems.

    Example:
        >>> choose("replicas", [])
        []
        >>> choose("magic", [])
        Traceback (most recent call last):
        ValueError: engine must be auto, replicas, processes, ray, got 'magic'
    """
    if name != "auto" and name not in ENGINES:
        raise ValueError(f"engine must be auto, {', '.join(ENGINES)}, got {name!r}")
    dealt: dict[str, list[Unit]] = {}
    for unit in units:
        lockstep = system_of(unit).lockstep
        if name == "replicas" and not lockstep:
            raise ValueError(
                f"{unit.system} does not train in lockstep; use --engine processes or auto"
            )
        taken = name if name != "auto" else "replicas" if lockstep else "processes"
        dealt.setdefault(taken, []).append(unit)
    return [(engine(taken), some) for taken, some in dealt.items()]


def train_alone(trainer: str, unit: Unit, protocol: Protocol, root: str, device: str) -> Result:
    """Trains one unit by itself; what a worker process of any engine runs."""
    train: Train = load(trainer)
    (result,) = train([unit], protocol, Path(root), device)
    return result
