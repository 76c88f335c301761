"""Where measured rows go: one JSON file a script, with the machine, versions and command."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import sepool
from graphs import data_root

HERE = Path(__file__).parent
FULL, QUICK = HERE / "results", HERE / "results" / "quick"
PACKAGES = (
    "sepool",
    "numpy",
    "torch",
    "torch-geometric",
    "torch-geometric-pool",
    "igraph",
    "infomap",
    "networkit",
    "networkx",
)

RUN = ("command", "date", "machine", "versions")
Row = dict[str, Any]


class Recorder:
    """Collects the rows of one script and writes them to its file.

    Rows are written after every addition, so that an interrupted run leaves what it measured. A
    script that ran only some ``parts`` keeps the rows of its other parts; ``runs`` of the file has
    the command, date, machine and versions behind each of these.
    """

    def __init__(self, script: str, quick: bool, parts: Sequence[str] = ()) -> None:
        self.path = (QUICK if quick else FULL) / f"{Path(script).stem}.json"
        self.started = time.monotonic()
        self.head: Row = {
            "script": Path(script).stem,
            "quick": quick,
            "command": "python benchmarks/" + " ".join([Path(script).name, *_options()]),
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "machine": machine(),
            "versions": versions(),
        }
        self.rows: list[Row] = []
        if parts and self.path.exists():
            last = json.loads(self.path.read_text())
            self.rows = [row for row in last["rows"] if row["part"] not in parts]
            runs = last.get("runs", {})
            self.head["runs"] = {
                row["part"]: runs.get(row["part"], {key: last[key] for key in RUN})
                for row in self.rows
            }

    def add(self, **row: Any) -> None:
        """Keeps a row, prints it, and rewrites the file."""
        self.rows.append(row)
        print("  ".join(f"{key}={_short(value)}" for key, value in row.items()), flush=True)
        self.write()

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        seconds = round(time.monotonic() - self.started, 1)
        lines = ",\n".join("  " + json.dumps(row) for row in self.rows)
        head = json.dumps({**self.head, "seconds": seconds}, indent=1)
        partial = self.path.with_suffix(".part")
        partial.write_text(f'{head[:-2]},\n "rows": [\n{lines}\n ]\n}}\n')
        partial.replace(self.path)


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that every script has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--quick", action="store_true", help="a few minutes; for trying it out")
    options.add_argument(
        "--data",
        metavar="ROOT",
        help="folder with TU/<NAME>/raw and Planetoid/<Name>/raw (default: $SEPOOL_DATA)",
    )
    return options


def root_of(arguments: argparse.Namespace) -> Path | None:
    root = data_root(arguments.data)
    if root is None:
        print("no --data and no SEPOOL_DATA: graphs that need a dataset are left out")
    return root


def load(quick: bool) -> dict[str, Row]:
    """The result files by script name."""
    folder = QUICK if quick else FULL
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def machine() -> dict[str, str | int | float]:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    memory = 0.0
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return {
        "processor": model,
        "cores": os.cpu_count() or 0,
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = sepool.__version__ if package == "sepool" else "not installed"
    return found


def _options() -> list[str]:
    """The command line without the place of the data, which differs from machine to machine.

    Without ``--parts`` too: the rows of the other parts are kept, and the command is for all.
    """
    options = list(sys.argv[1:])
    if "--parts" in options:
        start = options.index("--parts")
        rest = (i for i in range(start + 1, len(options)) if options[i].startswith("--"))
        del options[start : next(rest, len(options))]
    if "--data" in options:
        options[options.index("--data") + 1] = "ROOT"
    return ["--data=ROOT" if option.startswith("--data=") else option for option in options]


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
