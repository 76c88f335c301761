"""The graph of neighbours of an ``AnnData``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sepool.extras import needs
from sepool.graph.graph import Graph, as_graph

_ASYMMETRY = 1e-6  # relative; float32 rounding is below it


def connectivities_key(adata: Any, neighbors_key: str | None, obsp: str | None) -> str:
    """Return the key in ``adata.obsp`` of the connectivities, chosen as in scanpy."""
    if obsp is not None and neighbors_key is not None:
        raise ValueError(
            f"obsp={obsp!r} cannot be combined with neighbors_key={neighbors_key!r}; leave one out"
        )
    if obsp is None:
        name = "neighbors" if neighbors_key is None else neighbors_key
        if name not in adata.uns:
            remedy = "run sc.pp.neighbors(adata) first"
            if neighbors_key is not None:
                remedy = f"{_names(_neighbors_keys(adata))}; {remedy} with key_added={name!r}"
            raise KeyError(f"adata.uns has no {name!r}; {remedy}")
        # Files of scanpy before 1.5 have no key.
        obsp = str(adata.uns[name].get("connectivities_key", "connectivities"))
        origin = f", the connectivities of adata.uns[{name!r}]; run sc.pp.neighbors(adata) again"
    else:
        origin = f"; {_names(adata.obsp)}"
    if obsp not in adata.obsp:
        raise KeyError(f"adata.obsp has no {obsp!r}{origin}")
    return obsp


def graph_of(adata: Any, key: str, use_weights: bool) -> Graph:
    """Return the graph in ``adata.obsp[key]``; self-loops are dropped."""
    with needs("io", "sepool.tl"):
        from scipy import sparse
    value, place = adata.obsp[key], f"adata.obsp[{key!r}]"
    if value.shape != (adata.n_obs, adata.n_obs):
        raise ValueError(
            f"{place} must be square, a row and a column a cell ({adata.n_obs}), got shape "
            f"{value.shape}"
        )
    matrix = sparse.csr_array(value, dtype=np.float64)
    gap = abs(matrix - matrix.T) > _ASYMMETRY * abs(matrix).maximum(abs(matrix.T))
    if gap.nnz:
        row, column = (int(index[0]) for index in gap.nonzero())
        raise ValueError(
            f"{place} must be symmetric, but cell {row} to {column} weighs "
            f"{matrix[row, column]:g}, back {matrix[column, row]:g}; take the "
            "connectivities of sc.pp.neighbors, not the distances"
        )
    try:
        return as_graph(matrix, weight="weight" if use_weights else None)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _neighbors_keys(adata: Any) -> list[str]:
    """Return the keys of ``adata.uns`` under which scanpy has stored neighbours."""
    return [key for key, value in adata.uns.items() if "connectivities_key" in _mapping(value)]


def _mapping(value: Any) -> Any:
    return value if hasattr(value, "keys") else {}


def _names(keys: Any) -> str:
    return f"it has {', '.join(map(repr, keys)) or 'none'}"
