"""Graphs with attributes of nodes and edges, and their names and weights."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import (
    WEIGHT,
    Edges,
    Ids,
    as_weights,
    refuse_directed,
    refuse_unknown_attribute,
)
from sepool.graph.formats.opening import GraphFile
from sepool.graph.formats.options import FileOptions
from sepool.graph.ids import name_nodes


@dataclass(frozen=True)
class AttributedGraph:
    """A graph of a file, as a library has read it.

    Attributes:
        title: name of the format.
        directed: edges are arcs.
        num_nodes: number of nodes.
        ids: the ends of every edge, a row an edge.
        nodes: attributes of the nodes that may be names: name, label, id.
        edges: attributes of the edges.
    """

    title: str
    directed: bool
    num_nodes: int
    ids: Ids
    nodes: Mapping[str, Sequence[Any]]
    edges: Mapping[str, Sequence[Any]]

    def to_edges(self, file: GraphFile, options: FileOptions) -> Edges:
        """Return the edges with the names of the nodes and the chosen weights."""
        refuse_directed(self.directed, options.symmetrise, self.title)
        if not self.num_nodes:
            raise ValueError("no nodes in this file")
        words, called = self._words()
        weights, weighted = self._weights(options.attribute)
        u, v, names = name_nodes(words, self.ids[:, 0], self.ids[:, 1], text=True)
        direction = "directed" if self.directed else "undirected"
        file.note(f"{self.title}; {direction}; {called}; {weighted}")
        return Edges(u, v, weights, self.num_nodes, names=names, directed=self.directed)

    def _words(self) -> tuple[list[str], str]:
        """Return the names of the nodes: their name, label or id, if each has one of its own."""
        for key, values in self.nodes.items():
            words = [_word(value) for value in values]
            if key == "name" and any(words):  # Pajek numbers the nodes without a name
                words = [word or str(i) for i, word in enumerate(words, 1)]
            if all(words) and len(set(words)) == self.num_nodes:
                return words, f"nodes by {key}"
        start = 1 if self.title == "Pajek" else 0
        return [str(i) for i in range(start, start + self.num_nodes)], "nodes by number"

    def _weights(self, name: str | None) -> tuple[NDArray[np.float64] | None, str]:
        """Return the weights, 1 where they are missing, and a note."""
        if name not in self.edges:
            if name not in (None, WEIGHT) and len(self.ids):
                refuse_unknown_attribute(str(name), self.edges)
            ignored = f"; ignored {', '.join(self.edges)}" if self.edges else ""
            return None, f"no weights{ignored}"
        values = self.edges[str(name)]
        missing = [value is None or value != value for value in values]
        numbers = [1.0 if gap else value for gap, value in zip(missing, values, strict=True)]
        gaps = f", 1 on {sum(missing)} edges without" if any(missing) else ""
        return as_weights(numbers, len(self.ids)), f"weights {name}{gaps}"


def _word(value: Any) -> str:
    """Return a name; igraph leaves XML entities as they are, and makes floats of ids."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else html.unescape(str(value))
