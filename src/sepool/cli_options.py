"""What the commands share: options, reading a graph and finding its tree, printing JSON."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sepool.build import METHODS, coding_tree, core_options
from sepool.graph import Graph, as_graph
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
        """The graph in a file."""
        weight = None if self.unweighted else "weight"
        return as_graph(path, weight=weight, self_loops=self.self_loops)

    def find(self, path: str) -> Found:
        """The graph in a file and its tree; shows on a terminal how far it is."""
        with progress_bar(f"reading {path}") as progress:
            graph = self.read(path)
            start = time.perf_counter()
            tree = coding_tree(
                graph, self.height, method=self.method, seed=self.seed, progress=progress
            )
            return Found(tree, graph, time.perf_counter() - start)


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
