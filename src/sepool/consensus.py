"""Agreement between trees of several seeds, and their consensus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import checked_seed, whole_number
from sepool.build import coding_tree
from sepool.depth.pick import united
from sepool.graph.graph import as_graph
from sepool.tree import CodingTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Stability:
    """Agreement between the trees of several seeds.

    Attributes:
        heights: number of trees of every height; the most frequent one is compared.
        agreement: mean adjusted Rand index of pairs of trees, one number a level of clusters,
            finest first; 1 for equal clusters, 0 for chance, NaN for a single tree.
        support: of every cluster of the consensus, one array a level: mean overlap (Jaccard) with
            the most similar cluster of each of the compared trees on that level.
        consensus: tree whose clusters unite neighbours that most trees unite.
    """

    heights: dict[int, int]
    agreement: Floats
    support: tuple[Floats, ...]
    consensus: CodingTree

    def __str__(self) -> str:
        trees = ", ".join(f"{count} of height {height}" for height, count in self.heights.items())
        lines = [f"trees: {trees}", "level  clusters  agreement  least support"]
        for level, (agreement, support) in enumerate(
            zip(self.agreement, self.support, strict=True), 1
        ):
            lines.append(f"{level:5d}  {len(support):8d}  {agreement:9.4f}  {support.min():13.4f}")
        return "\n".join(lines)


def stability(
    graph: Any,
    height: int | None = None,
    *,
    trials: int = 10,
    seed: int = 0,
    num_threads: int | None = None,
) -> Stability:
    """Return the agreement between the trees of several seeds, and their consensus.

    Args:
        graph: anything `sepool.as_graph` takes.
        height: as in `sepool.coding_tree`.
        trials: number of seeds, 2 or more.
        seed: the first seed.
        num_threads: as in `sepool.coding_tree`.

    Example:
        >>> cliques = [(i, j) for i in range(40) for j in range(i) if i // 10 == j // 10]
        >>> result = stability([*cliques, (9, 10), (19, 20), (29, 30)], trials=3)
        >>> print(result)
        trees: 3 of height 2
        level  clusters  agreement  least support
            1         4     1.0000         1.0000
        >>> result.consensus
        CodingTree(height=2, nodes=40, clusters=[40, 4, 1], entropy=3.3536)
    """
    trials, seed = whole_number("trials", trials, 2, 2**31), checked_seed(seed)
    whole = as_graph(graph)
    trees = [
        coding_tree(whole, height, seed=(seed + trial) % 2**63, num_threads=num_threads)
        for trial in range(trials)
    ]
    heights = Counter(tree.height for tree in trees)
    most = max(heights, key=lambda height: (heights[height], -height))
    alike = [tree for tree in trees if tree.height == most]
    levels = [[tree.labels(level) for tree in alike] for level in range(1, most)]
    u, v, _ = whole.edges()
    consensus = CodingTree.from_levels(
        whole,
        [
            united(u, v, np.mean([row[u] == row[v] for row in rows], axis=0) > 0.5, whole.num_nodes)
            for rows in levels
        ],
    )
    return Stability(
        dict(sorted(heights.items())),
        np.array([_mean_agreement(rows) for rows in levels]),
        tuple(
            np.mean([_overlaps(consensus.labels(level), row) for row in rows], axis=0)
            for level, rows in enumerate(levels, 1)
        ),
        consensus,
    )


def _mean_agreement(rows: list[NDArray[np.int32]]) -> float:
    if len(rows) < 2:
        return np.nan
    return float(np.mean([adjusted_rand(a, b) for a, b in combinations(rows, 2)]))


def _table(a: NDArray[Any], b: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of clusters that share nodes, and the number of these."""
    width = int(b.max()) + 1
    keys, counts = np.unique(a.astype(np.int64) * width + b, return_counts=True)
    return keys // width, keys % width, counts


def adjusted_rand(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the adjusted Rand index of two clusterings (Hubert and Arabie 1985).

    Example:
        >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
        1.0
    """

    def pairs(counts: Ints) -> float:
        return float((counts.astype(np.float64) * (counts - 1) / 2).sum())

    together = pairs(_table(a, b)[2])
    one, other, every = pairs(np.bincount(a)), pairs(np.bincount(b)), pairs(np.array([len(a)]))
    expected = one * other / every if every else 0.0
    most = (one + other) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _overlaps(labels: NDArray[Any], other: NDArray[Any]) -> Floats:
    """Return the highest Jaccard index of every cluster with one of the other clustering."""
    a, b, common = _table(labels, other)
    union = np.bincount(labels)[a] + np.bincount(other)[b] - common
    out = np.zeros(int(labels.max()) + 1)
    np.maximum.at(out, a, common / union)
    return out
