"""Significance of the levels and clusters of a tree, against rewired graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.depth.code_length import Edges
from sepool.depth.null import gains_of_batch
from sepool.depth.rewire import rewired
from sepool.depth.student import discoveries, p_values
from sepool.graph.batch import GraphBatch
from sepool.graph.edges import sorted_rows
from sepool.graph.graph import Graph
from sepool.levels import check_graph
from sepool.segments import Floats, Ints, pointers
from sepool.tree import CodingTree


@dataclass(frozen=True)
class Significance:
    """Bits that the clusters of a tree save beyond chance, one entry for every cluster that splits.

    Attributes:
        level: level of the cluster, the root's for the whole graph.
        cluster: its number on the level.
        bits: saved by its split into clusters of the next lower level, of the entropy of the graph.
        chance: saved in rewired graphs, on average.
        error: standard error of ``bits - chance``, from the rewired graphs.
        p_value: probability of such bits by chance.
        significant: splits accepted at a false discovery rate of 5 %.
    """

    level: Ints
    cluster: Ints
    bits: Floats
    chance: Floats
    error: Floats
    p_value: Floats
    significant: NDArray[np.bool_]

    def of_level(self, level: int) -> tuple[float, float]:
        """Return the bits beyond chance that a level of clusters saves, and their standard error.

        These are the splits of the clusters on the level above into those of ``level``.
        """
        rows = self.level == level + 1
        if not rows.any():
            raise ValueError(f"no cluster is split into clusters of level {level}")
        excess = self.bits[rows] - self.chance[rows]
        return float(excess.sum()), float(np.sqrt((self.error[rows] ** 2).sum()))

    def __str__(self) -> str:
        lines = ["level  splits  significant  bits beyond chance"]
        for level in np.unique(self.level)[::-1] - 1:
            rows = self.level == level + 1
            excess, error = self.of_level(int(level))
            lines.append(
                f"{level:5d}  {rows.sum():6d}  {self.significant[rows].sum():11d}  "
                f"{excess:8.4f} +- {error:.4f}"
            )
        return "\n".join(lines)


def significance(
    tree: CodingTree, graph: Graph, *, trials: int, seed: int, num_threads: int
) -> Significance:
    """Return the significance of every split of a tree against ``trials`` rewired graphs.

    For a level of clusters, only edges inside the clusters of the level above are rewired, and only
    those between the clusters of the level below, so that neither is explained again.
    """
    check_graph(tree, graph)
    if not np.allclose(graph.degrees(), tree.volumes(0)):
        raise ValueError("the tree is of another graph, whose nodes have other degrees")
    options = {"method": "best", "seed": seed, "num_threads": num_threads}
    rng = np.random.default_rng(seed)
    u, v, w = graph.edges()
    edges = Edges(u, v, w, graph.degrees())
    parts = [
        _of_level(tree, level, edges, trials, rng, options)
        for level in range(1, tree.height)
        if len(u)
    ]
    parts.append((np.zeros(0, np.int64),) * 2 + (np.zeros(0),) * 4)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Significance(*[*columns, discoveries(columns[-1], rate=0.05)])


def _of_level(
    tree: CodingTree,
    level: int,
    edges: Edges,
    trials: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """Return the columns for the splits into clusters of one level."""
    labels = [tree.labels(i).astype(np.int64) for i in (level - 1, level, level + 1)]
    fine, middle, coarse = labels
    children = np.bincount(tree.assignment(level + 1), minlength=tree.num_clusters(level + 1))
    tested = np.flatnonzero(children > 1)
    played = edges.within(coarse, fine)
    played = played.where((children > 1)[coarse[played.u]])
    volume, total = tree.volumes(level), tree.volume[-1]
    above = tree.volumes(level + 1)
    near = played.within(middle)
    at = middle[near.u]
    bits = np.bincount(
        coarse[near.u], 2 * near.w * np.log2(above[coarse[near.u]] / volume[at]), len(above)
    )[tested]
    chance = (
        np.array(
            [
                _gains(rewired(played, coarse, fine, rng), fine, coarse, tested, options)
                for _ in range(trials)
            ]
        )
        * above[tested]
    )
    bits, chance = bits / total, chance / total
    return (
        np.full(len(tested), level + 1),
        tested,
        bits,
        chance.mean(axis=0),
        chance.std(axis=0, ddof=1) * np.sqrt(1 + 1 / trials),
        p_values(bits, chance),
    )


def _gains(edges: Edges, fine: Ints, coarse: Ints, tested: Ints, options: dict[str, Any]) -> Floats:
    """Return the bits that the best flat clusters of ``fine`` save in every tested cluster."""
    count = int(fine.max()) + 1
    up = np.zeros(count, np.int64)
    up[fine] = coarse
    items = np.flatnonzero(np.isin(up, tested))
    items = items[np.argsort(up[items], kind="stable")]
    nodes = pointers(np.bincount(up[items], minlength=len(up))[tested])
    number = np.zeros(count, np.int64)  # of an item in its cluster
    number[items] = np.arange(len(items)) - np.repeat(nodes[:-1], np.diff(nodes))
    volume = np.bincount(fine, edges.degree, count)
    a, b = fine[edges.u], fine[edges.v]
    loops = volume - np.bincount(a, edges.w, count) - np.bincount(b, edges.w, count)
    u, v = np.concatenate([a, items]), np.concatenate([b, items])
    w = np.concatenate([edges.w, np.maximum(loops[items], 0) / 2])
    order = np.argsort(up[u], kind="stable")
    u, v, w = u[order], v[order], w[order]
    ends = pointers(np.bincount(up[u], minlength=len(up))[tested])
    rows = sorted_rows(nodes, ends, number[u], number[v], w, False, True)
    return gains_of_batch(GraphBatch(nodes, *rows), options)
