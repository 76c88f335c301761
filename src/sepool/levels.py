"""Levels of a coding tree from labels: checks, nesting, volumes and boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sepool.arguments import whole_number
from sepool.graph.edges import refuse_masked
from sepool.graph.graph import Graph, as_graph
from sepool.graph.readers import reader

if TYPE_CHECKING:
    from sepool.tree import CodingTree

Labels = ArrayLike | Mapping[Any, Any] | Iterable[Any]  # as `as_levels` takes them
MISSING = object()


def as_levels(labels: Any, graph: Graph) -> list[NDArray[Any]]:
    """Return one array of labels a level, each with one label a node."""
    levels = [_by_node(level, graph) for level in _split(labels)]
    for i, level in enumerate(levels, 1):
        if level.dtype.kind not in "iubU":
            raise TypeError(
                f"labels must be integers or strings, one a node, got {level.dtype} on level {i}"
            )
        if level.shape != (graph.num_nodes,):
            raise ValueError(
                f"expected {graph.num_nodes} labels, one a node, got shape {level.shape} on level "
                f"{i}"
            )
    return levels


def _split(labels: Any) -> list[Any]:
    """Return a list of levels, of one level or several."""
    labels = _listed(labels)
    if isinstance(labels, Mapping) or _are_communities(labels):
        return [labels]
    rows = labels if isinstance(labels, list) else np.atleast_1d(labels)
    first = _listed(rows[0]) if len(rows) else []  # the first alone: there may be millions
    several = isinstance(first, (Mapping, list)) or np.ndim(first) > 0
    return [_listed(row) for row in rows] if several else [rows]


def _listed(labels: Any) -> Any:
    """Return the labels of igraph and leidenalg clusterings, and iterators of networkx as lists."""
    labels = getattr(labels, "membership", labels)
    return list(labels) if isinstance(labels, (tuple, ValuesView, Iterator)) else labels


def _are_communities(level: Any) -> bool:
    """Return True for a list of sets of nodes, the communities of networkx."""
    return (
        isinstance(level, list)
        and len(level) > 0
        and all(isinstance(part, (set, frozenset)) for part in level)
    )


def _by_node(level: Any, graph: Graph) -> NDArray[Any]:
    """Return the labels of one level in the order of the nodes."""
    if isinstance(level, Mapping):
        pairs = list(level.items())
    elif _are_communities(level):
        pairs = [(node, cluster) for cluster, part in enumerate(level) for node in part]
    else:
        refuse_masked(level, "labels")
        return np.asarray(level)
    out: list[Any] = [MISSING] * graph.num_nodes
    for i, (node, label) in zip(
        positions_of([node for node, _ in pairs], graph), pairs, strict=True
    ):
        if out[i] is not MISSING:
            raise ValueError(f"node {node!r} has two labels, {out[i]!r} and {label!r}")
        out[i] = label
    if MISSING in out:
        raise ValueError(f"node {names_of(graph)[out.index(MISSING)]!r} has no label")
    return np.asarray(out)


def names_of(graph: Graph | CodingTree) -> Sequence[Hashable]:
    """Return the names of the nodes of a graph or tree, 0, 1, 2, ... by default."""
    return range(graph.num_nodes) if graph.names is None else graph.names


def positions_of(
    nodes: Iterable[Hashable], graph: Graph, holder: str = "the labels have"
) -> list[int]:
    """Return the numbers of nodes by their names."""
    names = names_of(graph)
    index = {name: i for i, name in enumerate(names)}
    if len(index) < graph.num_nodes:
        raise ValueError("two nodes have the same name; give labels in the order of the nodes")
    stray = next((node for node in nodes if node not in index), MISSING)
    if stray is not MISSING:
        raise ValueError(
            f"{holder} a node {stray!r}, which is not in the graph; its nodes have names like "
            f"{names[0]!r}"
        )
    return [index[node] for node in nodes]


def assignments_of(levels: list[NDArray[Any]], num_nodes: int) -> list[NDArray[np.int64]]:
    """Return the parents of every level, its clusters numbered so that siblings are adjacent."""
    above = np.zeros(num_nodes, np.int64)  # the cluster of every node on the level above
    assignments = []
    for i in reversed(range(len(levels))):
        values, first, labels = np.unique(levels[i], return_index=True, return_inverse=True)
        strays = np.flatnonzero(above[first][labels] != above)
        if strays.size:
            stray, cluster = strays[0], labels[strays[0]]
            raise ValueError(
                f"labels must be nested, finest first: cluster {values[cluster]} of level {i + 1} "
                f"holds the nodes {first[cluster]} and {stray}, which level {i + 2} puts apart"
            )
        order = np.lexsort((first, above[first]))
        assignments.append(above[first[order]])
        above = np.argsort(order)[labels]
    return [above, *reversed(assignments)]


def fields_of(
    graph: Graph, levels: list[NDArray[Any]]
) -> tuple[tuple[int, ...], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the counts, parents, volumes and boundaries of a tree of these levels."""
    assignments = assignments_of(levels, graph.num_nodes)
    volumes, boundaries = volumes_and_boundaries(graph, assignments)
    parent = np.concatenate(assignments).astype(np.int32)
    counts = (*map(len, assignments), 1)
    return counts, parent, np.concatenate(volumes), np.concatenate(boundaries)


