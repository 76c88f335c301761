"""The commands ``plot`` and ``explore``, and the picture of ``sepool tree --plot``.

Only light modules are imported up here, because ``sepool --help`` comes by.
"""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sepool.build import METHODS, coding_tree, core_options
from sepool.errors import one_line_errors
from sepool.graph import Graph, as_graph
from sepool.io import check_output
from sepool.progress import progress_bar
from sepool.tree import CodingTree

KINDS = ("clusters", "dendrogram", "levels")
TREE_FILES = (".json", ".npz")

Input = Annotated[str, typer.Argument(help="An edge list, or a tree: .json, .npz.")]
GraphFile = Annotated[str, typer.Argument(help="Lines 'u v' or 'u v weight'; may be gzipped.")]
Kind = Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")]
GraphOption = Annotated[str | None, typer.Option("--graph", help="The graph of a tree file.")]
TreeOption = Annotated[Path | None, typer.Option("--tree", help="A tree file; found otherwise.")]
Picture = Annotated[Path | None, typer.Option("--output", "-o", help="The file: .png, .svg.")]
Page = Annotated[Path | None, typer.Option("--output", "-o", help="The file: .html.")]
Height = Annotated[int, typer.Option(help="Level of the root; 3 gives clusters of clusters.")]
Method = Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")]
Seed = Annotated[int, typer.Option(help="Decides between equals.")]
Level = Annotated[int | None, typer.Option(help="Colour by the clusters of this level.")]
Title = Annotated[str | None, typer.Option(help="What to write above.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Show the page in the browser.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to an app."""
    app.command()(plot)
    app.command()(explore)


def plot(
    source: Input,
    kind: Kind = "",
    output: Picture = None,
    graph: GraphOption = None,
    height: Height = 3,
    method: Method = "best",
    seed: Seed = 0,
    level: Level = None,
    title: Title = None,
    debug: Debug = False,
) -> None:
    """Draw a coding tree: nested clusters, a dendrogram, or the graph level by level."""
    with one_line_errors(debug), _say_what_is_missing():
        from sepool.viz.figures import picture_suffix

        if kind not in ("", *KINDS):
            raise ValueError(f"--kind takes {', '.join(KINDS)}, got {kind!r}")
        saved = _is_tree(source)
        kind = kind or ("dendrogram" if saved and graph is None else "clusters")
        output = output or _beside(source, f".{kind}.png")
        picture_suffix(check_output(output))
        core_options(height, method, seed, None, None)  # complain before reading a large file
        if saved:
            tree, edges = CodingTree.load(source), None if graph is None else as_graph(graph)
        elif graph is not None:
            raise ValueError(f"--graph goes with a tree file; {source} is read as a graph already")
        else:
            tree, edges = _find(source, height, method, seed)
        draw(tree, edges, output, kind, level, title)
        print(f"wrote {output}")


def explore(
    graph: GraphFile,
    tree: TreeOption = None,
    output: Page = None,
    height: Height = 3,
    method: Method = "best",
    seed: Seed = 0,
    title: Title = None,
    open_: Open = True,
    debug: Debug = False,
) -> None:
    """Write a page to walk through the hierarchy of a graph, and open it in the browser."""
    with one_line_errors(debug), _say_what_is_missing():
        from sepool.viz.explore import check_library, write_explorer

        check_library()
        output = output or _beside(graph, ".html")
        check_output(output)
        core_options(height, method, seed, None, None)
        if tree is None:
            found, edges = _find(graph, height, method, seed)
        else:
            found, edges = CodingTree.load(tree), as_graph(graph)
        write_explorer(
            found, edges, output, title=os.path.basename(graph) if title is None else title
        )
        print(f"wrote {output}: {edges.num_nodes:,} nodes, {edges.num_edges:,} edges")
        if open_ and not webbrowser.open(output.resolve().as_uri()):
            print("no browser was found to open it with")


def check_picture(path: Path) -> None:
    """Fails early if no picture can be drawn into this file."""
    with _say_what_is_missing():
        from sepool.viz.figures import picture_suffix

        picture_suffix(check_output(path))


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


def _find(path: str, height: int, method: str, seed: int) -> tuple[CodingTree, Graph]:
    with progress_bar(f"reading {path}") as progress:
        graph = as_graph(path)
        return coding_tree(graph, height, method=method, seed=seed, progress=progress), graph


def _is_tree(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in TREE_FILES


def _beside(path: str, suffix: str) -> Path:
    """A name in the current folder after that of the input."""
    name = os.path.basename(path)
    for ending in (".gz", os.path.splitext(name.removesuffix(".gz"))[1]):
        name = name.removesuffix(ending) or name
    return Path(name + suffix)


@contextmanager
def _say_what_is_missing() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "sepool").startswith("sepool"):
            raise
        raise ValueError(f"this needs {error.name}: pip install 'sepool[viz]'") from error
