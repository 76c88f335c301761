"""A clustering of a graph, read from a file of any of several formats."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sepool.arguments import one_of
from sepool.files.atomic import StrPath
from sepool.files.tree import SUFFIXES
from sepool.graph.graph import Graph, as_graph
from sepool.levels import check_graph
from sepool.scores.formats.detect import detect
from sepool.scores.formats.infomap import read_clu, read_infomap_tree
from sepool.scores.formats.lines import read_communities, read_labels, read_pajek
from sepool.scores.formats.rows import NodeIndex, Rows, match
from sepool.scores.formats.table import read_table
from sepool.scores.formats.text import Text, read_text
from sepool.tree import CodingTree

_READERS: dict[str, Callable[[Text], Rows]] = {
    "infomap-clu": read_clu,
    "infomap-tree": read_infomap_tree,
    "pajek": read_pajek,
    "labels": read_labels,
    "communities": read_communities,
}
FORMATS = ("auto", "tree", "table", *_READERS)


@dataclass(frozen=True)
class ClusterFile:
    """A clustering from a file.

    Attributes:
        tree: the clustering as a coding tree of the graph.
        format: one of the formats of `read_clustering`.
        notes: format, header and order of the nodes, one line a decision.
    """

    tree: CodingTree
    format: str
    notes: tuple[str, ...]


def read_clustering(path: StrPath, graph: Any, *, format: str = "auto") -> CodingTree:
    r"""Read a clustering of a graph; every node of the graph must have a cluster.

    Args:
        path: the file, plain or compressed (.gz, .zst).
        graph: anything `sepool.as_graph` takes; its names are matched with those in the file.
        format: "auto" recognises all but a few ambiguous files; or one of

            - "tree": ``.json`` and ``.npz`` files of `CodingTree.save`,
            - "table": ``node,level_1,level_2,...``, finest first, separated by commas, tabs or
              blanks; two columns may do without the header,
            - "infomap-clu": ``node_id module flow``,
            - "infomap-tree": ``path flow "name" node_id``, with nested modules,
            - "pajek": ``*Vertices n``, then a cluster a line, in the order of the nodes,
            - "labels": a cluster a line, in the order of the nodes,
            - "communities": the members of a community a line, separated by blanks or tabs.

    Raises:
        ValueError: a line is malformed, the format is in doubt, or a node is missing, unknown or
            repeated; the message has the file, the line and the node.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "clusters.csv")
        ...     _ = path.write_text("node,level_1\n0,a\n1,a\n2,b\n3,b\n")
        ...     read_clustering(path, [(0, 1), (2, 3)])
        CodingTree(height=2, nodes=4, clusters=[4, 2, 1], entropy=1.0000)
    """
    return read_cluster_file(path, graph, format).tree


def read_cluster_file(path: StrPath, graph: Any, format: str = "auto") -> ClusterFile:
    """Read a clustering as `read_clustering` does, with notes on the decisions made."""
    one_of("format", format, FORMATS)
    whole, name = as_graph(graph), os.fspath(path)
    if format == "tree" or (format == "auto" and name.lower().endswith(SUFFIXES)):
        return _read_tree(name, whole)
    text, nodes = read_text(name), NodeIndex(whole)
    chosen = detect(text, nodes) if format == "auto" else format
    doubt = f" (read as {chosen}; format=, --format, names another)" if format == "auto" else ""
    try:
        rows = read_table(text, nodes) if chosen == "table" else _READERS[chosen](text)
        levels, order = match(text, rows, nodes)
    except ValueError as error:
        raise ValueError(f"{error}{doubt}") from None
    tree = _nested(name, whole, levels)
    details = ", ".join(filter(None, [chosen, rows.note, order]))
    return ClusterFile(tree, chosen, (f"{name}: {details}; {_counts(tree)}",))


def _read_tree(name: str, graph: Graph) -> ClusterFile:
    tree = CodingTree.load(name)
    try:
        check_graph(tree, graph)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    tree = _nested(name, graph, [tree.labels(level) for level in range(1, tree.height)])
    return ClusterFile(tree, "tree", (f"{name}: tree; {_counts(tree)}",))


def _nested(name: str, graph: Graph, levels: list[Any]) -> CodingTree:
    """Return the tree of some levels; errors name the file."""
    try:
        return CodingTree.from_levels(graph, levels)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _counts(tree: CodingTree) -> str:
    """Return the number of clusters on every level."""
    counts = [str(tree.num_clusters(level)) for level in range(1, tree.height)] or ["1"]
    return f"{', '.join(counts)} cluster{'s' * (counts != ['1'])}"
