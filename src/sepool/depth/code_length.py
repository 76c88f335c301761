"""Code length of a graph on a hierarchy: the bits that clusters save beyond chance.

A code for the edges of a graph with known degrees sends, for each edge, its lowest common ancestor
t in the tree, then its two ends, which lie in different children of t, in proportion to their
degrees. Compared with the code without clusters it saves m KL(p || q) bits: m is the number of
edges, p the share of the edges at each tree node, q the share expected by chance. The members of
the clusters and the counts of the edges have to be sent, too; a split of a cluster is worth what
remains. By the inequality for prefix codes, chance saves b bits with probability 2^-b at most,
however long the tree has been searched for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.graph import Graph
from sepool.segments import Floats, Ints, sums

_SHIFT = 8  # Stirling's series is exact to 1e-11 from here on


def log2_factorial(x: Floats) -> Floats:
    """Return the binary logarithm of the factorial (gamma function) of non-negative numbers."""
    x = np.asarray(x, np.float64)
    z = x + _SHIFT + 1
    series = 1 / (12 * z) - 1 / (360 * z**3) + 1 / (1260 * z**5) - 1 / (1680 * z**7)
    natural = (z - 0.5) * np.log(z) - z + 0.5 * np.log(2 * np.pi) + series
    steps = sum(np.log(x + i) for i in range(1, _SHIFT + 1))
    bits: Floats = (natural - steps) / np.log(2)
    return bits


def log2_compositions(total: Floats, parts: Floats) -> Floats:
    """Return log2 of the number of ways to share out ``total`` among ``parts``, empty ones too."""
    more = np.maximum(parts, 1) - 1
    return log2_factorial(total + more) - log2_factorial(total) - log2_factorial(more)


def times_log2(x: Floats, y: Floats | float = 1.0) -> Floats:
    """Return ``x log2(x / y)``, 0 where x is 0."""
    x = np.asarray(x, np.float64)  # counts of no edges are integers
    positive = x > 0
    ratio = np.divide(x, y, out=np.ones_like(x), where=positive)
    return np.where(positive, x * np.log2(ratio), 0.0)


def multinomial_rest(total: Floats, sum_of_parts: Floats, log_of_parts: Floats) -> Floats:
    """Return what a multinomial coefficient lacks of its entropy bound, in bits."""
    return times_log2(total) - log2_factorial(total) - sum_of_parts + log_of_parts


@dataclass(frozen=True)
class Edges:
    """Edges of a graph in units of their effective weight.

    Weights are scaled so that their sum is ``(sum w)^2 / sum w^2``, the number of equal edges that
    say as much; unweighted edges weigh 1.
    """

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    w: Floats
    degree: Floats

    @classmethod
    def of(cls, graph: Graph) -> Edges:
        """Return the edges of a graph, each once."""
        u, v, w = graph.edges()
        w = w / w.max(initial=1e-300)  # squares of the largest weights would overflow
        w = w * float(w.sum()) / max(float((w**2).sum()), 1e-300)
        return cls(u, v, w, _ends(u, v, w, graph.num_nodes))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.degree)

    def within(self, labels: Ints, other: Ints | None = None) -> Edges:
        """Return the edges inside the clusters of ``labels`` and between those of ``other``."""
        inside = labels[self.u] == labels[self.v]
        if other is not None:
            inside &= other[self.u] != other[self.v]
        return self.where(inside)

    def without_weights(self) -> Edges:
        """Return the edges with equal weights."""
        w = np.ones(len(self.u))
        return Edges(self.u, self.v, w, _ends(self.u, self.v, w, self.num_nodes))

    def where(self, mask: NDArray[np.bool_]) -> Edges:
        """Return some of the edges."""
        return Edges(self.u[mask], self.v[mask], self.w[mask], self.degree)


def _ends(u: NDArray[np.int32], v: NDArray[np.int32], w: Floats, count: int) -> Floats:
    return sums(u, w, count) + sums(v, w, count)


class Partition:
    """The clusters of one level: members, volumes, weight inside, and its code without clusters."""

    def __init__(self, edges: Edges, labels: Ints) -> None:
        count = int(labels.max()) + 1
        degree = edges.degree
        inner = edges.within(labels)
        ends = _ends(inner.u, inner.v, inner.w, len(degree))
        self.labels = labels
        self.size = sums(labels, degree > 0, count)
        self.volume = sums(labels, degree, count)
        self.weight = sums(labels[inner.u], inner.w, count)
        pairs = (self.volume**2 - sums(labels, degree**2, count)) / 2
        self.saved = _saved(self.weight, pairs, labels, ends, degree, self.size)

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.volume)


def _saved(
    weight: Floats, pairs: Floats, parent: Ints, ends: Floats, volume: Floats, children: Floats
) -> Floats:
    """Return the bits that a code of edges by their tree node saves, one number a node.

    Ends are drawn in proportion to volumes, or, if that saves more, to the number of edges at each
    child, which then has to be sent: children that have more edges to all others make no level.
    """
    count = len(weight)
    by_volume = times_log2(weight, np.where(weight > 0, np.maximum(pairs, 1e-300), 1.0))
    own_pairs = ((2 * weight) ** 2 - sums(parent, ends**2, count)) / 2
    by_ends = sums(parent, times_log2(ends, np.where(ends > 0, volume, 1.0)), count)
    by_ends += times_log2(weight, np.where(weight > 0, np.maximum(own_pairs, 1e-300), 1.0))
    by_ends += multinomial_rest(
        2 * weight,
        sums(parent, times_log2(ends), count),
        sums(parent, log2_factorial(ends), count),
    )
    by_ends -= log2_compositions(2 * weight, children) + 1
    return np.maximum(by_volume, by_ends)


def split_bits(edges: Edges, fine: Partition, coarse: Partition) -> Floats:
    """Return the bits saved by the split of every coarse cluster into its fine ones; 0 for one."""
    count = coarse.count
    up = np.zeros(fine.count, np.int64)
    up[fine.labels] = coarse.labels
    children = np.bincount(up, minlength=count)

    def total(values: NDArray[Any]) -> Floats:
        return sums(up, values, count)

    between = edges.within(coarse.labels, fine.labels)
    ends = _ends(
        fine.labels[between.u].astype(np.int32),
        fine.labels[between.v].astype(np.int32),
        between.w,
        fine.count,
    )
    weight = total(ends) / 2
    pairs = (coarse.volume**2 - total(fine.volume**2)) / 2
    with_edges = total(fine.volume > 0)
    saved = _saved(weight, np.maximum(pairs, 0), up, ends, fine.volume, with_edges)
    data = saved + total(fine.saved) - coarse.saved
    # The number of edges between the children and inside each.
    inside = fine.weight
    counts = log2_compositions(coarse.weight, 1 + total(inside > 0))
    counts -= multinomial_rest(
        coarse.weight,
        times_log2(weight) + total(times_log2(inside)),
        log2_factorial(weight) + total(log2_factorial(inside)),
    )
    # The members of the children; single nodes are one group.
    single = fine.size <= 1
    alone = total(np.where(single, fine.size, 0))
    groups = total(~single)
    members = log2_factorial(coarse.size) - log2_factorial(alone)
    members -= total(np.where(single, 0, log2_factorial(fine.size)))
    members -= log2_factorial(groups)
    kinds = groups + (alone > 0)
    members += log2_compositions(np.maximum(coarse.size - kinds, 0), kinds)
    members += np.log2(np.maximum(coarse.size, 1))
    bits: Floats = np.where(children > 1, data - counts - members, 0.0)
    return bits
