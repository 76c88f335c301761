"""Runs of a protocol: finished units are skipped, every result is stored at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import sepool
from sepool_experiments.backends import RunOptions, assign_units
from sepool_experiments.engine.checkpoint import Checkpoints
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Result, Unit
from sepool_experiments.results.database import Writer
from sepool_experiments.results.rows import check_same_data, finished
from sepool_experiments.results.run_info import RunInfo


@dataclass(frozen=True)
class Plan:
    """Units of a protocol to train.

    Args:
        protocol: rules of the trainings.
        units: all units.
        todo: those that are not finished yet.
        out: folder of all results.
        finished: keys of all units with a row.
    """

    protocol: Protocol
    units: tuple[Unit, ...]
    todo: tuple[Unit, ...]
    out: Path
    finished: frozenset[str] = frozenset()

    @classmethod
    def of(cls, protocol: Protocol, units: Sequence[Unit], out: Path) -> Plan:
        """Compare units with the results of a folder.

        Raises:
            ValueError: the results were made by other rules.
        """
        done = finished(out, protocol)
        todo = tuple(unit for unit in units if unit.key not in done)
        return cls(protocol, tuple(units), todo, out, frozenset(done))


def run(
    plan: Plan,
    options: RunOptions,
    engine: str = "auto",
    on_result: Callable[[Result], None] = lambda result: None,
    data: Mapping[str, str] | None = None,
) -> int:
    """Train the unfinished units of a plan.

    Args:
        plan: units and folder.
        options: device, workers and data.
        engine: name of an engine, "auto" for the best that a system can use.
        on_result: called with every result after it was stored.
        data: mark of every dataset, from `sepool_experiments.data.checks.check_datasets`; datasets
            without a mark are not recorded.

    Returns:
        The number of units that were trained.

    Raises:
        ValueError: no such engine, or another process writes to the same protocol, or the
            folder holds results of other data.
        RuntimeError: the engine left units out.
    """
    check_same_data(plan.out, plan.protocol, data or {})
    options = replace(options, checkpoints=checkpoints_of(plan, options.device, data or {}))
    done = 0
    for name, train, units in assign_units(engine, plan.todo):
        info = RunInfo.now(plan.protocol, device_name(options.device), name)
        missing = {unit.key for unit in units}
        running = train(units, plan.protocol, options)
        with Writer(plan.out, plan.protocol, info, data) as writer, closing(running):
            for result in running:
                writer.add(result)
                missing.discard(result.unit.key)
                done += 1
                on_result(result)
        if missing:
            raise RuntimeError(f"the engine {name} left out {len(missing)} units")
    return done


def checkpoints_of(plan: Plan, device: str, data: Mapping[str, str]) -> Checkpoints:
    """Return the checkpoints beside the rows of a plan."""
    rules = (plan.protocol.digest, sepool.__version__, metadata.version("torch"))
    marks = {
        name: " ".join([*rules, device.partition(":")[0], data.get(name, "")])
        for name in {unit.dataset for unit in plan.units}
    }
    return Checkpoints(plan.out / plan.protocol.name, marks, plan.finished)


def device_name(device: str) -> str:
    """Return the name of a device, for the rows."""
    if device == "cpu":
        return device
    import torch

    return f"{device} {torch.cuda.get_device_name(device)}"
