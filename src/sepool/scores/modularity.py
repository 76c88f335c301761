"""Modularity of the clusters of a level (Newman and Girvan 2004)."""

from __future__ import annotations

import numpy as np

from sepool.tree import CodingTree


def modularity(tree: CodingTree, level: int) -> float:
    """Return ``sum_c (v_c - g_c) / V - (v_c / V)^2``, the modularity at resolution 1.

    ``v_c`` and ``g_c`` are the volume and the boundary of a cluster, ``V`` is the volume of the
    graph. NaN for a graph without edges.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> round(modularity(CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1]), 1), 4)
        0.3571
    """
    volume, boundary, total = tree.volumes(level), tree.boundaries(level), tree.volume[-1]
    if total == 0:
        return np.nan
    return float(((volume - boundary) / total - (volume / total) ** 2).sum())
