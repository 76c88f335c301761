"""The command ``sepool tree``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from sepool.cli import options
from sepool.cli.options import Search, SearchResult, check_files, counted, print_json
from sepool.cli.plot import check_picture, draw
from sepool.entropy import one_dimensional_entropy
from sepool.files.atomic import atomic_write, check_output
from sepool.files.tree import tree_suffix
from sepool.tree import CodingTree

Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the tree: .json, .npz.")]
Labels = Annotated[Path | None, typer.Option(help="Write the clusters of every node as CSV.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the clusters: .png, .svg.")]


def tree(
    graph: options.GraphFile,
    height: options.Height = None,
    method: options.Method = "best",
    seed: options.Seed = 0,
    trials: options.Trials = 1,
    threads: options.Threads = None,
    unweighted: options.Unweighted = False,
    self_loops: options.SelfLoops = False,
    directed: options.Directed = None,
    teleport: options.Teleport = 0.15,
    clusters: options.Clusters = None,
    min_size: options.MinSize = 1,
    output: Output = None,
    labels: Labels = None,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Search the coding tree of a graph and print a summary."""
    search = Search(
        height,
        method,
        seed,
        unweighted,
        self_loops,
        trials,
        threads,
        directed,
        teleport,
        clusters,
        min_size,
    )
    outputs = {"-o": output, "--labels": labels, "--plot": plot}
    check_files([("the graph", graph)], outputs.items())
    if output is not None:
        tree_suffix(check_output(output))
    if labels is not None:
        check_output(labels)
    if plot is not None:
        check_picture(plot)
    result = search.run(graph)
    if output is not None:
        result.tree.save(output)
    if labels is not None:
        write_labels(labels, result.tree)
    if plot is not None:
        draw(result.tree, result.graph, plot)
    files = [str(path) for path in outputs.values() if path is not None]
    summary = {**_summary(graph, search, result), "files": files}
    if as_json:
        print_json(summary)
    else:
        _print_summary(summary)


def _summary(name: str, search: Search, result: SearchResult) -> dict[str, Any]:
    return {
        "graph": name,
        "nodes": result.graph.num_nodes,
        "edges": result.graph.num_edges,
        "height": result.tree.height,
        "method": search.method,
        "seed": search.seed,
        "seconds": round(result.seconds, 6),
        "entropy": result.tree.entropy,
        "one_dimensional_entropy": one_dimensional_entropy(result.graph),
        "levels": [_level_summary(result.tree, level) for level in range(1, result.tree.height)],
    }


def _level_summary(tree: CodingTree, level: int) -> dict[str, Any]:
    sizes = tree.cluster_sizes(level)
    return {
        "level": level,
        "clusters": len(sizes),
        "smallest": int(sizes.min()),
        "median": float(np.median(sizes)),
        "largest": int(sizes.max()),
    }


def _print_summary(summary: dict[str, Any]) -> None:
    seconds, bits = summary["seconds"], summary["entropy"]
    duration = f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
    size = f"{counted(summary['nodes'], 'node')}, {counted(summary['edges'], 'edge')}"
    print(f"{summary['graph']}: {size}")
    print(f"height {summary['height']}, method {summary['method']}, {duration}")
    flat = summary["one_dimensional_entropy"]
    reduction = max(1 - bits / flat, 0.0) if flat else 0.0  # below 0 by rounding alone
    comparison = f", {reduction:.1%} less than without clusters ({flat:.4f})" if flat else ""
    print(f"entropy {bits:.4f} bits{comparison}")
    if levels := summary["levels"]:
        lines = [list(levels[0]), *([f"{x:,.10g}" for x in row.values()] for row in levels)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (text.rjust(width) for text, width in zip(line, widths, strict=True))
            print("  ".join(cells))
    else:
        print("no clusters")
    if files := summary["files"]:
        print(f"wrote {', '.join(files)}")


def write_labels(path: Path, tree: CodingTree) -> None:
    """Write a CSV row a node: its name and its cluster on every level, finest first."""
    levels = range(1, tree.height)
    names = range(tree.num_nodes) if tree.names is None else tree.names
    columns = [names, *(tree.labels(level).tolist() for level in levels)]
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["node", *(f"level_{level}" for level in levels)])
        writer.writerows(zip(*columns, strict=True))
        text.detach()  # flushes, and leaves the closing to atomic_write
