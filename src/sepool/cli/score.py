"""The command ``sepool score``."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Annotated

import typer

from sepool.arguments import one_of
from sepool.cli import options
from sepool.cli.options import Search, counted, print_json
from sepool.graph.graph import Graph
from sepool.scores.compare import compare
from sepool.scores.comparison import Comparison
from sepool.scores.formats.read import FORMATS, read_cluster_file
from sepool.tree import CodingTree

ClusterFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="CLUSTERS",
        help="Files of clusters: trees (.json, .npz), tables node,level_1,level_2,... (finest "
        "first), Infomap's .clu and .tree, Pajek partitions, a cluster a line in the order of the "
        "nodes, or a community a line.",
    ),
]
Truth = Annotated[str | None, typer.Option(help="File of the true clusters, one level.")]
Level = Annotated[int | None, typer.Option(help="The only level to score; 1: finest.", min=1)]
Format = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        help=f"Format of the files of clusters: {', '.join(FORMATS)}; once for all files, or once "
        "for each in their order, the truth last.",
    ),
]


def score(
    graph: options.GraphFile,
    clusters: ClusterFiles,
    truth: Truth = None,
    level: Level = None,
    formats: Format = None,
    unweighted: options.Unweighted = False,
    self_loops: options.SelfLoops = False,
    directed: options.Directed = None,
    teleport: options.Teleport = 0.15,
    as_json: options.Json = False,
) -> None:
    """Score clusterings of a graph, with or without the truth.

    Structural entropy, modularity, mean conductance, codelength of the map equation; with --truth
    AMI and NMI.
    """
    files = [*clusters, *([] if truth is None else [truth])]
    _check_names(clusters)
    chosen = _formats(formats or ["auto"], files)
    search = Search(None, "best", 0, unweighted, self_loops, directed=directed, teleport=teleport)
    read_graph = search.read(graph)
    pairs = list(zip(files, chosen, strict=True))
    read = {pair: _read(*pair, read_graph) for pair in dict.fromkeys(pairs)}
    trees = [read[pair] for pair in pairs]
    result = compare(
        read_graph,
        dict(zip(clusters, trees, strict=False)),
        None if truth is None else trees[-1],
        level=level,
    )
    print_result = _print_json if as_json else _print_table
    print_result(graph, read_graph, result)


def _print_json(path: str, graph: Graph, result: Comparison) -> None:
    counts = {"nodes": graph.num_nodes, "edges": graph.num_edges}
    print_json({"graph": path, **counts, "rows": result.records()})


def _print_table(path: str, graph: Graph, result: Comparison) -> None:
    print(f"{path}: {counted(graph.num_nodes, 'node')}, {counted(graph.num_edges, 'edge')}")
    print(result)


def _read(path: str, file_format: str, graph: Graph) -> CodingTree:
    """Return the clustering in a file; decisions of the reader go to stderr."""
    file = read_cluster_file(path, graph, file_format)
    for note in file.notes:
        print(f"note: {note}", file=sys.stderr)
    return file.tree


def _check_names(paths: list[str]) -> None:
    """Fail on a file named twice: rows are called by their files."""
    path, count = Counter(map(os.path.normpath, paths)).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{path} is listed {count} times; name every file once")


def _formats(formats: list[str], files: list[str]) -> list[str]:
    """Return the format of every file."""
    for name in formats:
        one_of("--format", name, FORMATS)
    if len(formats) not in (1, len(files)):
        raise ValueError(
            f"--format is given {len(formats)} times for {counted(len(files), 'file')}; give it "
            "once, or once for each file, the truth last"
        )
    return formats * len(files) if len(formats) == 1 else formats
