"""The command ``sepool tree``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from sepool.cli import options
from sepool.cli import pictures as viz
from sepool.cli.options import Found, Search, check_files, counted, print_json
from sepool.entropy import one_dimensional_entropy
from sepool.files.atomic import atomic_write, check_output
from sepool.files.tree import tree_suffix
from sepool.tree import CodingTree

Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the tree: .json, .npz.")]
Labels = Annotated[Path | None, typer.Option(help="Write the clusters of every node as CSV.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the clusters: .png, .svg.")]


def tree(
    graph: options.GraphFile,
    height: options.Height = 2,
    method: options.Method = "best",
    seed: options.Seed = 0,
    unweighted: options.Unweighted = False,
    self_loops: options.SelfLoops = False,
    output: Output = None,
    labels: Labels = None,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Find the coding tree of a graph and say what is in it."""
    search = Search(height, method, seed, unweighted, self_loops)
    outputs = {"-o": output, "--labels": labels, "--plot": plot}
    check_files([("the graph", graph)], outputs.items())
    if output is not None:
        tree_suffix(check_output(output))
    if labels is not None:
        check_output(labels)
    if plot is not None:
        viz.check_picture(plot)
    found = search.find(graph)
    if output is not None:
        found.tree.save(output)
    if labels is not None:
        write_labels(labels, found.tree)
    if plot is not None:
        viz.draw(found.tree, found.graph, plot)
    files = [str(path) for path in outputs.values() if path is not None]
    outcome = {**_summary(graph, search, found), "files": files}
    if as_json:
        print_json(outcome)
    else:
        _print_summary(outcome)


def _summary(name: str, search: Search, found: Found) -> dict[str, Any]:
    return {
        "graph": name,
        "nodes": found.graph.num_nodes,
        "edges": found.graph.num_edges,
        "height": search.height,
        "method": search.method,
        "seed": search.seed,
        "seconds": round(found.seconds, 6),
        "entropy": found.tree.entropy,
        "one_dimensional_entropy": one_dimensional_entropy(found.graph),
        "levels": [_level(found.tree, level) for level in range(1, search.height)],
    }


def _level(found: CodingTree, level: int) -> dict[str, Any]:
    sizes = found.cluster_sizes(level)
    return {
        "level": level,
        "clusters": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
    }


def _print_summary(summary: dict[str, Any]) -> None:
    seconds, bits = summary["seconds"], summary["entropy"]
    spent = f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
    size = f"{counted(summary['nodes'], 'node')}, {counted(summary['edges'], 'edge')}"
    print(f"{summary['graph']}: {size}")
    print(f"height {summary['height']}, method {summary['method']}, {spent}")
    flat = summary["one_dimensional_entropy"]
    less = max(1 - bits / flat, 0.0) if flat else 0.0  # sums in another order differ a little
    saved = f", {less:.1%} less than without clusters ({flat:.4f})" if flat else ""
    print(f"entropy {bits:.4f} bits{saved}")
    if levels := summary["levels"]:
        lines = [list(levels[0]), *([f"{x:,.10g}" for x in row.values()] for row in levels)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (text.rjust(width) for text, width in zip(line, widths, strict=True))
            print("  ".join(cells))
    if files := summary["files"]:
        print(f"wrote {', '.join(files)}")


def write_labels(path: Path, found: CodingTree) -> None:
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
