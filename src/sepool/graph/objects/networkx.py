"""networkx graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.graph.edges import WEIGHT, Edges, as_weights, refuse_directed, refuse_unknown_attribute


def from_networkx(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a networkx graph; its nodes keep their order and are their own names."""
    refuse_directed(graph.is_directed(), symmetrise, f"nx.{type(graph).__name__}")
    ids = {node: i for i, node in enumerate(graph)}
    rows = list(graph.edges() if weight is None else graph.edges(data=weight, default=1))
    u = np.fromiter((ids[row[0]] for row in rows), np.int64, len(rows))
    v = np.fromiter((ids[row[1]] for row in rows), np.int64, len(rows))
    w = None if weight is None else as_weights([row[2] for row in rows], len(rows))
    if weight not in (None, WEIGHT) and rows:
        attributes = dict.fromkeys(key for *_, data in graph.edges(data=True) for key in data)
        refuse_unknown_attribute(weight, attributes)
    plain = list(ids) == list(range(len(ids)))
    return Edges(u, v, w, len(ids), names=None if plain else tuple(ids))
