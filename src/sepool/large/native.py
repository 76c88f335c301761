"""Searches in memory: the contracted graph, the graph of clusters, the inside of every cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.build import coding_tree, coding_trees
from sepool.graph.graph import Graph, as_graph
from sepool.large.engine import Columns, Engine
from sepool.tree import CodingTree

IntArray = NDArray[np.int64]


def load(engine: Engine, edges: str, labels: str) -> tuple[Graph, IntArray]:
    """Return the graph of two tables and the ids of its nodes, which are tree nodes.

    Loops stand for the weight inside the nodes.
    """
    nodes = engine.arrays(f"SELECT id, volume, degree FROM {labels} ORDER BY id")
    ends = engine.arrays(f"SELECT u, v, w FROM {edges}")
    ids = nodes["id"]
    u, v = np.searchsorted(ids, ends["u"]), np.searchsorted(ids, ends["v"])
    rows = with_loops(u, v, ends["w"], nodes["volume"] - nodes["degree"])
    return as_graph(edges=rows, num_nodes=len(ids), self_loops=True), ids


def with_loops(u: IntArray, v: IntArray, w: IntArray, loops: IntArray) -> IntArray:
    """Return rows ``u v w`` with twice the weights and a loop of its part of the volume a node.

    A loop adds twice its weight to the degree; doubled edges keep all weights whole.
    """
    at = np.flatnonzero(loops)
    rows = (
        np.concatenate([u, at]),
        np.concatenate([v, at]),
        np.concatenate([2 * w, loops[at]]),
    )
    return np.column_stack(rows).astype(np.int64)


def tree_of(graph: Graph, height: int | None, threads: int) -> CodingTree:
    """Return the coding tree of a graph in memory."""
    return coding_tree(graph, height, num_threads=threads or None)


def levels_of(tree: CodingTree) -> list[IntArray]:
    """Return the labels on all levels of clusters."""
    return [tree.labels(level).astype(np.int64) for level in range(1, tree.height)]


@dataclass(frozen=True)
class Insides:
    """The levels inside the clusters of one batch, and their entropy.

    Attributes:
        cluster: the cluster of every unit.
        unit: the node, or the node of the last contracted graph.
        levels: labels of the units by number of levels, finest first.
        entropy: by number of levels, the sum of volume times entropy over the clusters.
    """

    cluster: IntArray
    unit: IntArray
    levels: list[list[IntArray]]
    entropy: list[float]


def insides(nodes: Columns, edges: Columns, starts: list[int], most: int, threads: int) -> Insides:
    """Return levels inside the clusters of a batch.

    Args:
        nodes: cluster, unit, volume and degree inside, sorted by cluster and unit.
        edges: cluster, u, v, w inside the clusters, sorted by cluster.
        starts: for one level, two levels, ...: the first number of a cluster on each level;
            these numbers are advanced.
        most: largest number of levels inside.
        threads: number of threads, 0 for all cores.
    """
    graphs = list(_graphs(nodes, edges))
    large = [graph for graph, _ in graphs if graph is not None]
    levels, entropy = [], [_entropy_without_levels(graphs, large)]
    start = 0
    for count in range(1, most + 1):
        trees = iter(coding_trees(large, count + 1, num_threads=threads or None))
        labels: list[list[IntArray]] = [[] for _ in range(count)]
        total = 0.0
        for graph, volume in graphs:
            tree: Any = None if graph is None else next(trees)
            total += 0.0 if tree is None else float(volume) * tree.entropy
            for level in range(count):
                part = np.zeros(1, np.int64) if tree is None else tree.labels(level + 1)
                labels[level].append(part + starts[start + level])
                starts[start + level] += int(part.max()) + 1
        start += count
        levels.append([np.concatenate(parts) for parts in labels])
        entropy.append(total)
    return Insides(nodes["cluster"], nodes["unit"], levels, entropy)


def _entropy_without_levels(graphs: list[tuple[Graph | None, int]], large: list[Graph]) -> float:
    trees = coding_trees(large, 1)
    volumes = (volume for graph, volume in graphs if graph is not None)
    return float(sum(v * tree.entropy for v, tree in zip(volumes, trees, strict=True)))


def _graphs(nodes: Columns, edges: Columns) -> Iterator[tuple[Graph | None, int]]:
    """Yield the inside with loops and the volume of every cluster; None for a single unit."""
    cluster, unit, loops = nodes["cluster"], nodes["unit"], nodes["volume"] - nodes["degree"]
    first = np.flatnonzero(np.diff(cluster, prepend=-1))
    for low, high in zip(first, np.append(first[1:], len(cluster)), strict=True):
        volume = int(nodes["volume"][low:high].sum())
        if high - low == 1:
            yield None, volume
            continue
        rows = slice(*np.searchsorted(edges["cluster"], [cluster[low], cluster[low] + 1]))
        u, v = (np.searchsorted(unit[low:high], edges[end][rows]) for end in ("u", "v"))
        ends = with_loops(u, v, edges["w"][rows], loops[low:high])
        yield as_graph(edges=ends, num_nodes=int(high - low), self_loops=True), volume
