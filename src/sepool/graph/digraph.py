"""Directed networkx graphs of trees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs


def tree_digraph(
    columns: Sequence[dict[str, NDArray[np.float64]]],
    parents: Sequence[NDArray[np.int32]],
    names: Sequence[Hashable],
) -> Any:
    """Return a ``networkx.DiGraph`` of the columns of every level and of all parents."""
    with needs("", "to_networkx"):
        import networkx as nx

    digraph = nx.DiGraph()
    for level in reversed(range(len(columns))):
        rows = zip(*(column.tolist() for column in columns[level].values()), strict=True)
        for i, values in enumerate(rows):
            digraph.add_node(
                (level, i), level=level, **dict(zip(columns[level], values, strict=True))
            )
        if level < len(parents):
            up = enumerate(parents[level].tolist())
            digraph.add_edges_from(((level + 1, p), (level, i)) for i, p in up)
    for i, name in enumerate(names):
        digraph.nodes[0, i]["name"] = name
    return digraph
