"""networkx graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.graph.edges import WEIGHT, Edges, as_weights, refuse_directed, refuse_unknown_attribute


def from_networkx(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """A networkx graph; the nodes keep their order, and their ``str`` becomes their name."""
    refuse_directed(graph.is_directed(), symmetrise, f"nx.{type(graph).__name__}")
    ids = {node: i for i, node in enumerate(graph)}
    rows = list(graph.edges(data=weight, default=1) if weight else graph.edges())
    u = np.fromiter((ids[row[0]] for row in rows), np.int64, len(rows))
    v = np.fromiter((ids[row[1]] for row in rows), np.int64, len(rows))
    w = as_weights([row[2] for row in rows], len(rows)) if weight else None
    if weight not in (None, WEIGHT) and rows:
        every = [data for *_, data in graph.edges(data=True)]
        if not any(weight in data for data in every):
            refuse_unknown_attribute(weight, dict.fromkeys(key for data in every for key in data))
    plain = list(ids) == list(range(len(ids)))
    return Edges(u, v, w, len(ids), names=None if plain else tuple(map(str, ids)))
