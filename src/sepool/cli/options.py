"""Shared by the commands: options, tree search on a graph file, checks of paths, output."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile, ZipFile

import typer

from sepool.arguments import one_of
from sepool.build import METHODS, coding_tree, core_options
from sepool.cli.reading import column_names, note_arcs, printed_notes
from sepool.export.summary import counted as counted
from sepool.files.atomic import StrPath
from sepool.files.tree import SUFFIXES, TreeFormatError, read_tree
from sepool.graph.edges import DirectedGraph
from sepool.graph.flow import checked_teleport
from sepool.graph.formats.detect import FORMATS, checked_format
from sepool.graph.formats.options import FileOptions
from sepool.graph.formats.read import read_file
from sepool.graph.graph import Graph, as_graph, build_graph
from sepool.progress import progress_bar
from sepool.tree import CodingTree

GraphFile = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Edge list of lines 'u v', 'u v weight' or 'u', separated by blanks, tabs or commas; "
        "or CSV, Parquet, GraphML, GML, GEXF, Pajek, Matrix Market and others (--format); may be "
        "compressed (.gz, .zst); - for standard input.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"Format of the graph: {', '.join(FORMATS)}; default: by its ending or content.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns of a table with the ends and the weight, by name or number, as in "
        "source,target,weight; of GraphML, GML and GEXF the third is the attribute of the weights."
    ),
]
Height = Annotated[
    int | None,
    typer.Option(
        help="Height of the tree: 2 for clusters, 3 for clusters of clusters, ...; by default the "
        "levels that the graph supports."
    ),
]
Method = Annotated[str, typer.Option(help=f"Search method: {', '.join(METHODS)}.")]
Seed = Annotated[int, typer.Option(help="Random seed of the search.")]
Trials = Annotated[
    int, typer.Option(help="Number of seeds; the tree of the lowest entropy is kept.", min=1)
]
Threads = Annotated[
    int | None,
    typer.Option(help="Number of threads, all cores by default; the tree is the same.", min=1),
]
Directed = Annotated[
    str | None,
    typer.Option(
        help="Read lines as arcs: 'flow' weighs edges by a random walk along the arcs, "
        "'symmetrise' takes every arc for an undirected edge."
    ),
]
Teleport = Annotated[float, typer.Option(help="Probability of a jump of that walk.")]
Unweighted = Annotated[bool, typer.Option("--unweighted", help="Ignore edge weights.")]
SelfLoops = Annotated[bool, typer.Option("--self-loops", help="Count self-loops in degrees.")]
Clusters = Annotated[
    int | None, typer.Option(help="Number of clusters on the coarsest level.", min=1)
]
MinSize = Annotated[int, typer.Option(help="Least number of nodes in a cluster.", min=1)]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

DIRECTED = ("flow", "symmetrise")
_READING = ("unweighted", "self_loops", "directed", "teleport", "file_format", "columns")


@dataclass(frozen=True)
class SearchResult:
    """A coding tree, its graph, and the duration of the search."""

    tree: CodingTree
    graph: Graph
    seconds: float


@dataclass(frozen=True)
class Search:
    """Options for reading a graph file and searching its coding tree.

    Values that the core would refuse raise an error here, before a large file is read.
    """

    height: int | None
    method: str
    seed: int
    unweighted: bool
    self_loops: bool
    trials: int = 1
    threads: int | None = None
    directed: str | None = None
    teleport: float = 0.15
    clusters: int | None = None
    min_size: int = 1
    file_format: str | None = None
    columns: str | None = None

    @classmethod
    def of(cls, context: typer.Context) -> Search:
        """Return the options that a command has among its own."""
        names = [field.name for field in fields(cls) if field.name in context.params]
        return cls(**{name: context.params[name] for name in names})

    def __post_init__(self) -> None:
        height = 1 if self.height is None else self.height
        core_options(height, self.method, self.seed, self.threads, None)
        one_of("--directed", self.directed or DIRECTED[0], DIRECTED)
        checked_teleport(self.teleport)
        checked_format(self.file_format)

    def read(self, path: str) -> Graph:
        """Return the graph in a file; errors name the file."""
        _reject_tree_file(path)
        weight = None if self.unweighted else "weight"
        columns = None if self.columns is None else column_names(self.columns)
        try:
            with printed_notes():
                if self.directed == "flow":
                    return as_graph(
                        path,
                        weight=weight,
                        self_loops=self.self_loops,
                        directed="flow",
                        teleport=self.teleport,
                        format=self.file_format,
                        columns=columns,
                    )
                symmetrise = self.directed == "symmetrise"
                options = FileOptions(self.file_format, columns, weight, symmetrise)
                edges = read_file(path, options)
            graph = build_graph(edges, self.self_loops)
            if self.directed is None and edges.directed is None:
                note_arcs(path, edges, graph)
            return graph
        except DirectedGraph as error:
            remedy = "choose --directed flow to follow the arcs, or --directed symmetrise"
            raise ValueError(str(error).replace("pass symmetrise=True", remedy)) from None
        except ValueError as error:
            text = str(error)
            raise ValueError(text if text.startswith(f"{path}:") else f"{path}: {text}") from None

    def run(self, path: str) -> SearchResult:
        """Read a graph file and search its tree, with a progress bar on a terminal."""
        with progress_bar(f"reading {path}") as progress:
            graph = self.read(path)
            start = time.perf_counter()
            tree = coding_tree(
                graph,
                self.height,
                method=self.method,
                seed=self.seed,
                trials=self.trials,
                num_clusters=self.clusters,
                min_size=self.min_size,
                num_threads=self.threads,
                progress=progress,
            )
            return SearchResult(tree, graph, time.perf_counter() - start)


def reject_search_options(context: typer.Context, path: str, *, reads_graph: bool) -> None:
    """Raise an error for options of a search on the command line, where the tree is a file's.

    Options for reading a graph are rejected as well unless the command reads one.
    """
    for name in (
        "height",
        "method",
        "seed",
        "trials",
        "threads",
        *(() if reads_graph else _READING),
    ):
        origin = context.get_parameter_source(name)
        if origin is not None and origin.name == "COMMANDLINE":
            option = "--" + name.removeprefix("file_").replace("_", "-")
            raise ValueError(f"{option} needs a tree search, but {path} is a tree; drop {option}")


def is_tree_file(path: str) -> bool:
    """Return True for the suffixes of tree files; a sparse matrix in .npz is a graph."""
    if os.path.splitext(path)[1].lower() not in SUFFIXES:
        return False
    try:
        with ZipFile(path) as archive:
            return "shape.npy" not in archive.namelist()
    except (OSError, BadZipFile):  # no archive: errors are left to the reader of trees
        return True


def _reject_tree_file(path: str) -> None:
    """Raise an error with the commands for trees if a file holds a tree instead of a graph."""
    if not is_tree_file(path) or not os.path.isfile(path):
        return
    try:
        read_tree(path)
    except TreeFormatError:
        return  # no tree: errors are left to the reader of graphs
    raise ValueError(
        f"{path} is a coding tree, not a graph; draw it with 'sepool plot {path} --graph GRAPH', "
        f"or explore it with 'sepool explore GRAPH --tree {path}'"
    )


def check_files(
    inputs: Iterable[tuple[str, StrPath | None]], outputs: Iterable[tuple[str, StrPath | None]]
) -> None:
    """Raise an error if an output would overwrite an input or another output.

    Paths "-" and None are no files.

    >>> check_files([("the graph", "g.txt")], [("-o", None), ("--labels", "./g.txt")])
    Traceback (most recent call last):
    ValueError: --labels would overwrite the graph g.txt; choose another name
    >>> check_files([], [("-o", "x.json"), ("--labels", "x.json")])
    Traceback (most recent call last):
    ValueError: -o and --labels are both x.json; give each a file of its own
    """
    read = [(name, path) for name, path in inputs if path not in (None, "-")]
    written: list[tuple[str, StrPath]] = []
    for option, path in outputs:
        if path is None:
            continue
        for name, other in read:
            if _same_file(path, other):
                raise ValueError(f"{option} would overwrite {name} {other}; choose another name")
        for name, other in written:
            if _same_file(path, other):
                raise ValueError(
                    f"{name} and {option} are both {other}; give each a file of its own"
                )
        written.append((option, path))


def _same_file(one: StrPath, other: StrPath) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def input_name(path: str) -> str:
    """Return the file name of an input, "stdin" for "-"."""
    return "stdin" if path == "-" else os.path.basename(path)


def default_output(path: str, suffix: str) -> Path:
    """Return a path in the current folder, named after the input.

    >>> default_output("data/graph.txt.gz", ".html").name
    'graph.html'
    """
    name = input_name(path)
    plain = name.removesuffix(".gz").removesuffix(".zst") or name
    name = os.path.splitext(plain)[0] or plain
    return Path(name + suffix)


def print_json(value: Any) -> None:
    """Print a value as JSON, with null for numbers that are not finite.

    >>> print_json({"mean": float("nan"), "files": ["a"]})
    {
      "mean": null,
      "files": [
        "a"
      ]
    }
    """
    finite = json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
    print(json.dumps(finite, indent=2))
