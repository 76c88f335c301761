"""The commands ``reproduce``, ``report``, ``pack`` and ``list``.

Heavy packages are imported inside the commands: ``sepool --help`` imports this module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, redirect_stderr
from dataclasses import asdict, replace
from io import StringIO
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sepool.cli.options import Json, counted, print_json
from sepool_experiments.models.catalog import SYSTEMS_OF
from sepool_experiments.protocols.catalog import DATASETS, PROTOCOLS, TREES, Protocol
from sepool_experiments.protocols.choices import (
    check_choice,
    check_names,
    parse_names,
    parse_numbers,
)
from sepool_experiments.protocols.figures import FIGURES, Figure
from sepool_experiments.protocols.longrange import LONG_RANGE_TASKS, LongRange

if TYPE_CHECKING:
    from sepool_experiments.backends.run import Plan
    from sepool_experiments.protocols.units import Unit, Value

Table = Annotated[
    str, typer.Argument(metavar="TABLE", help="table1, figure3, ...: see 'sepool list protocols'.")
]
Datasets = Annotated[str, typer.Option(help="Comma-separated names; default: all of the table.")]
Systems = Annotated[str, typer.Option(help="Comma-separated names; default: all of the table.")]
Trees = Annotated[str, typer.Option(help=f"Trees that SEP pools along: {', '.join(TREES)}.")]
Seeds = Annotated[str, typer.Option(help="A count (10) or a list (0,4-6); default: all.")]
Folds = Annotated[str, typer.Option(help="A count (10) or a list (0,4-6); default: all.")]
Configs = Annotated[str, typer.Option(help="A count or a list of configurations of the grid.")]
Device = Annotated[str, typer.Option(help="Device: auto, cpu, cuda, cuda:1, ...")]
BackendName = Annotated[
    str, typer.Option("--backend", "--engine", help="auto, replicas, processes or ray.")
]
Out = Annotated[Path, typer.Option(help="Folder of the results; resumes an interrupted run.")]
Data = Annotated[Path, typer.Option(help="Folder of the datasets.", envvar="SEPOOL_DATA")]
Workers = Annotated[int, typer.Option(help="Number of worker processes; 0 for all cores.", min=0)]
GpuShare = Annotated[float, typer.Option(help="Fraction of a GPU per training (ray).", min=0)]
Address = Annotated[str, typer.Option(help="Address of a Ray cluster (ray).")]
Quick = Annotated[bool, typer.Option("--quick", help="A short trial: a few minutes on a laptop.")]
Against = Annotated[str, typer.Option(help="'paper': compare with the published figures.")]
Results = Annotated[Path, typer.Option(help="Folder of the results.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the results.")]
Add = Annotated[
    Path | None, typer.Option(help="Folder of more results, whose rows are added as well.")
]
ReportOut = Annotated[Path, typer.Option("--out", help="Folder for tables and plots.")]
Category = Annotated[str, typer.Argument(metavar="WHAT", help="systems, datasets or protocols.")]


def reproduce(
    table: Table,
    datasets: Datasets = "",
    systems: Systems = "",
    trees: Trees = "",
    seeds: Seeds = "",
    folds: Folds = "",
    configs: Configs = "",
    device: Device = "auto",
    backend: BackendName = "auto",
    out: Out = Path("results"),
    data: Data = Path("data"),
    workers: Workers = 0,
    gpu_share: GpuShare = 0.1,
    address: Address = "",
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Run the trainings of a table or figure of the paper.

    Every result is saved when its training ends; an interrupted run resumes from there.
    """
    with redirect_stderr(StringIO()) if as_json else nullcontext():  # no progress with JSON
        from sepool_experiments import backends
        from sepool_experiments.backends.run import Plan
        from sepool_experiments.backends.stages import log_finished, run_stages
        from sepool_experiments.data import checks

        protocol = _protocol(table, quick)
        units = _units(protocol, (datasets, systems, trees), (seeds, folds, configs), data)
        if not units:
            raise ValueError("nothing to train: the choice of datasets, systems or seeds is empty")
        backends.assign_units(backend, [])  # checks the name, which figures do not use
        place, start = checks.check_device(device), perf_counter()
        files: list[Path] = []
        if isinstance(protocol, Figure):
            from sepool_experiments.figures.run import reproduce as reproduce_figure

            plan = Plan.of(protocol, units, out)
            log_finished(plan, _log)
            files = reproduce_figure(plan, data, place, _log)
        else:
            cores = workers or os.cpu_count() or 1
            options = backends.RunOptions(data, place, cores, gpu_share, address=address, log=_log)
            plan = run_stages(protocol, units, out, options, backend)
        _print_outcome(plan, files, perf_counter() - start, as_json)


def report(
    against: Against = "",
    results: Results = Path("results"),
    out: ReportOut = Path("report"),
    as_json: Json = False,
) -> None:
    """Write tables and plots of the results, and print the tables.

    Every table is a Markdown, a CSV and a LaTeX file; report.md has all tables and plots.
    """
    from sepool_experiments.report.report import write_report

    if against not in ("", "paper"):
        raise ValueError(f"--against takes 'paper', got {against!r}")
    page = write_report(results, out, against_paper=against == "paper")
    if as_json:
        print_json({"tables": [asdict(table) for table in page.tables], "files": page.files})
    else:
        print(page.text)
        _log(f"wrote {page.files[-1]} and {len(page.files) - 1:,} more")


