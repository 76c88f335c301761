"""graph-tool graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import WEIGHT, Edges, as_weights, refuse_directed, refuse_unknown_attribute

_NOT_NUMBERS = ("string", "object", "vector")  # parts of the names of value types


def from_graph_tool(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a graph-tool graph or view; the vertex property ``name`` has the names.

    Of a view, the vertices and edges that its filters leave.
    """
    refuse_directed(graph.is_directed(), symmetrise, "graph_tool.Graph(directed=True)")
    ids = np.asarray(graph.get_edges(), np.int64).reshape(-1, 2)
    properties = graph.edge_properties
    if weight not in (None, WEIGHT) and len(ids):
        refuse_unknown_attribute(weight, properties)
    w = as_weights(_values(graph, properties[weight]), len(ids)) if weight in properties else None
    nodes = np.asarray(graph.get_vertices(), np.int64)
    position = np.zeros(int(nodes.max(initial=-1)) + 1, np.int64)
    position[nodes] = np.arange(len(nodes))
    names = None
    if "name" in graph.vertex_properties:
        names = tuple(graph.vertex_properties["name"][node] for node in graph.vertices())
    elif len(nodes) < len(position):
        names = tuple(nodes.tolist())
    return Edges(position[ids[:, 0]], position[ids[:, 1]], w, len(nodes), names=names)


def _values(graph: Any, values: Any) -> NDArray[Any] | list[Any]:
    """Return an edge property in the order of ``get_edges``."""
    if any(part in values.value_type() for part in _NOT_NUMBERS):
        return [values[edge] for edge in graph.edges()]
    column: NDArray[Any] = np.asarray(graph.get_edges([values]))[:, 2]
    return column
