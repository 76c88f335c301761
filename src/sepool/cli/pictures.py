"""The commands ``plot`` and ``explore``, and the picture of ``sepool tree --plot``.

Only light modules are imported up here, because ``sepool --help`` comes by.
"""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from sepool.cli import options
from sepool.cli.options import Search, check_files, counted, is_tree_file, print_json
from sepool.extras import needs
from sepool.files.atomic import check_output
from sepool.graph.graph import Graph
from sepool.tree import CodingTree

KINDS = ("clusters", "dendrogram", "levels")

Input = Annotated[str, typer.Argument(metavar="FILE", help="An edge list, or a tree: .json, .npz.")]
Kind = Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}; what fits by default.")]
GraphOption = Annotated[str | None, typer.Option("--graph", help="The graph of a tree file.")]
TreeOption = Annotated[Path | None, typer.Option("--tree", help="A tree file; found otherwise.")]
Picture = Annotated[Path | None, typer.Option("--output", "-o", help="The file: .png, .svg.")]
Page = Annotated[Path | None, typer.Option("--output", "-o", help="The file: .html.")]
Level = Annotated[int | None, typer.Option(help="Colour by the clusters of this level.")]
Title = Annotated[str | None, typer.Option(help="What to write above.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Show the page in the browser.")]


def plot(
    ctx: typer.Context,
    source: Input,
    kind: Kind = "",
    output: Picture = None,
    graph: GraphOption = None,
    height: options.Height = 3,
    method: options.Method = "best",
    seed: options.Seed = 0,
    unweighted: options.Unweighted = False,
    self_loops: options.SelfLoops = False,
    level: Level = None,
    title: Title = None,
    as_json: options.Json = False,
) -> None:
    """Draw nested clusters, a dendrogram, or levels of a graph.

    The kind "levels" shows the graph itself and what is left of it after every pooling.
    """
    if kind not in ("", *KINDS):
        raise ValueError(f"--kind takes {', '.join(KINDS)}, got {kind!r}")
    saved = is_tree_file(source)
    kind = kind or ("dendrogram" if saved and graph is None else "clusters")
    if level is not None and kind == "dendrogram":
        raise ValueError(
            "--level goes with the kinds clusters and levels; a dendrogram has them all"
        )
    output = output or _beside(source, f".{kind}.png")
    inputs = (("the tree" if saved else "the graph", source), ("the graph", graph))
    check_files(inputs, [("-o", output)])
    check_picture(output)
    search = Search(height, method, seed, unweighted, self_loops)
    if saved:
        _refuse_search(ctx, source, graph is not None)
        tree, edges = CodingTree.load(source), None if graph is None else search.read(graph)
    elif graph is not None:
        raise ValueError(f"--graph goes with a tree file; {source} is read as a graph already")
    else:
        found = search.find(source)
        tree, edges = found.tree, found.graph
    draw(tree, edges, output, kind, level, title)
    if as_json:
        print_json({"file": output, "kind": kind, **_about(tree)})
    else:
        print(f"wrote {output}")


def explore(
    ctx: typer.Context,
    graph: options.GraphFile,
    tree: TreeOption = None,
    output: Page = None,
    height: options.Height = 3,
    method: options.Method = "best",
    seed: options.Seed = 0,
    unweighted: options.Unweighted = False,
    self_loops: options.SelfLoops = False,
    title: Title = None,
    open_: Open = True,
    as_json: options.Json = False,
) -> None:
    """Write a page to walk through a hierarchy, and open it.

    The page is one HTML file that needs nothing else: clusters open and close, nodes are found by
    name, and what is seen can be saved.
    """
    with needs("viz"):
        from sepool.viz.explore import bokeh_folder, write_explorer

        bokeh_folder()
        output = output or _beside(graph, ".html")
        check_files([("the graph", graph), ("the tree", tree)], [("-o", output)])
        if output.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a page ends in .html, got {str(output)!r}")
        check_output(output)
        search = Search(height, method, seed, unweighted, self_loops)
        if tree is None:
            found = search.find(graph)
            shown, edges = found.tree, found.graph
        else:
            _refuse_search(ctx, str(tree), True)
            shown, edges = CodingTree.load(tree), search.read(graph)
        name = _basename(graph) if title is None else title
        write_explorer(shown, edges, output, title=name)
    opened = open_ and webbrowser.open(output.resolve().as_uri())
    if as_json:
        counts = {"nodes": edges.num_nodes, "edges": edges.num_edges}
        print_json({"file": output, "opened": opened, **counts, **_about(shown)})
        return
    size = f"{counted(edges.num_nodes, 'node')}, {counted(edges.num_edges, 'edge')}"
    print(f"wrote {output}: {size}")
    if open_ and not opened:
        print("no browser was found to open it with")


def _refuse_search(ctx: typer.Context, path: str, reads: bool) -> None:
    """Options about how to find a tree go with no tree that is there already.

    Nor do those about how to read a graph, unless one is read beside it.
    """
    for name in ("height", "method", "seed", *(() if reads else ("unweighted", "self_loops"))):
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--" + name.replace("_", "-")
            raise ValueError(f"{option} is for finding a tree; that of {path} is there already")


def _about(tree: CodingTree) -> dict[str, float]:
    return {"height": tree.height, "entropy": tree.entropy}


def check_picture(path: Path) -> None:
    """Fails early if no picture can be drawn into this file."""
    with needs("viz"):
        from sepool.viz.drawing import picture_format

        picture_format(check_output(path))


def draw(
    tree: CodingTree,
    graph: Graph | None,
    path: Path,
    kind: str = "clusters",
    level: int | None = None,
    title: str | None = None,
) -> None:
    """Draws one picture into a file."""
    from sepool import viz

    if kind == "dendrogram":
        figure = viz.plot_dendrogram(tree, title=title)
    elif graph is None:
        raise ValueError(f"a picture of {kind} needs the graph: --graph FILE")
    elif kind == "levels":
        figure = viz.plot_levels(tree, graph, level=level, title=title)
    else:
        figure = viz.plot_clusters(tree, graph, level=level, title=title)
    viz.save_figure(figure, path)


def _basename(path: str) -> str:
    return "stdin" if path == "-" else os.path.basename(path)


def _beside(path: str, suffix: str) -> Path:
    """A name in the current folder after that of the input."""
    name = _basename(path)
    for ending in (".gz", os.path.splitext(name.removesuffix(".gz"))[1]):
        name = name.removesuffix(ending) or name
    return Path(name + suffix)
