"""``sepool tree --engine``: graphs larger than memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sepool.cli.options import print_json
from sepool.cli.reading import column_names

Engine = Annotated[
    str | None,
    typer.Option(help="For graphs larger than memory, in Parquet or CSV: duckdb or spark."),
]
Memory = Annotated[str, typer.Option(help="Memory for --engine, such as 2GB.")]
Folder = Annotated[
    Path | None,
    typer.Option(help="Folder of intermediate tables of --engine; a killed run goes on from it."),
]
Scale = Annotated[
    float | None, typer.Option(help="Factor that makes weights whole numbers, for --engine.")
]
Master = Annotated[str | None, typer.Option(help="URL of the Spark cluster.")]

ALLOWED = {
    *("graph", "height", "threads", "unweighted", "columns", "output", "as_json"),
    *("engine", "memory", "folder", "scale", "master"),
}
ENGINE_ONLY = ("memory", "folder", "scale", "master")


@dataclass(frozen=True)
class LargeRun:
    """Options of ``sepool tree --engine``."""

    graph: str
    engine: str
    height: int | None
    memory: str
    threads: int | None
    folder: Path | None
    output: Path | None
    columns: str | None
    unweighted: bool
    scale: float | None
    master: str | None

    def run(self, as_json: bool) -> None:
        """Search the tree, with a line a step on stderr, and print a summary."""
        from sepool.large import coding_tree

        result = coding_tree(
            self.graph,
            height=self.height,
            memory=self.memory,
            engine=self.engine,
            threads=self.threads,
            folder=self.folder,
            output=self.output or Path("labels.parquet"),
            columns=None if self.columns is None else column_names(self.columns),
            weighted=not self.unweighted,
            scale=self.scale,
            master=self.master,
            progress=lambda report: print(report, file=sys.stderr, flush=True),
        )
        if as_json:
            print_json(vars(result))
            return
        print(f"{self.graph}: {result.counts[0]:,} nodes, {result.edges:,} edges")
        dropped = f"{result.self_loops:,} self-loops dropped, {result.repeated:,} repeated edges"
        print(f"height {result.height}, {result.rounds} rounds on {self.engine}; {dropped} added")
        print(f"entropy {result.entropy:.4f} bits")
        for level, count in enumerate(result.counts[1:-1], 1):
            print(f"level {level}: {count:,} clusters")
        print(f"wrote {result.output}")


def reject_options(context: typer.Context, engine: str | None) -> None:
    """Raise an error for options on the command line that need an engine, or do not go with it."""
    for name in context.params:
        origin = context.get_parameter_source(name)
        if origin is None or origin.name != "COMMANDLINE":
            continue
        option = "--" + {"as_json": "json"}.get(name, name.removeprefix("file_").replace("_", "-"))
        if engine is None and name in ENGINE_ONLY:
            raise ValueError(f"{option} goes with --engine duckdb or --engine spark; add one")
        if engine is not None and name not in ALLOWED:
            raise ValueError(f"{option} does not go with --engine {engine}; drop {option}")
