"""Text files of networkx: edge lists with data, and adjacency lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sepool.extras import needs
from sepool.graph.edges import Edges
from sepool.graph.formats.opening import BadLine, GraphFile, text_lines
from sepool.graph.formats.options import FileOptions
from sepool.graph.ids import name_nodes
from sepool.graph.objects.networkx import from_networkx


def read_data_list(file: GraphFile, options: FileOptions) -> Edges:
    """Read lines ``u v {'weight': 2}``; a line is one edge, and repeated edges add up."""
    with needs("io", f"reading {file.path}"):
        import networkx as nx
    lines = _Lines(file)
    try:
        graph = nx.parse_edgelist(lines, create_using=nx.MultiDiGraph)
    except (TypeError, ValueError) as error:
        raise BadLine(lines.number, f"expected u v {{'weight': 2}}: {error}") from None
    weight = options.attribute
    has_weights = any(weight in data for *_, data in graph.edges(data=True))
    edges = _edges(graph, weight if has_weights or weight != "weight" else None)
    file.note(
        f"edge list with data; {f'weights {weight}' if edges.w is not None else 'no weights'}"
    )
    return edges


def read_adjacency_list(file: GraphFile, options: FileOptions) -> Edges:
    """Read lines of a node and its neighbours; an edge may be listed at one end or at both."""
    with needs("io", f"reading {file.path}"):
        import networkx as nx
    graph = nx.parse_adjlist(_Lines(file), create_using=nx.Graph)
    if not graph:
        raise ValueError("no nodes in this file")
    file.note("adjacency list; undirected; no weights")
    return _edges(graph, None)._replace(directed=False)


def _edges(graph: Any, weight: str | None) -> Edges:
    edges = from_networkx(graph, weight, symmetrise=True)
    words = list(graph)
    u, v, names = name_nodes(words, edges.u, edges.v, text=True)
    return edges._replace(u=u, v=v, names=names)


class _Lines:
    """The lines of a file as text, and the number of the last."""

    def __init__(self, file: GraphFile) -> None:
        self._stream, self.number = file.stream, 0

    def __iter__(self) -> Iterator[str]:
        for number, line in text_lines(self._stream):
            self.number = number
            if line.partition("#")[0].strip():  # networkx fails on blank lines of adjacency lists
                yield line
