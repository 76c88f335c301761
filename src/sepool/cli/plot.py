"""The command ``sepool plot`` and the picture of ``sepool tree --plot``.

Drawing libraries are imported on use: ``sepool --help`` imports this module.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sepool.cli import options
from sepool.cli.options import (
    Search,
    check_files,
    default_output,
    is_tree_file,
    print_json,
    reject_search_options,
)
from sepool.extras import needs
from sepool.files.atomic import check_output
from sepool.graph.graph import Graph
from sepool.tree import CodingTree

DIAGRAMS = ("clusters", "dendrogram", "levels")

Input = Annotated[str, typer.Argument(metavar="FILE", help="Graph, or tree: .json, .npz.")]
Diagram = Annotated[
    str, typer.Option("--kind", help=f"One of {', '.join(DIAGRAMS)}; default by the input.")
]
GraphOption = Annotated[str | None, typer.Option("--graph", help="Graph of a tree file.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Output file: .png, .svg, .pdf.")
]
Level = Annotated[
    int | None, typer.Option(help="Finest level with shades of its own; default: all levels.")
]
Title = Annotated[str | None, typer.Option(help="Title above the picture.")]


def plot(
    ctx: typer.Context,
    path: Input,
    diagram: Diagram = "",
    output: Output = None,
    graph: GraphOption = None,
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
    level: Level = None,
    title: Title = None,
    as_json: options.Json = False,
) -> None:
    """Draw nested clusters, a dendrogram or coarse graphs.

    The kind "levels" shows the graph and its coarse graph on every level.
    """
    if diagram not in ("", *DIAGRAMS):
        raise ValueError(f"--kind takes {', '.join(DIAGRAMS)}, got {diagram!r}")
    is_tree = is_tree_file(path) and (file_format is None or graph is not None)
    diagram = diagram or ("dendrogram" if is_tree and graph is None else "clusters")
    if level is not None and diagram == "dendrogram":
        raise ValueError("--level goes with the kinds clusters and levels, got dendrogram")
    output = output or default_output(path, f".{diagram}.png")
    inputs = (("the tree" if is_tree else "the graph", path), ("the graph", graph))
    check_files(inputs, [("-o", output)])
    check_picture(output)
    search = Search.of(ctx)
    if is_tree:
        reject_search_options(ctx, path, reads_graph=graph is not None)
        tree, drawn_graph = CodingTree.load(path), None if graph is None else search.read(graph)
    elif graph is not None:
        raise ValueError(f"--graph goes with a tree file, but {path} is read as a graph")
    else:
        result = search.run(path)
        tree, drawn_graph = result.tree, result.graph
    draw(tree, drawn_graph, output, diagram, level, title)
    if as_json:
        print_json(
            {"file": output, "kind": diagram, "height": tree.height, "entropy": tree.entropy}
        )
    else:
        print(f"wrote {output}")


def check_picture(path: Path) -> None:
    """Raise an error if a picture cannot be written to a path."""
    with needs("viz"):
        from sepool.viz.drawing import picture_format

        picture_format(check_output(path))


def draw(
    tree: CodingTree,
    graph: Graph | None,
    path: Path,
    diagram: str = "clusters",
    level: int | None = None,
    title: str | None = None,
) -> None:
    """Draw one picture and write it to a file."""
    from sepool import viz

    if diagram == "dendrogram":
        figure = viz.plot_dendrogram(tree, title=title)
    elif graph is None:
        raise ValueError(f"a picture of {diagram} needs the graph: --graph FILE")
    else:
        plot_graph = viz.plot_levels if diagram == "levels" else viz.plot_clusters
        figure = plot_graph(tree, graph, level=level, title=title)
    viz.save_figure(figure, path)
