"""Trees of graphs that change, and the clusters that stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import checked_seed, checked_threads
from sepool.graph.graph import Graph, as_graph
from sepool.segments import Ints
from sepool.tree import CodingTree
from sepool.tree_batch import refine


@dataclass(frozen=True)
class Matching:
    """Clusters of a tree and those of an earlier one that they continue.

    Attributes:
        earlier: for every level of clusters, finest first, the number of the earlier cluster that
            shares most nodes with a cluster, each used once; -1 for a new cluster.
        births: numbers of the new clusters, one array a level.
        deaths: numbers of the earlier clusters without continuation, one array a level.
    """

    earlier: tuple[Ints, ...]
    births: tuple[Ints, ...]
    deaths: tuple[Ints, ...]

    def __str__(self) -> str:
        lines = ["level  continued  births  deaths"]
        for level, (earlier, births, deaths) in enumerate(
            zip(self.earlier, self.births, self.deaths, strict=True), 1
        ):
            continued = int((earlier >= 0).sum())
            lines.append(f"{level:5d}  {continued:9d}  {len(births):6d}  {len(deaths):6d}")
        return "\n".join(lines)


def update(
    tree: CodingTree, graph: Any, *, seed: int = 0, num_threads: int | None = None
) -> CodingTree:
    """Return the tree of a graph that has changed since ``tree`` was built.

    Nodes are matched by name, or by number where they have none; new ones begin as clusters of
    their own. Moves begin at the nodes whose edges have changed (at all nodes where the tree does
    not have its graph, as after loading) and go on where they lower the entropy. The height stays;
    `CodingTree.matched` gives the earlier cluster of every new one. Clusters neither unite nor
    fall apart: after large changes build the tree anew, or pass this one as ``init``.

    Args:
        tree: tree of the graph before the change.
        graph: the graph now, anything `sepool.as_graph` takes.
        seed: of the order of moves.
        num_threads: as in `sepool.coding_tree`.

    Raises:
        ValueError: no node of the graph is in the tree.

    Example:
        >>> import sepool
        >>> edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> tree = sepool.coding_tree(edges, height=2)
        >>> later = update(tree, [*edges, (5, 6), (6, 4), (6, 3)])
        >>> later.labels(1)
        array([0, 0, 0, 1, 1, 1, 1], dtype=int32)
        >>> later.matched(tree).earlier
        (array([0, 1]),)
    """
    if not isinstance(tree, CodingTree):
        raise TypeError(f"update needs a CodingTree, got {tree!r}")
    seed, num_threads = checked_seed(seed), checked_threads(num_threads)
    whole = as_graph(graph)
    before = _positions(tree.names, tree.num_nodes, whole)
    if not np.any(before >= 0):
        raise ValueError("the tree is of another graph: no node of the graph is in it")
    if tree.height == 1:
        return CodingTree.from_levels(whole, [])
    new = np.flatnonzero(before < 0)
    levels = []
    # A level of one cluster stays one: moves would not tell it from the root.
    single = [level for level in range(1, tree.height) if tree.num_clusters(level) == 1]
    for level in range(1, tree.height - len(single)):
        labels = tree.labels(level)[before].astype(np.int64)
        labels[new] = tree.num_clusters(level) + np.arange(len(new))
        levels.append(labels)
    if levels:
        later = refine(
            whole,
            levels,
            unions=False,
            seed=seed,
            num_threads=num_threads,
            active=_changed(tree.graph, whole, before),
        )
        if not single:
            return later
        levels = [later.labels(level).astype(np.int64) for level in range(1, later.height)]
    return CodingTree.from_levels(
        whole, [*levels, *[np.zeros(len(before), np.int64)] * len(single)]
    )


def _positions(names: Any, num_nodes: int, graph: Graph) -> Ints:
    """Return the number in the tree of every node of the graph, -1 for new ones."""
    if names is None and graph.names is None:
        numbers = np.arange(graph.num_nodes)
        return np.where(numbers < num_nodes, numbers, -1)
    index = {name: i for i, name in enumerate(names or range(num_nodes))}
    nodes = range(graph.num_nodes) if graph.names is None else graph.names
    return np.array([index.get(name, -1) for name in nodes], np.int64)


def _changed(earlier: Graph | None, graph: Graph, before: Ints) -> NDArray[np.int8] | None:
    """Return 1 for nodes with other edges than before; None without the earlier graph."""
    if earlier is None:
        return None
    from sepool import _core

    return _core.changed_nodes(
        earlier.indptr,
        earlier.indices,
        earlier.weights,
        earlier.loops,
        earlier.unit,
        graph.indptr,
        graph.indices,
        graph.weights,
        graph.loops,
        graph.unit,
        before.astype(np.int32),
    )


def match(tree: CodingTree, earlier: CodingTree) -> Matching:
    """Return the earlier cluster that every cluster of a tree continues."""
    if not isinstance(earlier, CodingTree):
        raise TypeError(f"matched needs a CodingTree, got {earlier!r}")
    if tree.height != earlier.height:
        raise ValueError(
            f"the trees have heights {tree.height} and {earlier.height}; update keeps the height"
        )
    index = {name: i for i, name in enumerate(earlier.names or range(earlier.num_nodes))}
    names = tree.names or range(tree.num_nodes)
    before = np.array([index.get(name, -1) for name in names], np.int64)
    rows = [
        _match_level(tree.labels(level)[before >= 0], earlier.labels(level)[before[before >= 0]])
        for level in range(1, tree.height)
    ]
    numbers_of = []
    for level, pairs in enumerate(rows, 1):
        numbers = np.full(tree.num_clusters(level), -1, np.int64)
        numbers[pairs[0]] = pairs[1]
        numbers_of.append(numbers)
    return Matching(
        tuple(numbers_of),
        tuple(np.flatnonzero(numbers < 0) for numbers in numbers_of),
        tuple(
            np.setdiff1d(np.arange(earlier.num_clusters(level)), numbers)
            for level, numbers in enumerate(numbers_of, 1)
        ),
    )


def _match_level(labels: NDArray[Any], earlier: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return pairs of clusters, by the number of common nodes, each cluster in one pair."""
    if len(labels) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    width = int(earlier.max()) + 1
    keys, counts = np.unique(labels.astype(np.int64) * width + earlier, return_counts=True)
    keys = keys[np.argsort(-counts, kind="stable")]
    new, old = keys // width, keys % width
    best = np.zeros(len(keys), np.bool_)
    free_new = np.ones(int(new.max()) + 1, np.bool_)
    free_old = np.ones(width, np.bool_)
    for i, (a, b) in enumerate(zip(new.tolist(), old.tolist(), strict=True)):
        if free_new[a] and free_old[b]:
            best[i], free_new[a], free_old[b] = True, False, False
    return new[best], old[best]
