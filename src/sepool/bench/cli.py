"""The commands ``reproduce``, ``report`` and ``list``.

Only light modules are imported up here, because ``sepool --help`` comes by: a command imports what
it needs when it runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sepool.bench.protocols import DATASETS, PROTOCOLS, SYSTEMS_OF, TREES, Protocol
from sepool.errors import one_line_errors
from sepool.studies.protocols import FIGURES, Figure

if TYPE_CHECKING:
    from sepool.bench.engines import RunOptions
    from sepool.bench.run import Plan
    from sepool.bench.units import Unit

Table = Annotated[str, typer.Argument(help="A protocol: see `sepool list protocols`.")]
Datasets = Annotated[str, typer.Option(help="Names with commas; all of the table by default.")]
Systems = Annotated[str, typer.Option(help="Names with commas; all of the table by default.")]
Trees = Annotated[str, typer.Option(help=f"What SEP pools along: {', '.join(TREES)}.")]
Seeds = Annotated[str, typer.Option(help="How many (10), or which (0,4-6).")]
Folds = Annotated[str, typer.Option(help="How many (10), or which (0,4-6).")]
Configs = Annotated[str, typer.Option(help="How many of the grid, or which (0,4-6).")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1.")]
EngineName = Annotated[str, typer.Option("--engine", help="auto, replicas, processes, ray.")]
Out = Annotated[Path, typer.Option(help="Folder of the results; a run goes on where it stopped.")]
Data = Annotated[Path, typer.Option(help="Folder of the datasets.", envvar="SEPOOL_DATA")]
Workers = Annotated[int, typer.Option(help="Processes that train; all cores by default.", min=0)]
GpuShare = Annotated[float, typer.Option(help="Part of a GPU a training takes (ray).", min=0)]
Address = Annotated[str, typer.Option(help="Address of a Ray cluster (ray).")]
Quick = Annotated[bool, typer.Option("--quick", help="A few minutes on a laptop.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Against = Annotated[str, typer.Option(help="'paper': compare with the published figures.")]
Results = Annotated[Path, typer.Option(help="Folder of the results.")]
ReportOut = Annotated[Path, typer.Option("--out", help="Folder for tables and plots.")]
What = Annotated[str, typer.Argument(help="systems, datasets or protocols.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to an app."""
    app.command()(reproduce)
    app.command()(report)
    app.command("list")(list_)


def reproduce(
    table: Table,
    datasets: Datasets = "",
    systems: Systems = "",
    trees: Trees = "",
    seeds: Seeds = "",
    folds: Folds = "",
    configs: Configs = "",
    device: Device = "auto",
    engine: EngineName = "auto",
    out: Out = Path("results"),
    data: Data = Path("data"),
    workers: Workers = 0,
    gpu_share: GpuShare = 0.1,
    address: Address = "",
    quick: Quick = False,
    debug: Debug = False,
) -> None:
    """Train what a table or figure of the paper is made of; started again, it goes on."""
    with _one_line_errors(debug):
        from sepool.bench import checks, engines
        from sepool.bench.run import Plan

        protocol = _protocol(table, quick)
        units = _units(protocol, (datasets, systems, trees), (seeds, folds, configs))
        if isinstance(protocol, Figure):
            from sepool.studies.run import reproduce as reproduce_figure

            reproduce_figure(protocol, units, out, data, device)
            return
        plan = Plan.of(protocol, units, out)
        engines.choose(engine, plan.todo)
        options = engines.RunOptions(
            data_root=data,
            device=checks.check_device(device),
            workers=workers or os.cpu_count() or 1,
            gpu_share=gpu_share,
            address=address,
        )
        for dataset in dict.fromkeys(unit.dataset for unit in plan.todo):
            mine = [unit for unit in plan.todo if unit.dataset == dataset]
            if protocol.kind == "nodes":
                checks.check_node_data(data, dataset, mine)
            else:
                needed = dict.fromkeys(unit.tree for unit in mine)
                checks.check_data(data, dataset, needed, protocol.folds)
        _run(plan, options, engine)


def report(
    against: Against = "",
    results: Results = Path("results"),
    out: ReportOut = Path("report"),
    debug: Debug = False,
) -> None:
    """Print every table that results are there for, and write it as Markdown, CSV and LaTeX."""
    with _one_line_errors(debug):
        if against not in ("", "paper"):
            raise ValueError(f"--against takes 'paper', got {against!r}")
        from sepool.bench.report import write_report

        print(write_report(results, out, against_paper=against == "paper"))


