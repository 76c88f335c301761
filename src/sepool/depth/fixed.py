"""Trees in which some nodes have given labels: equal ones share a cluster, others do not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.depth.merge import merged
from sepool.graph.edges import Edges
from sepool.graph.graph import Graph, build_graph
from sepool.levels import positions_of
from sepool.segments import Ints, common_parts, renumbered
from sepool.tree import CodingTree
from sepool.tree_batch import refine


def tree_with_fixed(
    graph: Graph,
    label: Ints,
    search: Callable[[Graph], CodingTree],
    options: dict[str, Any],
) -> CodingTree:
    """Return a tree whose coarsest clusters agree with the labels of some nodes, -1 for none.

    The search takes the nodes of one label as one node. A cluster with several labels is then
    divided, and the nodes without a label move where that lowers the entropy.
    """
    if label.max(initial=-1) < 0:
        return search(graph)
    node = np.where(label < 0, label.max() + 1 + np.arange(graph.num_nodes), label)
    node = renumbered(node)
    tree = search(_contracted(graph, node))
    levels = [tree.labels(level)[node].astype(np.int64) for level in range(1, tree.height)]
    above = _divided(graph, levels[-1] if levels else np.zeros(graph.num_nodes, np.int64), label)
    if above.max() == 0:
        return CodingTree.from_levels(graph, [above] * (tree.height - 1))
    levels[-1:] = [above]
    for i in reversed(range(len(levels) - 1)):
        levels[i] = above = common_parts(levels[i], above)
    return refine(
        graph,
        levels,
        unions=False,
        held=(label >= 0).astype(np.int8),
        seed=options["seed"],
        num_threads=options["num_threads"],
    )


def labels_of_fixed(graph: Graph, fixed: Mapping[Hashable, Hashable]) -> Ints:
    """Return the number of every node's label, -1 for nodes without one."""
    if not isinstance(fixed, Mapping):
        raise TypeError(f"fixed must be a dictionary from nodes to labels, got {fixed!r}")
    label = np.full(graph.num_nodes, -1, np.int64)
    numbers: dict[Hashable, int] = {}
    for i, name in zip(positions_of(list(fixed), graph, "fixed has"), fixed.values(), strict=True):
        try:
            label[i] = numbers.setdefault(name, len(numbers))
        except TypeError:
            raise TypeError(f"labels of fixed must be hashable, got {name!r}") from None
    return label


def _contracted(graph: Graph, node: Ints) -> Graph:
    """Return the graph with all nodes of one number as one, and their edges as its loop."""
    u, v, w = graph.edges()
    loops = np.zeros(0, np.int64) if graph.loops is None else np.flatnonzero(graph.loops)
    weight = np.zeros(0) if graph.loops is None else graph.loops[loops] * graph.unit / 2
    ends = (np.concatenate([node[u], node[loops]]), np.concatenate([node[v], node[loops]]))
    edges = Edges(*ends, np.concatenate([w, weight]), int(node.max()) + 1)
    return build_graph(edges, self_loops=True)


def _divided(graph: Graph, labels: NDArray[np.int64], label: Ints) -> Ints:
    """Return the clusters, those with several labels divided into one a label."""
    pairs = np.unique(np.stack([labels, label])[:, label >= 0], axis=1)[0]
    mixed = np.isin(labels, pairs[:-1][pairs[1:] == pairs[:-1]])
    if not mixed.any():
        return labels
    nodes = np.where(label < 0, label.max() + 1 + np.arange(len(label)), label)
    start = np.where(mixed, labels.max() + 1 + nodes, labels)
    start = renumbered(start)
    apart = np.full(int(start.max()) + 1, -1, np.int64)
    apart[start[mixed]] = label[mixed]
    within = np.where(mixed, labels, -1 - labels)
    return merged(graph, start, within=within, apart=apart)
