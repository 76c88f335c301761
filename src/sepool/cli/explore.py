"""The command ``sepool explore``."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from sepool.cli import options
from sepool.cli.options import (
    Search,
    check_files,
    counted,
    default_output,
    input_name,
    print_json,
    reject_search_options,
)
from sepool.extras import needs
from sepool.files.atomic import check_output
from sepool.tree import CodingTree

TreeOption = Annotated[
    Path | None, typer.Option("--tree", help="Tree file; default: search the tree.")
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Output file: .html.")]
Title = Annotated[str | None, typer.Option(help="Title of the page.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")]


def explore(
    ctx: typer.Context,
    graph: options.GraphFile,
    tree: TreeOption = None,
    output: Output = None,
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
    title: Title = None,
    open_: Open = True,
    as_json: options.Json = False,
) -> None:
    """Write an interactive page of the hierarchy and open it.

    The page is one self-contained HTML file: expand and collapse clusters, find nodes by name,
    save the view and the labels.
    """
    with needs("viz"):
        from sepool.viz.explore import bokeh_folder, write_explorer

        bokeh_folder()
        output = output or default_output(graph, ".html")
        check_files([("the graph", graph), ("the tree", tree)], [("-o", output)])
        if output.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a page ends in .html, got {str(output)!r}")
        check_output(output)
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
            file_format=file_format,
            columns=columns,
        )
        if tree is None:
            result = search.run(graph)
            coding_tree, edges = result.tree, result.graph
        else:
            reject_search_options(ctx, str(tree), reads_graph=True)
            coding_tree, edges = CodingTree.load(tree), search.read(graph)
        page_title = input_name(graph) if title is None else title
        write_explorer(coding_tree, edges, output, title=page_title)
    opened = open_ and webbrowser.open(output.resolve().as_uri())
    if as_json:
        counts = {"nodes": edges.num_nodes, "edges": edges.num_edges}
        bits = {"height": coding_tree.height, "entropy": coding_tree.entropy}
        print_json({"file": output, "opened": opened, **counts, **bits})
        return
    size = f"{counted(edges.num_nodes, 'node')}, {counted(edges.num_edges, 'edge')}"
    print(f"wrote {output}: {size}")
    if open_ and not opened:
        print("no browser to open it with")
