"""Clusters merged to a given number or a least size, at the least rise of entropy."""

from __future__ import annotations

import heapq

import numpy as np

from sepool.graph.graph import Graph
from sepool.segments import Ints, renumbered


def merged(
    graph: Graph,
    labels: Ints,
    *,
    within: Ints | None = None,
    num_clusters: int = 1,
    min_size: int | None = None,
    apart: Ints | None = None,
) -> Ints:
    """Return the labels after merges of neighbouring clusters, the cheapest first.

    The cost of a cluster of volume ``v`` with edges of weight ``c`` inside is ``c log2(v / V)``,
    its term of the entropy of flat clusters.

    Args:
        graph: the graph.
        labels: cluster of every node.
        within: clusters are merged inside these only.
        num_clusters: number of clusters to stop at.
        min_size: merge clusters of fewer nodes only, and these until none is left.
        apart: a number for every cluster; clusters of different ones, -1 excepted, stay apart.
    """
    labels = renumbered(labels)
    state = _Clusters(graph, labels, within, apart)
    heap = [(state.cost(i, j), i, j) for i, row in state.neighbours.items() for j in row if i < j]
    heapq.heapify(heap)
    while heap and len(state.neighbours) > num_clusters:
        cost, i, j = heapq.heappop(heap)
        if not state.current(cost, i, j) or state.stay_apart(i, j):
            continue
        if min_size is not None and min(state.size[i], state.size[j]) >= min_size:
            continue
        for k in state.merge(i, j):
            low, high = min(i, k), max(i, k)  # the order that `current` sums in
            heapq.heappush(heap, (state.cost(low, high), low, high))
    return renumbered(state.roots()[labels])


class _Clusters:
    """Clusters, the weights between them, and their merges."""

    def __init__(self, graph: Graph, labels: Ints, within: Ints | None, apart: Ints | None) -> None:
        u, v, w = graph.edges()
        count = int(labels.max()) + 1
        a, b = labels[u], labels[v]
        self.size = np.bincount(labels, minlength=count).tolist()
        self.volume = np.bincount(labels, graph.degrees(), count).tolist()
        self.inside = np.bincount(a[a == b], w[a == b], count).tolist()
        self.total = max(sum(self.volume), 1e-300)
        self.parent = list(range(count))
        self.apart = [-1] * count if apart is None else apart.tolist()
        between = a != b if within is None else (a != b) & (within[u] == within[v])
        low, high = np.minimum(a, b)[between], np.maximum(a, b)[between]
        keys, slot = np.unique(low * count + high, return_inverse=True)
        weights = np.bincount(slot, w[between], len(keys))
        self.neighbours: dict[int, dict[int, float]] = {i: {} for i in range(count)}
        for key, weight in zip(keys.tolist(), weights.tolist(), strict=True):
            i, j = divmod(key, count)
            self.neighbours[i][j] = self.neighbours[j][i] = weight

    def cost(self, i: int, j: int) -> float:
        """Return the change of the cost when two clusters merge."""
        weight = self.inside[i] + self.inside[j] + self.neighbours[i][j]
        volume = self.volume[i] + self.volume[j]
        return self._term(weight, volume) - self._own(i) - self._own(j)

    def current(self, cost: float, i: int, j: int) -> bool:
        """Return True for an entry of two clusters as they are now."""
        return j in self.neighbours.get(i, {}) and cost == self.cost(i, j)

    def stay_apart(self, i: int, j: int) -> bool:
        """Return True for two clusters that must not be merged."""
        return min(self.apart[i], self.apart[j]) >= 0 and self.apart[i] != self.apart[j]

    def merge(self, i: int, j: int) -> list[int]:
        """Merge cluster ``j`` into ``i``; return the neighbours of both."""
        row = self.neighbours.pop(j)
        self.inside[i] += self.inside[j] + row.pop(i)
        self.volume[i] += self.volume[j]
        self.size[i] += self.size[j]
        self.apart[i] = max(self.apart[i], self.apart[j])
        self.parent[j] = i
        own = self.neighbours[i]
        del own[j]
        for k, weight in row.items():
            del self.neighbours[k][j]
            own[k] = self.neighbours[k][i] = own.get(k, 0.0) + weight
        return list(own)

    def roots(self) -> Ints:
        """Return the cluster that every initial cluster has become part of."""
        out = np.array(self.parent)
        while not np.array_equal(out, out[out]):
            out = out[out]
        return out

    def _own(self, i: int) -> float:
        return self._term(self.inside[i], self.volume[i])

    def _term(self, weight: float, volume: float) -> float:
        return weight * float(np.log2(volume / self.total)) if weight else 0.0
