"""What the commands share: options, reading a graph and finding its tree, printing JSON."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sepool.build import METHODS, coding_tree, core_options
from sepool.files.atomic import StrPath
from sepool.files.tree import SUFFIXES, TreeFormatError, read_tree
from sepool.graph.graph import Graph, as_graph
from sepool.progress import progress_bar
from sepool.tree import CodingTree

GraphFile = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="Lines 'u v', 'u v weight' or 'u', with blanks, tabs or commas; may be gzipped; - is "
        "standard input.",
    ),
]
Height = Annotated[
    int, typer.Option(help="Level of the root: 2 for clusters, 3 for clusters of clusters, ...")
]
Method = Annotated[str, typer.Option(help=f"How to search: {', '.join(METHODS)}.")]
Seed = Annotated[
    int, typer.Option(help="Orders what best tries; others may end a little lower or higher.")
]
Unweighted = Annotated[bool, typer.Option("--unweighted", help="Ignore the weights.")]
SelfLoops = Annotated[bool, typer.Option("--self-loops", help="Count self-loops in the degrees.")]
Json = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, for scripts.")]


@dataclass(frozen=True)
class Found:
    """A tree, its graph, and how long the search took."""

    tree: CodingTree
    graph: Graph
    seconds: float


@dataclass(frozen=True)
class Search:
    """What the options say about a graph file and the tree to find in it.

    Complains at once about a value that the core would refuse after a large file was read.

    Args:
        height: level of the root.
        method: how to search.
        seed: orders what "best" tries.
        unweighted: ignore the weights.
        self_loops: count self-loops in the degrees.
    """

    height: int
    method: str
    seed: int
    unweighted: bool
    self_loops: bool

    def __post_init__(self) -> None:
        core_options(self.height, self.method, self.seed, None, None)

    def read(self, path: str) -> Graph:
        """The graph in a file; errors name the file."""
        _refuse_tree(path)
        weight = None if self.unweighted else "weight"
        try:
            return as_graph(path, weight=weight, self_loops=self.self_loops)
        except ValueError as error:
            text = str(error)
            raise ValueError(text if text.startswith(f"{path}:") else f"{path}: {text}") from None

    def find(self, path: str) -> Found:
        """The graph in a file and its tree; shows on a terminal how far it is."""
        with progress_bar(f"reading {path}") as progress:
            graph = self.read(path)
            start = time.perf_counter()
            tree = coding_tree(
                graph, self.height, method=self.method, seed=self.seed, progress=progress
            )
            return Found(tree, graph, time.perf_counter() - start)


def is_tree_file(path: str) -> bool:
    """Whether a file is one of a tree, by its name."""
    return os.path.splitext(path)[1].lower() in SUFFIXES


def _refuse_tree(path: str) -> None:
    """Says what to do with a tree where a graph is expected."""
    if not is_tree_file(path) or not os.path.isfile(path):
        return
    try:
        read_tree(path)
    except TreeFormatError:
        return  # whatever it is, the reader of graphs says what is wrong with it
    raise ValueError(
        f"{path} is a coding tree, not a graph; draw it with 'sepool plot {path} --graph GRAPH', "
        f"or walk through it with 'sepool explore GRAPH --tree {path}'"
    )


def check_files(
    inputs: Iterable[tuple[str, StrPath | None]], outputs: Iterable[tuple[str, StrPath | None]]
) -> None:
    """Refuses to write over an input, or two outputs into one file; "-" and None are no files.

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
            if _same(path, other):
                raise ValueError(f"{option} would overwrite {name} {other}; choose another name")
        for name, other in written:
            if _same(path, other):
                raise ValueError(
                    f"{name} and {option} are both {other}; give each a file of its own"
                )
        written.append((option, path))


def _same(one: StrPath, other: StrPath) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "node"), counted(1234, "edge")
    ('1 node', '1,234 edges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_json(value: Any) -> None:
    """Prints a value as JSON, which has no word for numbers that are not finite: they are null.

    >>> print_json({"mean": math.nan, "files": ["a"]})
    {
      "mean": null,
      "files": [
        "a"
      ]
    }
    """
    print(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else str(value)
