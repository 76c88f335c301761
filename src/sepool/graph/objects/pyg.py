"""PyG ``Data`` objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import Edges, as_weights, node_count
from sepool.graph.objects.numpy import highest_id, whole_ids


def from_pyg(data: Any, weight: str | None, symmetrise: bool) -> Edges:
    """Read a PyG ``Data``; weights are ``edge_weight``, or ``edge_attr`` if it has one axis."""
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise ValueError(f"{type(data).__name__} has no edge_index; pass a homogeneous PyG Data")
    ids = _numpy(edge_index, "edge_index")
    if ids.size == 0 and ids.ndim == 2 and len(ids) == 2:
        ids = ids.astype(np.int64)  # of an empty list
    if ids.ndim != 2 or len(ids) != 2 or ids.dtype.kind not in "iu":
        raise ValueError(
            f"edge_index must be integers of shape (2, m), got {ids.dtype} {ids.shape}"
        )
    ids = whole_ids(ids)
    w = data.edge_weight
    if w is None and data.edge_attr is not None:
        w = _numpy(data.edge_attr, "edge_attr")
        w = w if w.ndim == 1 else None
    if w is not None:
        w = as_weights(_numpy(w, "edge_weight"), ids.shape[1])
    n = highest_id(ids) + 1 if data.num_nodes is None else node_count(data.num_nodes)
    return Edges(ids[0], ids[1], w, n, both=not symmetrise)


def _numpy(values: Any, field: str) -> NDArray[Any]:
    """Return a tensor, or a list or array in its place, as an array."""
    if hasattr(values, "detach"):
        from sepool.graph.objects.torch import as_array

        return as_array(values)
    if isinstance(values, (list, tuple, np.ndarray)):
        try:
            return np.asarray(values)
        except ValueError:
            raise ValueError(f"{field} has rows of several lengths; pass a tensor") from None
    raise TypeError(f"{field} must be a tensor, got {values!r}")
