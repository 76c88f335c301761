"""Conductance of the clusters of a level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sepool.tree import CodingTree


def conductances(tree: CodingTree, level: int) -> NDArray[np.float64]:
    """Return ``g / min(v, V - v)`` of every cluster, NaN where one side has no edges.

    ``v`` and ``g`` are the volume and the boundary of the cluster, ``V`` is the volume of the
    graph.

    Example:
        >>> path = [(0, 1), (1, 2), (2, 3)]
        >>> conductances(CodingTree.from_levels(path, [0, 0, 0, 1]), 1)
        array([1., 1.])
    """
    volume, boundary = tree.volumes(level), tree.boundaries(level)
    smaller = np.minimum(volume, tree.volume[-1] - volume)
    out = np.full(len(volume), np.nan)
    np.divide(boundary, smaller, out=out, where=smaller > 0)
    return out


def conductance(tree: CodingTree, level: int) -> float:
    """Return the mean conductance of the clusters that have one, each of equal weight.

    NaN where none has one: a single cluster, or a graph without edges.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> round(conductance(CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1]), 1), 4)
        0.1429
    """
    values = conductances(tree, level)
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else np.nan
