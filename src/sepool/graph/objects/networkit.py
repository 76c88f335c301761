"""networkit graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.graph.edges import Edges, refuse_directed
from sepool.graph.objects.named import named_edges


def from_networkit(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a networkit graph; nodes have their ids as names unless these are 0, 1, 2, ..."""
    refuse_directed(graph.isDirected(), symmetrise, "networkit.Graph(directed=True)")
    rows = np.fromiter(graph.iterEdgesWeights(), "i8, i8, f8", graph.numberOfEdges())
    nodes = np.fromiter(graph.iterNodes(), np.int64, graph.numberOfNodes())
    position = np.zeros(graph.upperNodeIdBound(), np.int64)
    position[nodes] = np.arange(len(nodes))
    w = rows["f2"].copy() if graph.isWeighted() else None
    return named_edges(position[rows["f0"]], position[rows["f1"]], w, nodes.tolist())
