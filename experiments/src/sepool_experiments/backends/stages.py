"""Trainings of a protocol with a progress display: all at once, or a search and then its choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sepool.cli.options import counted
from sepool_experiments.backends import RunOptions, assign_units
from sepool_experiments.backends.progress import watch
from sepool_experiments.backends.run import Plan, run
from sepool_experiments.data.checks import check_datasets
from sepool_experiments.protocols.longrange import LongRange
from sepool_experiments.protocols.protocol import Protocol
from sepool_experiments.protocols.units import Unit
from sepool_experiments.results.choice import final_units
from sepool_experiments.results.rows import Rows

TASK_TRAINER = "sepool_experiments.engine.single:train"


def run_stages(
    protocol: Protocol, units: Sequence[Unit], out: Path, options: RunOptions, backend: str
) -> Plan:
    """Train the unfinished units, in a protocol with a search those of the search first.

    Returns:
        All units that belong to the run, and those that were trained now.
    """
    if not isinstance(protocol, LongRange):
        plan = Plan.of(protocol, units, out)
        _train(plan, options, backend)
        return plan
    options = replace(options, trainer=TASK_TRAINER)
    search = Plan.of(protocol, protocol.searched(units), out)
    _train(search, options, backend)
    final = Plan.of(protocol, final_units(protocol, units, Rows.read(out)), out)
    _train(final, options, backend)
    together = dict.fromkeys((*search.units, *final.units))
    return Plan(protocol, tuple(together), (*search.todo, *final.todo), out)


def log_finished(plan: Plan, log: Callable[[str], None]) -> None:
    """Log the number of units that are finished already, if there are any."""
    if finished := len(plan.units) - len(plan.todo):
        total, verb = counted(len(plan.units), "training"), "is" if finished == 1 else "are"
        log(f"{finished:,} of {total} {verb} in {plan.out / plan.protocol.name} already")


def _train(plan: Plan, options: RunOptions, backend: str) -> None:
    """Check the data of the unfinished units, and train them."""
    assign_units(backend, plan.todo)
    fingerprints = check_datasets(options.data_root, plan.protocol, plan.todo)
    log_finished(plan, options.log)
    if plan.todo:
        with watch(plan.todo) as reporter:
            logged = replace(options, log=reporter.log)
            run(plan, logged, backend, reporter.add, fingerprints)
