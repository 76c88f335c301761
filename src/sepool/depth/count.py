"""Trees with a given number of clusters, or with clusters of a least size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sepool.depth.merge import merged
from sepool.depth.pick import connected_components
from sepool.graph.graph import Graph
from sepool.segments import Ints, common_parts, renumbered
from sepool.tree import CodingTree
from sepool.tree_batch import build_one, refine

_DEEPEST = 12  # height of the trees that are tried for levels with many clusters


def with_num_clusters(
    graph: Graph,
    tree: CodingTree,
    num_clusters: int,
    height: int | None,
    options: dict[str, Any],
) -> CodingTree:
    """Return a tree with this number of coarsest clusters, from the levels of another tree.

    Levels with at least as many clusters, of that tree and of others, are merged; of two results
    the one whose coarsest level has the lowest entropy by itself is returned.
    """
    least = int(connected_components(graph).max()) + 1
    if not least <= num_clusters <= graph.num_nodes:
        raise ValueError(
            f"num_clusters must be {least} (the components of the graph) to {graph.num_nodes} (its "
            f"nodes), got {num_clusters}"
        )
    deeper = [
        lambda tall=tall: build_one(graph, {**options, "height": tall, "progress": None})
        for tall in range(2, _DEEPEST)
        if tall != tree.height
    ]
    offers: list[Callable[[], CodingTree]] = [lambda: tree, *deeper]
    results: list[CodingTree] = []
    for offer in offers:
        levels = _levels(offer())
        large = [level for level in levels if level.max() + 1 >= num_clusters]
        if large:
            chain = _fitted(large, graph.num_nodes, height)
            results.append(_merged_tree(graph, chain, num_clusters, options))
        if len(results) == 2:
            break
    if not results:  # nearly every node is a cluster
        chain = _fitted([np.arange(graph.num_nodes)], graph.num_nodes, height)
        results = [_merged_tree(graph, chain, num_clusters, options)]
    return min(
        results, key=lambda tree: CodingTree.from_levels(graph, tree.labels(tree.top)).entropy
    )


def _levels(tree: CodingTree) -> list[Ints]:
    return [tree.labels(level).astype(np.int64) for level in range(1, tree.height)]


def _fitted(levels: list[Ints], num_nodes: int, height: int | None) -> list[Ints]:
    """Return the highest levels that a tree of the height has, with nodes below where it is low."""
    if height is None:
        return levels
    nodes = np.arange(num_nodes)
    return [*[nodes] * (height - 1 - len(levels)), *levels[-(height - 1) :]]


def _merged_tree(
    graph: Graph, levels: list[Ints], num_clusters: int, options: dict[str, Any]
) -> CodingTree:
    """Return the tree of the levels, the highest one merged to this number of clusters."""
    top = merged(graph, levels[-1], num_clusters=num_clusters)
    levels = [*levels[:-1], top]
    tree = refine(
        graph, levels, unions=False, seed=options["seed"], num_threads=options["num_threads"]
    )
    if tree.num_clusters(tree.top) == num_clusters:
        return tree
    return CodingTree.from_levels(graph, levels)


def with_min_size(
    graph: Graph, tree: CodingTree, min_size: int, *, keep_height: bool
) -> CodingTree:
    """Return the tree with every smaller cluster merged into a neighbour, from the top down.

    A component of fewer nodes stays a cluster. Without ``keep_height``, levels that are equal to
    the next higher one are left out.
    """
    levels = _levels(tree)
    components = connected_components(graph)
    above = np.zeros(graph.num_nodes, np.int64)
    chosen: list[Ints] = []
    for level in reversed(levels):
        finer = merged(graph, level, within=above, min_size=min_size)
        finer = _joined(finer, common_parts(above, components), min_size)
        if keep_height or finer.max() > above.max():
            chosen.append(finer)
        above = finer
    return CodingTree.from_levels(graph, chosen[::-1])


def _joined(labels: Ints, within: Ints, min_size: int) -> Ints:
    """Return the labels with small clusters that have no neighbour joined to the largest sibling.

    Siblings lie in one cluster of ``within``. A cluster need not be connected, so that neighbours
    of a part of it may all lie elsewhere.
    """
    labels = labels.copy()
    size = np.bincount(labels)
    parent = np.zeros(len(size), np.int64)
    parent[labels] = within
    for small in np.flatnonzero((size > 0) & (size < min_size)).tolist():
        siblings = np.flatnonzero((parent == parent[small]) & (size > 0))
        siblings = siblings[siblings != small]
        if 0 < size[small] < min_size and siblings.size:
            target = siblings[np.argmax(size[siblings])]
            labels[labels == small] = target
            size[target] += size[small]
            size[small] = 0
    return renumbered(labels)
