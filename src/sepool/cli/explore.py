"""The command ``sepool explore``."""

from __future__ import annotations

import csv
import webbrowser
from pathlib import Path
from typing import Annotated, Any

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
Truth = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.csv", help="Colour nodes by labels: a CSV file with the columns node,label."
    ),
]
Significant = Annotated[
    bool, typer.Option("--significance", help="Show the bits beyond chance of every cluster.")
]
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
    truth: Truth = None,
    significance: Significant = False,
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
        inputs = [("the graph", graph), ("the tree", tree), ("the truth", truth)]
        check_files(inputs, [("-o", output)])
        if output.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a page ends in .html, got {str(output)!r}")
        check_output(output)
        labels = None if truth is None else read_labels(truth)
        search = Search.of(ctx)
        if tree is None:
            result = search.run(graph)
            coding_tree, edges = result.tree, result.graph
        else:
            reject_search_options(ctx, str(tree), reads_graph=True)
            coding_tree, edges = CodingTree.load(tree), search.read(graph)
        page_title = input_name(graph) if title is None else title
        colour_by = None if labels is None else by_node(labels, coding_tree, str(truth))
        write_explorer(
            coding_tree,
            edges,
            output,
            title=page_title,
            colour_by=colour_by,
            significance=significance,
        )
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


def read_labels(path: Path) -> dict[str, str]:
    """Return the label of every node in a CSV file with the columns ``node,label``.

    Raises:
        ValueError: the file has another heading, a line of another form, or a node twice.
    """
    labels: dict[str, str] = {}
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        heading = next(rows, [])
        if heading[:1] != ["node"] or len(heading) != 2:
            raise ValueError(f"{path}:1: expected the heading node,label, got {','.join(heading)}")
        for row in rows:
            if not row:
                continue
            if len(row) != 2:
                raise ValueError(
                    f"{path}:{rows.line_num}: expected node,label, got {','.join(row)}"
                )
            if row[0] in labels:
                raise ValueError(f"{path}:{rows.line_num}: node {row[0]} has a label already")
            labels[row[0]] = row[1]
    return labels


def by_node(labels: dict[str, str], tree: CodingTree, path: str) -> list[Any]:
    """Return labels in the order of the nodes of a tree.

    Raises:
        ValueError: a node has no label, or a label no node.
    """
    names = list(map(str, range(tree.num_nodes) if tree.names is None else tree.names))
    if missing := [name for name in names if name not in labels]:
        more = f", nor have {len(missing) - 1:,} others" if missing[1:] else ""
        raise ValueError(f"{path}: node {missing[0]} has no label{more}; add a line for each")
    if surplus := sorted(set(labels) - set(names)):
        raise ValueError(f"{path}: the graph has no node {surplus[0]}; drop its line")
    return [labels[name] for name in names]
