"""Clusters of nodes as a file lists them, and their match with the nodes of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.levels import names_of
from sepool.scores.formats.text import Text


@dataclass(frozen=True)
class Rows:
    """Nodes and their clusters, as strings.

    Attributes:
        lines: number of the line of every node.
        levels: the cluster of every node, one list a level, finest first.
        nodes: the name of every node, or None for all nodes in the order of the graph.
        ids: the number of every node by another program, to try after the names.
        note: decisions of the reader, for the user.
    """

    lines: list[int]
    levels: list[list[str]]
    nodes: list[str] | None = None
    ids: list[str] | None = None
    note: str = ""


class NodeIndex:
    """Positions of the nodes of a graph by their names as text."""

    def __init__(self, graph: Graph) -> None:
        self.names = names_of(graph)
        self.index = {str(name): i for i, name in enumerate(self.names)}
        if len(self.index) < graph.num_nodes:
            raise ValueError(
                "several nodes of the graph have the same name as text, so that no file of "
                "clusters can name them; pass labels in the order of the nodes"
            )

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, name: object) -> bool:
        return name in self.index

    def covers(self, nodes: Sequence[str]) -> bool:
        """Return True if these are the names of all nodes, each once."""
        return len(nodes) == len(self) and set(nodes) == self.index.keys()

    def ordinals(self, ids: Sequence[str]) -> int | None:
        """Return the first number if ids count the nodes from 0 or 1, None otherwise.

        Names that are all whole numbers from 0 must match by themselves.
        """
        if len(ids) != len(self) or all(name.isdigit() for name in self.index):
            return None
        for first in (0, 1):
            if set(ids) == {str(i) for i in range(first, first + len(self))}:
                return first
        return None


def match(text: Text, rows: Rows, nodes: NodeIndex) -> tuple[list[NDArray[np.str_]], str]:
    """Return one array of labels a level, in the order of the nodes, and a note.

    Raises:
        ValueError: a node is missing, unknown or repeated; the message has the file and the line.
    """
    if rows.nodes is None:
        if len(rows.lines) != len(nodes):
            raise ValueError(
                f"{text.path}: expected {len(nodes)} clusters, one a node of the graph, got "
                f"{len(rows.lines)}"
            )
        return [np.array(level) for level in rows.levels], "in the order of the nodes"
    names, note = _matching_names(rows, nodes)
    line_of: dict[str, int] = {}
    for name, number in zip(names, rows.lines, strict=True):
        if name not in nodes:
            raise text.error(
                number,
                f"node {name!r} is not in the graph; its nodes have names like "
                f"{str(nodes.names[0])!r}",
            )
        if name in line_of:
            raise text.error(number, f"node {name!r} again; it is on line {line_of[name]} as well")
        line_of[name] = number
    missing = [name for name in nodes.index if name not in line_of]
    if missing:
        more = f" ({len(missing)} nodes have none)" if len(missing) > 1 else ""
        raise ValueError(
            f"{text.path}: node {missing[0]!r} of the graph has no cluster in this file{more}"
        )
    order = np.empty(len(nodes), np.int64)
    order[[nodes.index[name] for name in names]] = np.arange(len(nodes))
    return [np.array(level)[order] for level in rows.levels], note


def _matching_names(rows: Rows, nodes: NodeIndex) -> tuple[Sequence[str], str]:
    """Return the names of the nodes in the graph, by names, by ids, or by ids that count them."""
    names, ids = rows.nodes or [], rows.ids
    if ids is None or nodes.covers(names):
        return names, ""
    if ids is not names and any(name in nodes for name in names):
        return names, ""
    if nodes.covers(ids):
        return ids, "nodes by their ids"
    first = nodes.ordinals(ids)
    if first is None:
        return (ids if any(i in nodes for i in ids) else names), ""
    in_order = list(nodes.index)
    note = f"ids from {first} count the nodes in the order of the graph"
    return [in_order[int(i) - first] for i in ids], note
