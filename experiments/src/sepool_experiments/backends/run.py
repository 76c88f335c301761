"""Runs a protocol: what is finished is skipped, every result is written as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sepool_experiments.backends import RunOptions, choose
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Result, Unit
from sepool_experiments.results.database import Writer
from sepool_experiments.results.rows import check_same_data, finished
from sepool_experiments.results.run_info import RunInfo


@dataclass(frozen=True)
class Plan:
    """What there is to train.

    Args:
        protocol: the rules to train by.
        units: everything that was asked for.
        todo: the part that is not finished yet.
        out: folder of all results.
    """

    protocol: Protocol
    units: tuple[Unit, ...]
    todo: tuple[Unit, ...]
    out: Path

    @classmethod
    def of(cls, protocol: Protocol, units: Sequence[Unit], out: Path) -> Plan:
        """Compares what was asked for with what is in the results.

        Raises:
            ValueError: the results were made by other rules.
        """
        done = finished(out, protocol)
        return cls(protocol, tuple(units), tuple(u for u in units if u.key not in done), out)


def run(
    plan: Plan,
    options: RunOptions,
    engine: str = "auto",
    seen: Callable[[Result], None] = lambda result: None,
    data: Mapping[str, str] | None = None,
) -> int:
    """Trains what is left of a plan.

    Args:
        plan: what to train and where to write.
        options: how to train.
        engine: name of an engine, "auto" for the best that a system can use.
        seen: told every result after it was written.
        data: for every dataset the mark of what is trained on, from
            `sepool_experiments.data.checks.check_datasets`; one that is missing is not written down.

    Returns:
        The number of units that were trained.

    Raises:
        ValueError: no such engine, or another process writes to the same files, or they hold
            results of other data.
        RuntimeError: the engine left units out.
    """
    check_same_data(plan.out, plan.protocol, data or {})
    done = 0
    for chosen, units in choose(engine, plan.todo):
        info = RunInfo.now(plan.protocol, device_name(options.device), chosen.name)
        missing = {unit.key for unit in units}
        running = chosen.run(units, plan.protocol, options)
        with Writer(plan.out, plan.protocol, info, data) as writer, closing(running):
            for result in running:
                writer.add(result)
                missing.discard(result.unit.key)
                done += 1
                seen(result)
        if missing:
            raise RuntimeError(f"the engine {chosen.name} left out {len(missing)} units")
    return done


def device_name(device: str) -> str:
    """A device in words, for the rows.

    >>> device_name("cpu")
    'cpu'
    """
    if device == "cpu":
        return device
    import torch

    return f"{device} {torch.cuda.get_device_name(device)}"
