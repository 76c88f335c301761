"""Codelength of the map equation (Rosvall and Bergstrom 2008, 2011), undirected flow."""

from __future__ import annotations

import numpy as np

from sepool.segments import Floats, sums
from sepool.tree import CodingTree


def codelength(tree: CodingTree) -> float:
    """Return the description length of a step of a random walk on the hierarchy, in bits.

    The walk has no teleportation: nodes are visited in proportion to their degrees, clusters are
    entered and left in proportion to their boundaries. Every cluster has a codebook for its exit
    and for the entries of its children, or for the visits of its nodes; the root has no exit. A
    cluster with a single child cluster counts once. The codelength of one level is that of
    ``tree.at(level)``, the two-level map equation; without clusters it is the entropy of the visit
    rates.

    Infomap counts a self-loop once in a degree, sepool (with ``self_loops=True``) twice.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> round(codelength(CodingTree.from_levels(bridge, [0, 0, 0, 1, 1, 1])), 4)
        2.3207
    """
    total = tree.volume[-1]
    if total == 0:
        return 0.0
    bits = 0.0
    for level in range(1, tree.height + 1):
        parent, count = tree.assignment(level), tree.num_clusters(level)
        below = tree.volumes(0) if level == 1 else tree.boundaries(level - 1)
        rates, leave = below / total, tree.boundaries(level) / total
        uses = leave + sums(parent, rates, count)
        lengths = _plogp(uses) - _plogp(leave) - sums(parent, _plogp(rates), count)
        if level > 1:
            lengths[np.bincount(parent, minlength=count) == 1] = 0.0
        bits += float(lengths.sum())
    return max(bits, 0.0)  # below 0 by rounding alone


def _plogp(p: Floats) -> Floats:
    """Return ``p log2(p)``, 0 where p is 0."""
    out: Floats = p * np.log2(np.where(p > 0, p, 1.0))
    return out
