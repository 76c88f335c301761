"""The command ``sepool tree``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sepool.cli import large, options
from sepool.cli.options import Search, SearchResult, check_files, print_json
from sepool.cli.plot import check_picture, draw
from sepool.export.formats import ENDINGS, LABEL_ENDINGS, ending_of
from sepool.export.summary import LevelSummary, TreeSummary
from sepool.files.atomic import check_output

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help=f"Write the tree: {', '.join(ENDINGS)}; text also .gz."),
]
Labels = Annotated[
    Path | None,
    typer.Option(help=f"Write the clusters of every node: {', '.join(LABEL_ENDINGS)}."),
]
Plot = Annotated[Path | None, typer.Option(help="Draw the clusters: .png, .svg, .pdf.")]


def tree(
    context: typer.Context,
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
    file_format: options.Format = None,
    columns: options.Columns = None,
    clusters: options.Clusters = None,
    min_size: options.MinSize = 1,
    output: Output = None,
    labels: Labels = None,
    plot: Plot = None,
    engine: large.Engine = None,
    memory: large.Memory = "2GB",
    folder: large.Folder = None,
    scale: large.Scale = None,
    master: large.Master = None,
    as_json: options.Json = False,
) -> None:
    """Search the coding tree of a graph and print a summary."""
    large.reject_options(context, engine)
    if engine is not None:
        run = large.LargeRun(
            graph=graph,
            engine=engine,
            height=height,
            memory=memory,
            threads=threads,
            folder=folder,
            output=output,
            columns=columns,
            unweighted=unweighted,
            scale=scale,
            master=master,
        )
        return run.run(as_json)
    search = Search.of(context)
    outputs = {"-o": output, "--labels": labels, "--plot": plot}
    check_files([("the graph", graph)], outputs.items())
    for path, endings in ((output, ENDINGS), (labels, LABEL_ENDINGS)):
        if path is not None:
            check_output(path)
            ending_of(path, endings)
    if plot is not None:
        check_picture(plot)
    result = search.run(graph)
    for path in (output, labels):
        if path is not None:
            result.tree.save(path)
    if plot is not None:
        draw(result.tree, result.graph, plot)
    files = [str(path) for path in outputs.values() if path is not None]
    summary = result.tree.summary()
    if as_json:
        print_json({**_fields(graph, search, result, summary), "files": files})
    else:
        _print_summary(graph, search, result, summary)
        if files:
            print(f"wrote {', '.join(files)}")


def _fields(
    name: str, search: Search, result: SearchResult, summary: TreeSummary
) -> dict[str, Any]:
    return {
        "graph": name,
        "nodes": summary.nodes,
        "edges": summary.edges,
        "height": summary.height,
        "method": search.method,
        "seed": search.seed,
        "seconds": round(result.seconds, 6),
        "entropy": summary.entropy,
        "one_dimensional_entropy": summary.one_dimensional_entropy,
        "levels": [_level_fields(level) for level in summary.levels],
    }


def _level_fields(level: LevelSummary) -> dict[str, Any]:
    return {
        "level": level.level,
        "clusters": level.clusters,
        "smallest": level.smallest,
        "median": level.median,
        "largest": level.largest,
    }


def _print_summary(name: str, search: Search, result: SearchResult, summary: TreeSummary) -> None:
    seconds = result.seconds
    duration = f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
    print(f"{name}: {summary.size}")
    print(f"height {summary.height}, method {search.method}, {duration}")
    print(summary.saving)
    print(summary.table)
