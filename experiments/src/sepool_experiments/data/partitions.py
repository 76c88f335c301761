"""Trees of other clusterings, as controls: METIS, Louvain and Infomap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import sepool
from sepool.extras import install_command
from sepool.pyg.format import Forest
from sepool.segments import pointers

Pairs = NDArray[Any]  # the edges of a graph, each once
Levels = list[NDArray[np.int64]]  # labels of the nodes, finest first
PACKAGES = {"metis": "pymetis", "infomap": "infomap"}


def partition_trees(
    partition: str, edges: Sequence[Pairs], nodes: Sequence[int], best: Forest
) -> Forest:
    """Return the trees of a clustering, as high as the best trees.

    Args:
        partition: "metis": parts of equal size, as many on every level as the best tree has;
            "louvain": the levels of its search; "infomap": the levels of the map equation.
        edges: edges of every graph, each once.
        nodes: number of nodes of every graph.
        best: trees of least entropy of these graphs.
    """
    package = PACKAGES.get(partition)
    if package and find_spec(package) is None:
        command = install_command("sepool-experiments[controls]")
        raise ValueError(f"trees of {partition} need {package}: {command}")
    trees = []
    for pairs, count, sizes in zip(edges, nodes, best.counts, strict=True):
        inner = [int(size) for size in sizes[1:-1]]
        levels = PARTITIONS[partition](pairs, int(count), inner)
        graph = sepool.as_graph(np.asarray(pairs).reshape(-1, 2), num_nodes=int(count))
        trees.append(sepool.CodingTree.from_levels(graph, _of_number(levels, len(inner))))
    counts = np.array([tree.counts for tree in trees], np.int64)
    return Forest(counts, np.concatenate([tree.parent for tree in trees]).astype(np.int32))


def metis_levels(pairs: Pairs, nodes: int, sizes: Sequence[int]) -> Levels:
    """Partition a graph into equal parts, these parts into equal parts, and so on."""
    import pymetis

    levels, label = [], np.arange(nodes)
    for size in sizes:
        weight = np.bincount(label)
        row, col, strength = _quotient(pairs, label)
        part = np.zeros(len(weight), np.int64)
        if size > 1 and len(row):
            starts = pointers(np.bincount(row, minlength=len(weight)))[1:-1]
            _, parts = pymetis.part_graph(
                size,
                adjacency=[ends.tolist() for ends in np.split(col, starts)],
                vweights=weight.tolist(),
                eweights=strength.tolist(),
                recursive=True,
            )
            part = np.unique(parts, return_inverse=True)[1]
        label = part[label]
        levels.append(label)
    return levels


def louvain_levels(pairs: Pairs, nodes: int, sizes: Sequence[int]) -> Levels:
    """Return the levels of Louvain's search for modularity."""
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(np.asarray(pairs).tolist())
    levels = []
    for communities in nx.community.louvain_partitions(graph, seed=0):
        label = np.zeros(nodes, np.int64)
        for number, members in enumerate(communities):
            label[list(members)] = number
        levels.append(label)
    return levels


def infomap_levels(pairs: Pairs, nodes: int, sizes: Sequence[int]) -> Levels:
    """Return the levels of the multi-level map equation."""
    from infomap import Infomap

    search: Any = Infomap(silent=True, seed=1)
    for node in range(nodes):
        search.add_node(node)
    search.add_links(np.asarray(pairs).tolist())
    search.run()
    paths = search.get_multilevel_modules()
    depth = max(map(len, paths.values()))
    # A shallow module is its own child on the levels below it.
    padded = [[paths[node][min(i, len(paths[node]) - 1)] for i in range(depth)] for node in paths]
    by_node = np.array(padded, np.int64)[np.argsort(list(paths))]
    nested = [by_node[:, : level + 1] for level in reversed(range(depth))]
    return [np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) for rows in nested]


PARTITIONS: dict[str, Callable[[Pairs, int, Sequence[int]], Levels]] = {
    "metis": metis_levels,
    "louvain": louvain_levels,
    "infomap": infomap_levels,
}


def _of_number(levels: Levels, count: int) -> Levels:
    """Return this number of levels, spread from the finest to the coarsest, repeated if need be."""
    picked = np.linspace(0, len(levels) - 1, count).round().astype(int)
    return [levels[i] for i in picked]


def _quotient(pairs: Pairs, label: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Rows, columns and weights of the edges between clusters, in both directions."""
    count = int(label.max()) + 1
    first, second = label[np.asarray(pairs, np.int64).reshape(-1, 2)].T
    between = first != second
    first, second = first[between], second[between]
    keys = np.concatenate([first * count + second, second * count + first])
    unique, weight = np.unique(keys, return_counts=True)
    return unique // count, unique % count, weight