def list_(what: What, debug: Debug = False) -> None:
    """List the systems, datasets or protocols that are known."""
    with _one_line_errors(debug):
        kinds = {"systems": _systems, "datasets": _datasets, "protocols": _protocols}
        if what not in kinds:
            raise ValueError(f"list takes {', '.join(kinds)}, got {what!r}")
        rows = list(kinds[what]())
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())


def _run(plan: Plan, options: RunOptions, engine: str) -> None:
    """Trains with a display, and says what is where."""
    from sepool.bench.progress import watch
    from sepool.bench.run import run

    place = plan.out / plan.protocol.name
    if not plan.units:
        raise ValueError("nothing to train: the choice of datasets, systems or seeds is empty")
    if old := len(plan.units) - len(plan.todo):
        print(f"{old:,} of {len(plan.units):,} trainings are in {place} already")
    if plan.todo:
        with watch(plan.todo) as reporter:
            run(plan, replace(options, say=reporter.say), engine, reporter.seen)
    print(f"all {len(plan.units):,} trainings are in {place}; sepool report --results {plan.out}")


@contextmanager
def _one_line_errors(debug: bool) -> Iterator[None]:
    """As everywhere, and says what to install where a package is missing."""
    with one_line_errors(debug):
        try:
            yield
        except ModuleNotFoundError as error:
            if (error.name or "sepool").startswith("sepool"):
                raise
            raise ValueError(
                f"this needs {error.name}: pip install 'sepool[torch,bench]'"
            ) from error


def _protocol(table: str, quick: bool) -> Protocol:
    from sepool.bench.checks import check_names

    known: dict[str, Protocol] = {**PROTOCOLS, **FIGURES}
    check_names("protocol", [table], known)
    return known[f"{table}-quick" if quick and not table.endswith("-quick") else table]


def _units(
    protocol: Protocol, names: tuple[str, str, str], numbers: tuple[str, str, str]
) -> list[Unit]:
    """The units that the texts of the options choose."""
    from sepool.bench.checks import check_choice

    datasets, systems, trees = (_names(text) for text in names)
    if isinstance(protocol, Figure):
        protocol.check(datasets, systems, trees)
    else:
        check_choice(protocol, datasets, systems, trees)
    seeds, folds, configs = numbers
    return protocol.units(
        datasets,
        systems,
        trees,
        seeds=_numbers("--seeds", seeds),
        folds=_numbers("--folds", folds, protocol.folds),
        configs=_numbers("--configs", configs, protocol.most_configs),
    )


def _names(text: str) -> list[str] | None:
    names = [name.strip() for name in text.split(",") if name.strip()]
    return list(dict.fromkeys(names)) or None


def _numbers(option: str, text: str, limit: int | None = None) -> list[int] | None:
    """Reads "3" as 0, 1, 2 and "1,4-6" as 1, 4, 5, 6.

    >>> _numbers("--seeds", "3"), _numbers("--seeds", "1,4-6"), _numbers("--seeds", "")
    ([0, 1, 2], [1, 4, 5, 6], None)
    """
    if not text:
        return None
    try:
        if text.isdecimal():
            numbers = list(range(int(text)))
        else:
            numbers = []
            for part in filter(None, text.split(",")):
                first, _, last = part.partition("-")
                numbers += range(int(first), int(last or first) + 1)
    except ValueError:
        raise ValueError(f"{option} takes a count (3) or a list (0,4-6), got {text!r}") from None
    if not numbers:
        raise ValueError(f"{option} {text} chooses nothing")
    if limit is not None and max(numbers) >= limit:
        raise ValueError(f"{option} {text} goes beyond the {limit} there are")
    return list(dict.fromkeys(numbers))


def _systems() -> Iterator[tuple[str, ...]]:
    yield "system", "classifies", "family", "tree", "lockstep", "year", "paper"
    for system in [system for known in SYSTEMS_OF.values() for system in known.values()]:
        flags = ("yes" if flag else "no" for flag in (system.uses_tree, system.lockstep))
        yield system.name, system.kind, system.family, *flags, str(system.year), system.paper


def _datasets() -> Iterator[tuple[str, ...]]:
    yield "dataset", "classifies", "protocols"
    for name, kind in DATASETS.items():
        users = (table.name for table in PROTOCOLS.values() if name in table.datasets)
        yield name, kind, ", ".join(users)


def _protocols() -> Iterator[tuple[str, ...]]:
    yield "protocol", "trainings", "datasets", "systems", "grid", "folds", "seeds", "title"
    for table in (*PROTOCOLS.values(), *FIGURES.values()):
        counts = (len(table.datasets), len(table.systems), table.most_configs, table.folds)
        texts = (str(count) for count in (*counts, table.seeds))
        yield table.name, f"{len(table.units()):,}", *texts, table.title