def volumes_and_boundaries(
    graph: Graph, assignments: list[NDArray[np.int64]]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Return the volumes and boundaries of every level, leaves first."""
    u: NDArray[Any]
    v: NDArray[Any]
    u, v, w = graph.edges()
    volumes, boundaries = [graph.degrees()], []
    for parent in assignments:
        size = len(parent)
        boundaries.append(np.bincount(u, w, size).astype(np.float64) + np.bincount(v, w, size))
        volumes.append(np.bincount(parent, volumes[-1]).astype(np.float64))
        u, v = parent[u], parent[v]
        apart = u != v
        u, v, w = u[apart], v[apart], w[apart]
    return volumes, [*boundaries, np.zeros(1)]


def contributions(tree: CodingTree, level: int) -> NDArray[np.float64]:
    """Return the bits of every node of a level (Eq. 3)."""
    bits = np.zeros(tree.num_clusters(level))
    if level < tree.height:
        volume, boundary = tree.volumes(level), tree.boundaries(level)
        above = tree.volumes(level + 1)[tree.assignment(level + 1)]
        some = boundary > 0  # a node without edges may have no volume
        ratio = above[some] / volume[some]
        bits[some] = boundary[some] / tree.volume[-1] * np.log2(ratio)
    return bits


def sum_of_contributions(tree: CodingTree) -> float:
    """Return the bits of all nodes, the entropy."""
    return float(sum(tree.contributions(level).sum() for level in range(tree.height)))


def at_levels(tree: CodingTree, levels: Sequence[int]) -> CodingTree:
    """Return the tree that has only these levels of clusters."""
    if levels and tree.top == 0:
        raise ValueError("a tree of height 1 has no levels of clusters")
    for level in levels:
        whole_number("level", level, 1, tree.top)
    chosen = [0, *sorted(set(levels)), tree.height]
    parents = []
    for low, high in pairwise(chosen):
        parents.append(np.arange(tree.counts[low], dtype=np.int32))
        for level in range(low + 1, high + 1):
            parents[-1] = tree.assignment(level)[parents[-1]]
    lower = replace(
        tree,
        counts=tuple(tree.counts[level] for level in chosen),
        parent=np.concatenate(parents),
        volume=np.concatenate([tree.volumes(level) for level in chosen]),
        boundary=np.concatenate([tree.boundaries(level) for level in chosen]),
    )
    return replace(lower, entropy=sum_of_contributions(lower))


def cluster_names(tree: CodingTree, level: int, count: int) -> list[str]:
    """Return the names of the ``count`` members of the largest degree of every cluster."""
    labels, names = tree.labels(level), names_of(tree)
    order = np.lexsort((np.arange(len(labels)), -tree.volumes(0), labels))
    first = np.searchsorted(labels[order], np.arange(tree.num_clusters(level) + 1))
    return [
        ", ".join(str(names[i]) for i in order[start : min(start + count, end)])
        for start, end in pairwise(first.tolist())
    ]


def communities(tree: CodingTree, level: int, nodes: Iterable[Hashable]) -> list[set[Any]]:
    """Return the clusters of a level as sets of these names."""
    labels = checked_names(tree, nodes)
    parts: list[set[Any]] = [set() for _ in range(tree.num_clusters(level))]
    for name, cluster in zip(labels, tree.labels(level).tolist(), strict=True):
        parts[cluster].add(name)
    return parts


def check_graph(tree: CodingTree, graph: Graph) -> None:
    """Fail if a tree is of another graph: other names, another number or order of nodes.

    Names that are the same as text agree, since tree files of version 1 hold text alone.

    Example:
        >>> import sepool
        >>> check_graph(sepool.coding_tree([(0, 1), (1, 2)]), sepool.as_graph([(0, 1)]))
        Traceback (most recent call last):
        ValueError: the tree has 3 leaves, but the graph has 2 nodes
    """
    if tree.num_nodes != graph.num_nodes:
        raise ValueError(
            f"the tree has {tree.num_nodes} leaves, but the graph has {graph.num_nodes} nodes"
        )
    numbers = tuple(range(tree.num_nodes))
    names, others = tree.names or numbers, graph.names or numbers
    if tree.names and graph.names:
        differ = not _same_names(names, others)
    else:  # the order of nodes decides, unless names and degrees contradict it
        contradiction = not np.allclose(tree.volumes(0), graph.degrees())
        differ = contradiction and in_another_order(names, others)
    if differ:
        pairs = [pair for pair in zip(names, others, strict=True) if pair[0] != pair[1]]
        name, other = next((pair for pair in pairs if str(pair[0]) != str(pair[1])), pairs[0])
        raise ValueError(
            f"the tree is of another graph: where it has the node {name!r}, the graph has {other!r}"
        )


def checked_names(tree: CodingTree, nodes: Iterable[Hashable]) -> list[Hashable]:
    """Return the names of a tree's nodes; fail if they are not different, or in another order."""
    names = list(nodes)
    if len(names) != tree.num_nodes:
        raise ValueError(f"the tree has {tree.num_nodes} nodes, got names for {len(names)}")
    if tree.names and in_another_order(tree.names, names):
        raise ValueError(
            f"the tree has these nodes in another order, {tree.names[0]!r} first; leave them out "
            "to have its own"
        )
    if reader(type(nodes)) and in_another_order(range(tree.num_nodes), names):
        check_graph(tree, as_graph(nodes, symmetrise=True))
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"several nodes have the name {twice!r}; pass others as nodes")
    return names


def _same_names(names: Sequence[Hashable], others: Sequence[Hashable]) -> bool:
    """Return True for equal names, also as text where text tells all nodes apart."""
    texts = list(map(str, names))
    return names == others or (texts == list(map(str, others)) and len(set(texts)) == len(texts))


def in_another_order(names: Iterable[Hashable], others: Iterable[Hashable]) -> bool:
    """Return True if two lists hold the same names, or the same as text, in another order.

    >>> in_another_order("012", "120"), in_another_order("012", "012"), in_another_order("01", "ab")
    (True, False, False)
    """
    one, other = list(names), list(others)
    texts = list(map(str, one)), list(map(str, other))
    return any(a != b and set(a) == set(b) for a, b in ((one, other), texts))
