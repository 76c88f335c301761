"""Algorithm 1 of the SEP paper in plain Python: slow, literal, and the oracle for the core.

A coding tree is a set of clusters, each a frozenset of nodes: the root, the single nodes and
whatever stands between. The parent of a cluster is the smallest one that holds it.

One thing differs from the paper's text: stage 1 stops when no two clusters share an edge. Going on
would join the parts of a disconnected graph, which never lowers the entropy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import log2

Cluster = frozenset[int]
CodingTree = set[Cluster]


class PlainGraph:
    """Volumes and cuts of sets of nodes; loops are left out."""

    def __init__(self, num_nodes: int, edges: Iterable[tuple[int, int, float]]) -> None:
        self.num_nodes = num_nodes
        self.edges = [(u, v, w) for u, v, w in edges if u != v]
        self.volume = lru_cache(None)(self._volume)
        self.cut = lru_cache(None)(self._cut)

    def _volume(self, nodes: Cluster) -> float:
        return sum(w * ((u in nodes) + (v in nodes)) for u, v, w in self.edges)

    def _cut(self, nodes: Cluster) -> float:
        return sum(w for u, v, w in self.edges if (u in nodes) != (v in nodes))

    def entropy(self, tree: CodingTree) -> float:
        """Equation 3; clusters that no edge leaves add nothing."""
        total = self.volume(max(tree, key=len))
        return -sum(
            self.cut(t) / total * log2(self.volume(t) / self.volume(parent(tree, t)))
            for t in tree
            if self.cut(t) > 0
        )


def parent(tree: CodingTree, cluster: Cluster) -> Cluster:
    return min((t for t in tree if cluster < t), key=len)


def children(tree: CodingTree, cluster: Cluster) -> list[Cluster]:
    return [t for t in tree if t < cluster and parent(tree, t) == cluster]


def height(tree: CodingTree, cluster: Cluster) -> int:
    """Edges on the longest way down from the cluster to a leaf."""
    return max((1 + height(tree, t) for t in children(tree, cluster)), default=0)


def paper_tree(graph: PlainGraph, k: int) -> list[list[int]]:
    """Algorithm 1. For levels 1 to k - 1, the first node of every node's cluster."""
    root = frozenset(range(graph.num_nodes))
    tree = {root, *(frozenset([u]) for u in root)}
    merge(graph, tree, root)
    remove(graph, tree, root, k)
    return fill(tree, root, k)


def merge(graph: PlainGraph, tree: CodingTree, root: Cluster) -> None:
    """Stage 1: puts a new node over the two root children that lower the entropy most."""
    while len(top := children(tree, root)) > 2:
        pairs = [a | b for a, b in combinations(top, 2) if share_an_edge(graph, a, b)]
        if not pairs:
            break
        tree.add(min(pairs, key=lambda new: graph.entropy(tree | {new})))


def remove(graph: PlainGraph, tree: CodingTree, root: Cluster, k: int) -> None:
    """Stage 2: takes away the inner node whose removal raises the entropy least."""
    while height(tree, root) > k:
        inner = [t for t in tree if 1 < len(t) < len(root)]
        tree.remove(min(inner, key=lambda old: graph.entropy(tree - {old})))


def fill(tree: CodingTree, root: Cluster, k: int) -> list[list[int]]:
    """Stage 3: a cluster stands on all levels from its own height up to its parent's."""
    rise = {t: height(tree, t) for t in tree} | {root: k}
    return [
        [min(max((t for t in tree if u in t and rise[t] <= level), key=len)) for u in root]
        for level in range(1, k)
    ]


def share_an_edge(graph: PlainGraph, a: Cluster, b: Cluster) -> bool:
    return any((u in a and v in b) or (u in b and v in a) for u, v, _ in graph.edges)


class PlainTree:
    """A merge tree as the core gives it: leaves first, children before parents, the root last."""

    def __init__(
        self, num_leaves: int, parent: Sequence[int], volume: Sequence[int], cut: Sequence[int]
    ) -> None:
        self.num_leaves, self.root = num_leaves, len(parent) - 1
        self.parent, self.volume, self.cut = list(parent), list(volume), list(cut)
        self.inner = range(num_leaves, self.root)  # without the root

    def rise(self, t: int, above: int, cut: int) -> float:
        """What REMOVE of `t` below `above` adds to the entropy, but for the factor 2 / V."""
        return cut * (_log2(self.volume[above]) - _log2(self.volume[t]))

    def cost(self, keep: Iterable[int]) -> float:
        """What stage 2 changes of V * H: 2 * cut * log volume of the nearest kept node, summed."""
        near, kept = {}, {*keep, self.root}
        for t in reversed(range(self.num_leaves, self.root + 1)):
            near[t] = t if t in kept else near[self.parent[t]]
        return sum(2 * self.cut[t] * _log2(self.volume[near[t]]) for t in near)

    def depth(self, keep: Iterable[int]) -> int:
        """Edges on the longest way from the root to a leaf when only `keep` stays."""
        depth, kept = {self.root: 1}, set(keep)
        for t in reversed(range(self.root)):
            depth[t] = depth[self.parent[t]] + (t in kept)
        return max(depth[u] for u in range(self.num_leaves)) if self.num_leaves else 1

    def remove_greedily(self, k: int) -> set[int]:
        """Stage 2 to the letter; of equals the lowest number goes first."""
        keep, up, cut = set(self.inner), list(self.parent), list(self.cut)
        while self.depth(keep) > k:
            gone = min(keep, key=lambda t: (self.rise(t, up[t], cut[t]), t))
            keep.remove(gone)
            cut[up[gone]] += cut[gone]
            up = [up[gone] if p == gone else p for p in up]
        return keep

    def least_cost(self, k: int) -> float:
        """Of all subsets that respect the height, the cost of the best."""
        return min(
            self.cost(keep)
            for size in range(len(self.inner) + 1)
            for keep in combinations(self.inner, size)
            if self.depth(keep) <= k
        )

    def least_cost_by_ancestors(self, k: int) -> float:
        """The same for larger trees, node by node: below `t`, under each nearest kept ancestor."""
        below: dict[int, list[int]] = {t: [] for t in range(self.root + 1)}
        for t in self.inner:
            below[self.parent[t]].append(t)
        ancestors: dict[int, list[int]] = {self.root: []}
        for t in reversed(self.inner):
            ancestors[t] = [self.parent[t], *ancestors[self.parent[t]]]
        least: dict[tuple[int, int, int], float] = {}  # node, nearest kept above, levels left
        for t in [*self.inner, self.root]:
            for above in [t, *ancestors[t]]:
                for left in range(k):
                    gone = 2 * self.cut[t] * _log2(self.volume[above])
                    gone += sum(least[child, above, left] for child in below[t])
                    kept = least[t, t, left - 1] if above != t and left else gone
                    least[t, above, left] = min(gone, kept)
        return least[self.root, self.root, k - 1]


def _log2(volume: int) -> float:
    return log2(volume) if volume else 0.0
