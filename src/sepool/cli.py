"""The command line: ``sepool tree`` and ``doctor``, and what `bench.cli` and `viz.cli` add."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import sepool
from sepool.bench.cli import register
from sepool.build import METHODS, core_options
from sepool.errors import FAILURE, one_line_errors
from sepool.io import atomic_write, check_output
from sepool.treefile import tree_suffix
from sepool.viz import cli as viz

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

# What sepool can make use of, and what to install to get it.
OPTIONAL = {
    "torch": "sepool[torch]",
    "torch-geometric": "sepool[torch]",
    "typer": "sepool[cli]",
    "rich": "sepool[cli]",
    "scipy": "sepool[bench]",
    "scikit-learn": "sepool[bench]",
    "pandas": "sepool[bench]",
    "matplotlib": "sepool[viz]",
    "bokeh": "sepool[viz]",
    "ray": "sepool[ray]",
    "networkx": "networkx",
    "igraph": "igraph",
}


@app.callback()
def main() -> None:
    """Coding trees of least structural entropy: the hierarchy hidden in a graph."""


GraphFile = Annotated[str, typer.Argument(help="Lines 'u v' or 'u v weight'; may be gzipped.")]
Height = Annotated[int, typer.Option(help="Level of the root; 2 gives one level of clusters.")]
Method = Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")]
Seed = Annotated[int, typer.Option(help="Decides between equals.")]
Threads = Annotated[int | None, typer.Option(help="All cores by default.")]
Unweighted = Annotated[bool, typer.Option("--unweighted", help="Ignore the weights.")]
SelfLoops = Annotated[bool, typer.Option("--self-loops", help="Count self-loops in the degrees.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the tree: .json, .npz.")]
Labels = Annotated[Path | None, typer.Option(help="Write the clusters of every node as CSV.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the clusters: .png, .svg.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@app.command()
def tree(
    graph: GraphFile,
    height: Height = 2,
    method: Method = "best",
    seed: Seed = 0,
    threads: Threads = None,
    unweighted: Unweighted = False,
    self_loops: SelfLoops = False,
    output: Output = None,
    labels: Labels = None,
    plot: Plot = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the coding tree of a graph and say what is in it."""
    with one_line_errors(debug):
        core_options(height, method, seed, threads, None)  # complain before reading a large file
        if output is not None:
            tree_suffix(check_output(output))
        if labels is not None:
            check_output(labels)
        if plot is not None:
            viz.check_picture(plot)
        with _progress(f"reading {graph}") as progress:
            weight = None if unweighted else "weight"
            edges = sepool.as_graph(graph, weight=weight, self_loops=self_loops)
            start = time.perf_counter()
            found = sepool.coding_tree(
                edges, height, method=method, seed=seed, num_threads=threads, progress=progress
            )
            seconds = time.perf_counter() - start
        if output is not None:
            found.save(output)
        if labels is not None:
            _write_labels(labels, found)
        if plot is not None:
            viz.draw(found, edges, plot)
        summary = {
            "graph": graph,
            "nodes": edges.num_nodes,
            "edges": edges.num_edges,
            "height": height,
            "method": method,
            "seed": seed,
            "seconds": round(seconds, 6),
            "entropy": found.entropy,
            "one_dimensional_entropy": sepool.one_dimensional_entropy(edges),
            "levels": [_level(found, level) for level in range(1, height)],
        }
        if as_json:
            print(json.dumps(summary, indent=2))
        else:
            _print_summary(summary)


@app.command()
def doctor() -> None:
    """Say what is installed, what is missing and how to get it."""
    rows = {"sepool": sepool.__version__, "python": platform.python_version()}
    rows["numpy"] = np.__version__
    try:
        from sepool import _core

        rows["core"] = f"{getattr(_core, 'build', 'works')}, {os.cpu_count()} threads"
    except ImportError as error:
        rows["core"] = f"broken: {error}; pip install --force-reinstall sepool"
    for package, target in OPTIONAL.items():
        try:
            rows[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            rows[package] = f"missing: pip install '{target}'"
    for name, state in rows.items():
        style = "yellow" if state.startswith(("missing", "broken")) else None
        _console().print(f"{name:<16} {state}", style=style)
    if rows["core"].startswith("broken"):
        raise typer.Exit(FAILURE)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float, str], None] | None]:
    """A progress bar while the block runs, if someone is looking at the terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(done: float, stage: str) -> None:
            bar.update(task, total=1, completed=done, description=stage)

        yield update


def _level(found: sepool.CodingTree, level: int) -> dict[str, Any]:
    sizes = found.cluster_sizes(level)
    return {
        "level": level,
        "clusters": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
    }


def _print_summary(summary: dict[str, Any]) -> None:
    console = _console()
    seconds, bits = summary["seconds"], summary["entropy"]
    spent = f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
    console.print(f"{summary['graph']}: {summary['nodes']:,} nodes, {summary['edges']:,} edges")
    console.print(f"height {summary['height']}, method {summary['method']}, {spent}")
    flat = summary["one_dimensional_entropy"]
    saved = f", {1 - bits / flat:.1%} less than without clusters ({flat:.4f})" if flat else ""
    console.print(f"entropy {bits:.4f} bits{saved}")
    if summary["levels"]:
        table = Table(box=None, pad_edge=False)
        for title in ("level", "clusters", "smallest", "median", "largest"):
            table.add_column(title, justify="right")
        for level in summary["levels"]:
            table.add_row(*(f"{x:,.10g}" for x in level.values()))
        console.print(table)


def _write_labels(path: Path, found: sepool.CodingTree) -> None:
    """One row a node: its name and its cluster on every level below the root, finest first."""
    levels = range(1, found.height)
    names = range(found.num_nodes) if found.names is None else found.names
    columns = [names, *(found.labels(level).tolist() for level in levels)]
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["node", *(f"level_{level}" for level in levels)])
        writer.writerows(zip(*columns, strict=True))
        text.detach()  # flushes, and leaves the closing to atomic_write


def _console() -> Console:
    return Console(highlight=False, markup=False, soft_wrap=True)


register(app)
viz.register(app)
