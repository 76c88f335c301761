"""igraph graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.graph.edges import WEIGHT, Edges, as_weights, refuse_directed, refuse_unknown_attribute


def from_igraph(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read an igraph graph; the vertex attribute ``name`` has the names."""
    refuse_directed(graph.is_directed(), symmetrise, "igraph.Graph(directed=True)")
    ids = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if weight not in (None, WEIGHT) and len(ids):
        refuse_unknown_attribute(weight, graph.es.attributes())
    w = graph.es[weight] if weight in graph.es.attributes() else None
    names = tuple(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    return Edges(ids[:, 0], ids[:, 1], as_weights(w, len(ids)), graph.vcount(), names=names)
