"""Graphs with attributes: GraphML, GML and Pajek through igraph, GEXF through networkx."""

from __future__ import annotations

import re
import warnings
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np

from sepool.extras import needs
from sepool.graph.edges import Edges
from sepool.graph.formats.attributes import AttributedGraph
from sepool.graph.formats.opening import NO_UTF8, BadLine, GraphFile
from sepool.graph.formats.options import FileOptions

_SECTION = re.compile(rb"^\s*\*(edges|arcs)", re.MULTILINE | re.IGNORECASE)


def read_graphml(file: GraphFile, options: FileOptions) -> Edges:
    """Read a GraphML file; networkx reads attributes of several types, as it writes them."""
    with file.on_disk() as path:
        try:
            graph = _from_igraph(file, path, "GraphML")
        except ValueError as error:
            if "Duplicate attribute" not in str(error):
                raise
            graph = _from_networkx(file, path, "GraphML")
    return graph.to_edges(file, options)


def read_gml(file: GraphFile, options: FileOptions) -> Edges:
    """Read a GML file."""
    with file.on_disk() as path:
        _utf8(path)
        return _from_igraph(file, path, "GML").to_edges(file, options)


def read_pajek(file: GraphFile, options: FileOptions) -> Edges:
    """Read a Pajek network; igraph would take the last of *Edges and *Arcs for all."""
    with file.on_disk() as path:
        sections = {section.lower() for section in _SECTION.findall(_utf8(path))}
        if len(sections) > 1:
            raise ValueError("the file has *Edges and *Arcs; keep one of them")
        return _from_igraph(file, path, "Pajek").to_edges(file, options)


def read_gexf(file: GraphFile, options: FileOptions) -> Edges:
    """Read a GEXF file."""
    with file.on_disk() as path:
        return _from_networkx(file, path, "GEXF").to_edges(file, options)


def _from_igraph(file: GraphFile, path: str, title: str) -> AttributedGraph:
    with needs("io", f"reading {file.path}"):
        import igraph
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # entities, which are resolved later
        try:
            graph = getattr(igraph.Graph, f"Read_{title}")(path)
        except igraph.InternalError as error:
            raise _shortened(str(error), title) from None
    return AttributedGraph(
        title,
        graph.is_directed(),
        graph.vcount(),
        np.array(graph.get_edgelist(), np.int64).reshape(-1, 2),
        {key: graph.vs[key] for key in ("name", "label", "id") if key in graph.vs.attributes()},
        {key: graph.es[key] for key in graph.es.attributes()},
    )


def _from_networkx(file: GraphFile, path: str, title: str) -> AttributedGraph:
    with needs("io", f"reading {file.path}"):
        import networkx as nx
    try:
        graph = getattr(nx, f"read_{title.lower()}")(path)
    except ParseError as error:
        raise BadLine(error.position[0], f"this is no whole {title} file ({error})") from None
    except (nx.NetworkXException, LookupError, AttributeError, RuntimeError) as error:
        raise ValueError(f"this is no {title} file ({error})") from None
    number = {node: i for i, node in enumerate(graph)}
    rows = list(graph.edges(data=True))
    nodes: dict[str, list[Any]] = {
        key: [data.get(key) for _, data in graph.nodes(data=True)] for key in ("name", "label")
    }
    # networkx adds the id of an edge to its attributes.
    keys = dict.fromkeys(key for *_, data in rows for key in data if key != "id")
    return AttributedGraph(
        title,
        graph.is_directed(),
        len(graph),
        np.array([(number[a], number[b]) for a, b, _ in rows], np.int64).reshape(-1, 2),
        {**nodes, "id": list(graph)},
        {key: [data.get(key) for *_, data in rows] for key in keys},
    )


def _utf8(path: str) -> bytes:
    """Return the content of a file; fail on other encodings, on which igraph aborts the process."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadLine(line, NO_UTF8) from None
    return content


def _shortened(text: str, title: str) -> ValueError:
    """Return an error of igraph as one line, with the line of the file if it has one."""
    match = re.search(r"\bline (\d+)", text, re.IGNORECASE)
    inner = re.search(r"^Error at \S+: (.*?)\.?\s*-- ", text, re.DOTALL)
    reason = " ".join((inner[1] if inner else text).split())
    short = f"this is no whole {title} file ({reason})"
    return BadLine(int(match[1]), short) if match else ValueError(short)