def pack(folder: Folder = Path("results"), add: Add = None, as_json: Json = False) -> None:
    """Pack rows into Parquet files, a tenth of their size, to archive or commit them.

    Packs the rows of finished runs and those of sepool 0.1 (lines of JSON), and removes the files
    that they were in.
    """
    from sepool_experiments.results.pack import pack as pack_folder

    outcomes = pack_folder(folder, add)
    if as_json:
        print_json([{**asdict(packed), "folder": str(packed.folder)} for packed in outcomes])
        return
    for packed in outcomes:
        size = f"{packed.size / 1e6:.1f} MB"
        rows = f"{counted(packed.trainings, 'training')} ({packed.added:,} new)"
        print(f"{packed.folder}: {rows}, {size}")
        if packed.orphans:
            _log(f"  {counted(packed.orphans, 'loss curve')} without a row left out")
    if not outcomes:
        _log(f"nothing to pack in {folder}")


def list_(what: Category, as_json: Json = False) -> None:
    """List all systems, datasets or protocols."""
    listings = {"systems": _systems, "datasets": _datasets, "protocols": _protocols}
    if what not in listings:
        raise ValueError(f"list takes {', '.join(listings)}, got {what!r}")
    rows = list(listings[what]())
    if as_json:
        print_json(rows)
        return
    lines = [list(rows[0]), *([_text(*cell) for cell in row.items()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _print_outcome(plan: Plan, files: Sequence[Path], seconds: float, as_json: bool) -> None:
    """Print number of trainings, time and folders of a run."""
    trained, folder = len(plan.todo), plan.out / plan.protocol.name
    if as_json:
        outcome = {
            "protocol": plan.protocol.name,
            "trainings": len(plan.units),
            "trained_now": trained,
            "seconds": round(seconds, 3),
            "results": folder,
            "files": files,
        }
        print_json(outcome)
        return
    for path in files:
        print(path)
    count = f"all {len(plan.units):,} trainings are" if len(plan.units) > 1 else "the training is"
    now = f" ({trained:,} now, in {seconds:.1f} s)" if trained else ""
    print(f"{count} in {folder}{now}; sepool report --results {plan.out}")


def _protocol(table: str, quick: bool) -> Protocol:
    protocols: dict[str, Protocol] = {**PROTOCOLS, **FIGURES}
    check_names("protocol", [table], protocols)
    name = f"{table}-quick" if quick and not table.endswith("-quick") else table
    if name not in protocols:
        raise ValueError(f"{table} has no short trial; use --folds, --seeds or --configs instead")
    return protocols[name]


def _units(
    protocol: Protocol, names: tuple[str, str, str], numbers: tuple[str, str, str], data: Path
) -> list[Unit]:
    """Return the units chosen by the options."""
    from sepool_experiments.data.checks import own_datasets

    datasets, systems, trees = map(parse_names, names)
    if isinstance(protocol, (Figure, LongRange)):
        protocol.check(datasets, systems, trees)
    else:
        registered = SYSTEMS_OF[protocol.task].values()
        own = own_datasets(data) if protocol.task == "graphs" else ()
        check_choice(protocol, datasets, systems, trees, SYSTEMS_OF, own)
        along = (system.name for system in registered if system.uses_tree)
        protocol = replace(protocol, tree_systems=tuple(along))  # a script may register systems
    seeds, folds, configs = numbers
    return protocol.units(
        datasets,
        systems,
        trees,
        seeds=parse_numbers("--seeds", seeds),
        folds=parse_numbers("--folds", folds, protocol.folds),
        configs=parse_numbers("--configs", configs, protocol.most_configs),
    )


def _text(column: str, value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) and column != "year" else str(value)


def _systems() -> Iterator[dict[str, Value]]:
    for system in chain.from_iterable(systems.values() for systems in SYSTEMS_OF.values()):
        yield {
            "system": system.name,
            "classifies": system.task,
            "family": system.family,
            "tree": system.uses_tree,
            "lockstep": system.lockstep,
            "year": system.year,
            "paper": system.paper,
        }


def _datasets() -> Iterator[dict[str, Value]]:
    for name, classified in {**DATASETS, **dict.fromkeys(LONG_RANGE_TASKS, "longrange")}.items():
        users = (table.name for table in PROTOCOLS.values() if name in table.datasets)
        yield {"dataset": name, "classifies": classified, "protocols": ", ".join(users)}


def _protocols() -> Iterator[dict[str, Value]]:
    for table in (*PROTOCOLS.values(), *FIGURES.values()):
        yield {
            "protocol": table.name,
            "trainings": len(table.units()),
            "datasets": len(table.datasets),
            "systems": len(table.systems),
            "grid": table.most_configs,
            "folds": table.folds,
            "seeds": table.seeds,
            "title": table.title,
        }


COMMANDS = (
    ("reproduce", reproduce, "sepool reproduce table1 --datasets MUTAG --systems SEP-G,GCN"),
    ("report", report, "sepool report --against paper --results results --out report"),
    ("pack", pack, "sepool pack results"),
    ("list", list_, "sepool list systems --json"),
)
