"""The steps of a run that are complete, in a manifest that is written atomically."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sepool.files.atomic import atomic_write
from sepool.large.engine import Engine
from sepool.large.options import Options, Progress
from sepool.large.result import Report

VERSION = 1

Figures = dict[str, Any]  # whole numbers and entropies by name


@dataclass
class State:
    """Completed steps and their figures; a step that is complete is not run again.

    Attributes:
        engine: the engine whose folder has the manifest.
        manifest: path of the file.
        head: input and options of the run.
        progress: callback for every step that runs.
        steps: figures by the name of the step.
    """

    engine: Engine
    manifest: Path
    head: dict[str, Any]
    progress: Progress | None = None
    steps: dict[str, Figures] = field(default_factory=dict)

    def run(self, name: str, tables: tuple[str, ...], work: Callable[[], Figures]) -> Figures:
        """Return the figures of a step, which is run unless it is complete.

        Args:
            name: of the step.
            tables: its results.
            work: stores the tables and returns figures; ``items``, ``edges`` and ``changed`` are
                reported.
        """
        if name in self.steps:
            for table in tables:
                if self.engine.path(table).exists():  # a later step may have dropped it
                    self.engine.attach(table)
            return self.steps[name]
        self.engine.spilled, start = 0, time.perf_counter()
        figures = work()
        self.steps[name] = figures
        self._write()
        if self.progress is not None:
            items, edges, changed = (figures.get(key, 0) for key in ("items", "edges", "changed"))
            seconds = time.perf_counter() - start
            self.progress(Report(name, items, edges, changed, seconds, self.engine.spilled))
        return figures

    def _write(self) -> None:
        with atomic_write(self.manifest) as file:
            file.write(json.dumps({**self.head, "steps": self.steps}, indent=1).encode())


def head_of(options: Options, files: list[str]) -> dict[str, Any]:
    """Return the input and the options of a run, as they stand in the manifest."""
    paths = [Path(name) for name in files]
    stats = [[str(p), p.stat().st_size, p.stat().st_mtime_ns] if p.exists() else [str(p)]
             for p in paths]  # fmt: skip
    fields = {key: value for key, value in asdict(options).items() if key != "threads"}
    head = {"format": "sepool-large", "version": VERSION, "input": stats, "options": fields}
    resolved: dict[str, Any] = json.loads(json.dumps(head))
    return resolved


def open_state(
    engine: Engine, options: Options, files: list[str], progress: Progress | None
) -> State:
    """Return the state of a folder: empty, or that of a killed run of the same input."""
    state = State(engine, manifest_of(engine.folder), head_of(options, files), progress)
    if state.manifest.exists():
        state.steps = check_manifest(state.manifest, state.head)
    return state


def manifest_of(folder: Path) -> Path:
    """Return the path of the manifest of a folder."""
    return folder / "manifest.json"


def check_manifest(path: Path, head: dict[str, Any]) -> dict[str, Figures]:
    """Return the steps of a manifest, if its run had the same input and options."""
    remedy = f"choose another folder, or remove {path.parent}"
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        steps: dict[str, Figures] = saved["steps"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is no manifest of a run; {remedy}") from None
    if saved.get("version") != head["version"]:
        raise ValueError(f"{path} has version {saved.get('version')}; {remedy}")
    if saved.get("input") != head["input"]:
        raise ValueError(
            f"{path.parent} has a run on {_names(saved)}, not on {_names(head)} as it is now; "
            f"{remedy}"
        )
    for name, value in head["options"].items():
        before = saved.get("options", {}).get(name)
        if before != value:
            raise ValueError(
                f"{path.parent} has a run with {name}={before!r}, not {name}={value!r}; {remedy}"
            )
    return steps


def _names(head: dict[str, Any]) -> str:
    files = [str(entry[0]) for entry in head.get("input", [])]
    return ", ".join(files[:3]) + (", ..." if len(files) > 3 else "")
