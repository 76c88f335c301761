"""Significance of the levels and clusters of a tree, against rewired graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.depth.code_length import Edges
from sepool.depth.count import with_num_clusters
from sepool.depth.pick import connected_components
from sepool.depth.rewire import rewired
from sepool.depth.student import discoveries, p_values
from sepool.graph.batch import GraphBatch
from sepool.graph.edges import sorted_rows
from sepool.graph.graph import Graph
from sepool.levels import check_graph
from sepool.segments import Floats, Ints, pointers, renumbered
from sepool.tree import CodingTree
from sepool.tree_batch import build_batch

LARGE = 20_000  # edges


@dataclass(frozen=True)
class Significance:
    """Bits that the clusters of a tree save beyond chance, one entry for every cluster that splits.

    Attributes:
        level: level of the cluster, the root's for the whole graph.
        cluster: its number on the level.
        bits: saved by its split into clusters of the next lower level, of the entropy of the graph.
        chance: saved by as many clusters, or fewer, in rewired graphs, on average.
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
    middle, coarse = (tree.labels(i).astype(np.int64) for i in (level, level + 1))
    fine = _parts(tree, level)
    children = np.bincount(tree.assignment(level + 1), minlength=tree.num_clusters(level + 1))
    tested = np.flatnonzero(children > 1)
    most = children[tested]
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
                _gains(rewired(played, coarse, fine, rng), fine, coarse, tested, most, options)
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


def _parts(tree: CodingTree, level: int) -> Ints:
    """Return the parts that clusters of a level consist of, numbered, for every node.

    These are the clusters of the next lower level, or of the first below with several in the
    cluster: branches of unequal depth have levels of single children.
    """
    cluster = tree.labels(level).astype(np.int64)
    parts = tree.labels(level - 1).astype(np.int64)
    for below in range(level - 2, -1, -1):
        owner = np.zeros(int(parts.max()) + 1, np.int64)
        owner[parts] = cluster
        whole = np.bincount(owner, minlength=int(cluster.max()) + 1) == 1
        if not whole.any():
            break
        finer = np.where(whole[cluster], 2 * tree.labels(below).astype(np.int64), 2 * parts + 1)
        parts = renumbered(finer)
    return parts


def _gains(
    edges: Edges, fine: Ints, coarse: Ints, tested: Ints, most: Ints, options: dict[str, Any]
) -> Floats:
    """Return the bits that flat clusters of ``fine``, ``most`` at most, save in tested clusters."""
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
    return _gains_of_few(GraphBatch(nodes, *rows), most, {**options, "progress": None})


def _gains_of_few(batch: GraphBatch, most: Ints, options: dict[str, Any]) -> Floats:
    """Return the bits saved by the best ``most`` or fewer clusters of each graph of a batch.

    A division into few clusters saves fewer bits than one into the best number, whatever it
    divides. In graphs of more edges than `LARGE` the best number counts, which is stricter.
    """
    flat, trees = (build_batch(batch, {**options, "height": height}) for height in (1, 2))
    entropy = trees.entropy.copy()
    for i, limit in enumerate(most.tolist()):
        graph = batch[i]
        if trees[i].num_clusters(1) > limit and graph.num_edges <= LARGE:
            limit = max(limit, int(connected_components(graph).max()) + 1)
            entropy[i] = with_num_clusters(graph, trees[i], limit, 2, options).entropy
    return flat.entropy - entropy
