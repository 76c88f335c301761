"""The tree of the depth that a graph supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.depth.choose import Hierarchy, LevelChooser
from sepool.depth.code_length import Edges
from sepool.depth.null import has_clusters
from sepool.graph.graph import Graph
from sepool.segments import Ints, renumbered
from sepool.tree import CodingTree
from sepool.tree_batch import build_one, refine

Progress = Callable[[float, str], None]

_HEIGHTS = (2, 3, 4, 5)
_HEIGHTS_OF_LARGE = (2, 3, 5)
_LARGE = 500_000  # edges


def tree_of_supported_depth(graph: Graph, seeds: list[int], options: dict[str, Any]) -> CodingTree:
    """Return the tree with the levels that the graph supports.

    Trees of several heights offer levels; those that save most code length are chosen, and refined
    by themselves. Where none does, the best one stays if the graph has clusters by the test
    against rewired graphs. A graph without structure has a tree of height 1, or of height 2 with
    its components as clusters.
    """
    offers = _offers(graph, seeds, options)
    first = next(offers)  # before anything else, since the core checks the graph
    components = connected_components(graph)
    edges = Edges.of(graph)
    chooser = LevelChooser(edges, components)
    best = weak = Hierarchy((), -np.inf)
    for labels in chain([first], offers):
        best = max(best, chooser.best(labels), key=_bits)
        weak = max(weak, chooser.strongest(labels), key=_bits)
        if graph.num_edges >= _LARGE and len(labels) > 1 and not best.levels:
            break  # deeper trees take long, and clusters of large graphs show at any height
    if best.levels:
        best = chooser.best(best.levels)  # a level that has been pruned may do without others
    elif weak.levels and has_clusters(edges, components, options):
        best = weak
    if best.levels:
        return _refined(graph, best, chooser, options)
    return CodingTree.from_levels(graph, [components] if components.max() > 0 else [])


def _bits(hierarchy: Hierarchy) -> float:
    return hierarchy.bits


def _offers(graph: Graph, seeds: list[int], options: dict[str, Any]) -> Iterator[list[Ints]]:
    """Yield the levels of trees of several heights and seeds, finest first."""
    progress = options["progress"]
    heights = _HEIGHTS_OF_LARGE if graph.num_edges >= _LARGE else _HEIGHTS
    total, done = sum(heights) * len(seeds), 0
    for seed, height in product(seeds, heights):
        report = None
        if progress is not None:
            report = _part(progress, done / total, height / total)
        tree = build_one(graph, {**options, "seed": seed, "height": height, "progress": report})
        done += height
        yield [tree.labels(level).astype(np.int64) for level in range(1, height)]


def _part(progress: Progress, start: float, share: float) -> Progress:
    return lambda fraction, stage: progress(start + share * fraction, stage)


def _refined(
    graph: Graph, hierarchy: Hierarchy, chooser: LevelChooser, options: dict[str, Any]
) -> CodingTree:
    """Return the tree of the levels after moves of nodes and clusters, if these save bits, too."""
    tree = refine(
        graph,
        hierarchy.levels,
        unions=False,
        seed=options["seed"],
        num_threads=options["num_threads"],
    )
    labels = [tree.labels(level).astype(np.int64) for level in range(1, tree.height)]
    if chooser.bits(labels) >= chooser.bits(hierarchy.levels):
        return tree
    return CodingTree.from_levels(graph, list(hierarchy.levels))


def connected_components(graph: Graph) -> Ints:
    """Return the component of every node, numbered by first node."""
    u, v, _ = graph.edges()
    return united(u, v, np.ones(len(u), np.bool_), graph.num_nodes)


def united(
    u: NDArray[np.int32], v: NDArray[np.int32], mask: NDArray[np.bool_], num_nodes: int
) -> Ints:
    """Return the components of the graph of some edges, numbered by first node."""
    u, v = u[mask], v[mask]
    label = np.arange(num_nodes)
    while True:
        before = label.copy()
        low = np.minimum(label[u], label[v])
        np.minimum.at(label, before[u], low)
        np.minimum.at(label, before[v], low)
        while not np.array_equal(label, label[label]):
            label = label[label]
        if np.array_equal(label, before):
            return renumbered(label)
