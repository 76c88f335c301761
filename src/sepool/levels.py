"""From labels to the levels of a coding tree: a clustering from elsewhere, checked and measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sepool.graph.graph import Graph

if TYPE_CHECKING:
    from sepool.tree import CodingTree

Labels = ArrayLike | Mapping[Any, Any] | Iterable[Any]  # as `as_levels` takes them
MISSING = object()


def as_levels(labels: Any, graph: Graph) -> list[NDArray[Any]]:
    """One array of labels a level, each as long as the graph has nodes."""
    num_nodes = graph.num_nodes
    levels = [_by_node(level, graph) for level in _apart(labels)]
    for i, level in enumerate(levels, 1):
        if level.dtype.kind not in "iubU":
            raise TypeError(
                f"labels must be integers or strings, one a node, got {level.dtype} on level {i}"
            )
        if level.shape != (num_nodes,):
            raise ValueError(
                f"expected {num_nodes} labels, one a node, got shape {level.shape} on level {i}"
            )
    return levels


def _apart(labels: Any) -> list[Any]:
    """The levels of what may be one level or several."""
    labels = _listed(labels)
    if isinstance(labels, Mapping) or _are_communities(labels):
        return [labels]
    rows = labels if isinstance(labels, list) else np.atleast_1d(labels)
    first = _listed(rows[0]) if len(rows) else []  # a look at all would take long
    several = isinstance(first, (Mapping, list)) or np.ndim(first) > 0
    return [_listed(row) for row in rows] if several else [rows]


def _listed(labels: Any) -> Any:
    """Clusterings of igraph and leidenalg by their labels, and what networkx yields as a list."""
    labels = getattr(labels, "membership", labels)
    return list(labels) if isinstance(labels, (tuple, ValuesView, Iterator)) else labels


def _are_communities(level: Any) -> bool:
    """Whether a level is given as networkx does: a list of sets of nodes."""
    return (
        isinstance(level, list)
        and len(level) > 0
        and all(isinstance(part, (set, frozenset)) for part in level)
    )


def _by_node(level: Any, graph: Graph) -> NDArray[Any]:
    """The labels of one level in the order of the nodes, also where it is told node by node."""
    if isinstance(level, Mapping):
        told = list(level.items())
    elif _are_communities(level):
        told = [(node, cluster) for cluster, part in enumerate(level) for node in part]
    else:
        return np.asarray(level)
    names = range(graph.num_nodes) if graph.names is None else graph.names
    place = {name: i for i, name in enumerate(names)}
    if len(place) < graph.num_nodes:
        raise ValueError("two nodes have the same name; give labels in the order of the nodes")
    found: list[Any] = [MISSING] * graph.num_nodes
    for node, label in told:
        i = place.get(node if graph.names is None else str(node))
        if i is None:
            raise ValueError(f"the labels have a node {node!r}, which is not in the graph")
        if found[i] is not MISSING:
            raise ValueError(f"node {node!r} has two labels, {found[i]!r} and {label!r}")
        found[i] = label
    if MISSING in found:
        raise ValueError(f"node {names[found.index(MISSING)]!r} has no label")
    return np.asarray(found)


def assignments_of(levels: list[NDArray[Any]], num_nodes: int) -> list[NDArray[np.int64]]:
    """The parents of every level, its clusters numbered so that siblings stand side by side."""
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


def volumes_and_boundaries(
    graph: Graph, assignments: list[NDArray[np.int64]]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """The volumes and boundaries of every level; an edge counts as long as its ends are apart."""
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


def check_graph(tree: CodingTree, graph: Graph) -> None:
    """Sees whether a tree can be of a graph.

    Raises:
        ValueError: it is of another: the nodes are not as many, or have other names.

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
    numbers = tuple(map(str, range(tree.num_nodes)))
    pair = tree.names or numbers, graph.names or numbers
    if tree.names and graph.names:
        other_nodes = pair[0] != pair[1]
    else:  # places count, unless names and degrees tell otherwise
        apart = not np.allclose(tree.volumes(0), graph.degrees())
        other_nodes = in_another_order(*pair) and apart
    if other_nodes:
        mine, other = next((a, b) for a, b in zip(*pair, strict=True) if a != b)
        raise ValueError(
            f"the tree is of another graph: where it has the node {mine!r}, the graph has {other!r}"
        )


def in_another_order(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two lists have the same names, but at other places.

    >>> in_another_order("012", "120"), in_another_order("012", "012"), in_another_order("01", "ab")
    (True, False, False)
    """
    return list(names) != list(others) and set(names) == set(others)
