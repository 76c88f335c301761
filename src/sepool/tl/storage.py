"""Coding trees in ``adata.uns``, as arrays and scalars that ``write_h5ad`` can store."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from sepool.tree import CodingTree

_FIELDS = ("parent", "volume", "boundary")


def tree(adata: Any, key: str = "sepool") -> CodingTree:
    """Return the coding tree that `cluster` has stored; its nodes have the names of the cells.

    The clusters of a level are numbered as the categories in ``adata.obs``.

    Args:
        adata: the ``AnnData``, also after ``write_h5ad`` and ``read_h5ad``.
        key: ``key_added`` of `cluster`.

    Raises:
        KeyError: the key has no tree.
        ValueError: the cells are others than at the clustering, or in another order.

    Example:
        >>> import sepool
        >>> sepool.tl.tree(adata)  # doctest: +SKIP
        CodingTree(height=3, nodes=700, clusters=[700, 27, 9, 1], entropy=5.3313)
    """
    entry = adata.uns.get(key)
    stored = entry.get("tree") if hasattr(entry, "get") else None
    if stored is None:
        raise KeyError(
            f"adata.uns has no tree under {key!r}; run sepool.tl.cluster(adata, key_added={key!r})"
        )
    counts = tuple(np.asarray(stored["counts"]).tolist())
    if counts[0] != adata.n_obs:
        raise ValueError(
            f"the tree of {key!r} is of {counts[0]} cells, but adata has {adata.n_obs}; cluster "
            "again"
        )
    if str(stored["cells"]) != cells_digest(adata):
        raise ValueError(
            f"the cells of adata have other names or another order than at the clustering {key!r}; "
            "cluster again"
        )
    parent, volume, boundary = (np.asarray(stored[name]) for name in _FIELDS)
    names = tuple(map(str, adata.obs_names))
    return CodingTree(counts, parent, volume, boundary, float(stored["entropy"]), names)


def stored_tree(tree: CodingTree, adata: Any) -> dict[str, Any]:
    """Return a tree as arrays and scalars."""
    return {
        "counts": np.array(tree.counts),
        **{name: getattr(tree, name) for name in _FIELDS},
        "entropy": tree.entropy,
        "cells": cells_digest(adata),
    }


def cells_digest(adata: Any) -> str:
    """Return a digest of the names of the cells and their order."""
    return sha256("\n".join(map(str, adata.obs_names)).encode()).hexdigest()


def by_size(tree: CodingTree) -> CodingTree:
    """Return the tree with siblings numbered by their number of nodes, the largest first.

    Example:
        >>> tree = CodingTree.from_levels([(0, 1), (2, 3), (3, 4)], [0, 0, 1, 1, 1])
        >>> tree.labels(1), by_size(tree).labels(1)
        (array([0, 0, 1, 1, 1], dtype=int32), array([1, 1, 0, 0, 0], dtype=int32))
    """
    orders, ranks = [np.zeros(1, np.int64)], [np.zeros(1, np.int32)]  # from the root down
    for level in range(tree.top, 0, -1):
        parent = ranks[-1][tree.assignment(level + 1)]
        orders.append(np.lexsort((-tree.cluster_sizes(level), parent)))
        ranks.append(np.argsort(orders[-1]).astype(np.int32))
    orders.append(np.arange(tree.num_nodes))
    orders, ranks = orders[::-1], ranks[::-1]
    levels = range(tree.height + 1)
    return replace(
        tree,
        parent=np.concatenate(
            [ranks[level][tree.assignment(level + 1)][orders[level]] for level in levels[:-1]]
        ),
        volume=np.concatenate([tree.volumes(level)[orders[level]] for level in levels]),
        boundary=np.concatenate([tree.boundaries(level)[orders[level]] for level in levels]),
    )
