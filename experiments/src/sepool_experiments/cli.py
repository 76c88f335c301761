"""The commands ``reproduce``, ``report``, ``pack`` and ``list``.

Only light modules are imported up here, because ``sepool --help`` comes by: a command imports what
it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stderr
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sepool.cli.options import Json, counted, print_json
from sepool.extras import needs
from sepool_experiments.protocols.catalog import DATASETS, PROTOCOLS, SYSTEMS_OF, TREES, Protocol
from sepool_experiments.protocols.figures import FIGURES, Figure

if TYPE_CHECKING:
    from sepool_experiments.backends import RunOptions
    from sepool_experiments.backends.run import Plan
    from sepool_experiments.protocols.units import Unit, Value

Table = Annotated[
    str, typer.Argument(metavar="TABLE", help="table1, figure3, ...: see 'sepool list protocols'.")
]
Datasets = Annotated[str, typer.Option(help="Names with commas; all of the table by default.")]
Systems = Annotated[str, typer.Option(help="Names with commas; all of the table by default.")]
Trees = Annotated[str, typer.Option(help=f"What SEP pools along: {', '.join(TREES)}.")]
Seeds = Annotated[str, typer.Option(help="How many (10), or which (0,4-6); all by default.")]
Folds = Annotated[str, typer.Option(help="How many (10), or which (0,4-6); all by default.")]
Configs = Annotated[str, typer.Option(help="How many of the grid, or which (0,4-6).")]
Device = Annotated[str, typer.Option(help="Where to train: auto, cpu, cuda, cuda:1, ...")]
EngineName = Annotated[
    str, typer.Option("--engine", help="How to train: auto, replicas, processes, ray.")
]
Out = Annotated[Path, typer.Option(help="Folder of the results; a run goes on where it stopped.")]
Data = Annotated[Path, typer.Option(help="Folder of the datasets.", envvar="SEPOOL_DATA")]
Workers = Annotated[int, typer.Option(help="Processes that train; 0 for all cores.", min=0)]
GpuShare = Annotated[float, typer.Option(help="Part of a GPU a training takes (ray).", min=0)]
Address = Annotated[str, typer.Option(help="Address of a Ray cluster (ray).")]
Quick = Annotated[bool, typer.Option("--quick", help="A short trial: a few minutes on a laptop.")]
Against = Annotated[str, typer.Option(help="'paper': compare with the published figures.")]
Results = Annotated[Path, typer.Option(help="Folder of the results.")]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the results.")]
Add = Annotated[
    Path | None, typer.Option(help="Folder of more results, whose rows are added as well.")
]
ReportOut = Annotated[Path, typer.Option("--out", help="Folder for tables and plots.")]
What = Annotated[str, typer.Argument(metavar="WHAT", help="systems, datasets or protocols.")]


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
    as_json: Json = False,
) -> None:
    """Train what a table or figure of the paper is made of.

    Every training is kept as soon as it is done; started again, the command goes on from there.
    """
    # A script that wants JSON is told the outcome, or an error, and not how far it is.
    with redirect_stderr(StringIO()) if as_json else nullcontext(), needs("torch,bench"):
        from sepool_experiments import backends as engines
        from sepool_experiments.backends.run import Plan
        from sepool_experiments.data import checks

        protocol = _protocol(table, quick)
        units = _units(protocol, (datasets, systems, trees), (seeds, folds, configs), data)
        if not units:
            raise ValueError("nothing to train: the choice of datasets, systems or seeds is empty")
        engines.choose(engine, [])  # its name, also where a figure trains in its own way
        place = checks.check_device(device)
        plan, began = Plan.of(protocol, units, out), perf_counter()
        if isinstance(protocol, Figure):
            from sepool_experiments.figures.run import reproduce as reproduce_figure

            _note_old(plan)
            files = reproduce_figure(plan, data, place, _note)
            _outcome(plan, files, perf_counter() - began, as_json)
            return
        engines.choose(engine, plan.todo)
        options = engines.RunOptions(
            data_root=data,
            device=place,
            workers=workers or os.cpu_count() or 1,
            gpu_share=gpu_share,
            address=address,
        )
        marks = checks.check_datasets(data, protocol, plan.todo)
        _note_old(plan)
        _run(plan, options, engine, marks)
        _outcome(plan, [], perf_counter() - began, as_json)


def report(
    against: Against = "",
    results: Results = Path("results"),
    out: ReportOut = Path("report"),
    as_json: Json = False,
) -> None:
    """Make tables and plots of the results, and print them.

    Every table is written as Markdown, CSV and LaTeX, and report.md has all of them.
    """
    with needs("bench"):
        if against not in ("", "paper"):
            raise ValueError(f"--against takes 'paper', got {against!r}")
        from sepool_experiments.report.report import write_report

        page = write_report(results, out, against_paper=against == "paper")
        if as_json:
            print_json({"tables": [asdict(table) for table in page.tables], "files": page.files})
        else:
            print(page.text)
            _note(f"wrote {page.files[-1]} and {len(page.files) - 1:,} more")


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
            _note(f"  {counted(packed.orphans, 'loss curve')} without a row left out")
    if not outcomes:
        _note(f"nothing to pack in {folder}")


def list_(what: What, as_json: Json = False) -> None:
    """List the systems, datasets or protocols that are known."""
    kinds = {"systems": _systems, "datasets": _datasets, "protocols": _protocols}
    if what not in kinds:
        raise ValueError(f"list takes {', '.join(kinds)}, got {what!r}")
    rows = list(kinds[what]())
    if as_json:
        print_json(rows)
        return
    lines = [list(rows[0]), *([_word(*cell) for cell in row.items()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def _note(text: str) -> None:
    """Says how far it is, apart from the outcome."""
    print(text, file=sys.stderr, flush=True)


def _note_old(plan: Plan) -> None:
    if old := len(plan.units) - len(plan.todo):
        total, verb = counted(len(plan.units), "training"), "is" if old == 1 else "are"
        _note(f"{old:,} of {total} {verb} in {_place(plan)} already")


def _run(plan: Plan, options: RunOptions, engine: str, marks: Mapping[str, str]) -> None:
    """Trains with a display."""
    from sepool_experiments.backends.progress import watch
    from sepool_experiments.backends.run import run

    if plan.todo:
        with watch(plan.todo) as reporter:
            run(plan, replace(options, say=reporter.say), engine, reporter.seen, marks)


def _place(plan: Plan) -> Path:
    return plan.out / plan.protocol.name


def _outcome(plan: Plan, files: Sequence[Path], seconds: float, as_json: bool) -> None:
    """Says what was trained, in what time, and what is where."""
    trained = len(plan.todo)
    if as_json:
        outcome = {
            "protocol": plan.protocol.name,
            "trainings": len(plan.units),
            "trained_now": trained,
            "seconds": round(seconds, 3),
            "results": _place(plan),
            "files": files,
        }
        print_json(outcome)
        return
    for path in files:
        print(path)
    count = f"all {len(plan.units):,} trainings are" if len(plan.units) > 1 else "the training is"
    now = f" ({trained:,} now, in {seconds:.1f} s)" if trained else ""
    print(f"{count} in {_place(plan)}{now}; sepool report --results {plan.out}")


def _protocol(table: str, quick: bool) -> Protocol:
    from sepool_experiments.data.checks import check_names

    known: dict[str, Protocol] = {**PROTOCOLS, **FIGURES}
    check_names("protocol", [table], known)
    name = f"{table}-quick" if quick and not table.endswith("-quick") else table
    if name not in known:
        raise ValueError(f"{table} has no short trial; take less with --folds, --seeds, --configs")
    return known[name]


def _units(
    protocol: Protocol, names: tuple[str, str, str], numbers: tuple[str, str, str], data: Path
) -> list[Unit]:
    """The units that the texts of the options choose."""
    from sepool_experiments.data.checks import check_choice
    from sepool_experiments.protocols.choices import chosen_names, chosen_numbers

    datasets, systems, trees = map(chosen_names, names)
    if isinstance(protocol, Figure):
        protocol.check(datasets, systems, trees)
    else:
        check_choice(protocol, datasets, systems, trees, data)
    seeds, folds, configs = numbers
    return protocol.units(
        datasets,
        systems,
        trees,
        seeds=chosen_numbers("--seeds", seeds),
        folds=chosen_numbers("--folds", folds, protocol.folds),
        configs=chosen_numbers("--configs", configs, protocol.most_configs),
    )


def _word(column: str, value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) and column != "year" else str(value)


def _systems() -> Iterator[dict[str, Value]]:
    for system in [system for known in SYSTEMS_OF.values() for system in known.values()]:
        yield {
            "system": system.name,
            "classifies": system.kind,
            "family": system.family,
            "tree": system.uses_tree,
            "lockstep": system.lockstep,
            "year": system.year,
            "paper": system.paper,
        }


def _datasets() -> Iterator[dict[str, Value]]:
    for name, kind in DATASETS.items():
        users = (table.name for table in PROTOCOLS.values() if name in table.datasets)
        yield {"dataset": name, "classifies": kind, "protocols": ", ".join(users)}


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
