"""Construction of coding trees: check the arguments, read the graphs, call the core."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sepool.arguments import checked_seed, checked_threads, one_of, whole_number
from sepool.graph.batch import as_graph_batch
from sepool.graph.graph import Graph, as_graph
from sepool.levels import Labels, check_graph
from sepool.tree import CodingTree
from sepool.tree_batch import TreeBatch, build_batch, build_one, refine

if TYPE_CHECKING:
    from sepool.graph.colours import Colours

METHODS = ("best", "fast", "paper")
Progress = Callable[[float, str], None]  # the fraction done and the stage


def coding_tree(
    graph: Any,
    height: int | None = None,
    *,
    method: str = "best",
    seed: int = 0,
    trials: int = 1,
    init: CodingTree | Labels | None = None,
    num_clusters: int | None = None,
    min_size: int = 1,
    fixed: Mapping[Hashable, Hashable] | None = None,
    num_threads: int | None = None,
    self_loops: bool = False,
    symmetrise: bool = False,
    progress: Progress | None = None,
) -> CodingTree:
    """Return a coding tree of low structural entropy.

    Args:
        graph: anything `as_graph` takes: a graph of another library, a table, an adjacency
            matrix, a PyG ``Data``, rows of edges, the path of an edge list. Call `as_graph` first
            to name the weights, columns or number of nodes, with ``self_loops`` and
            ``symmetrise``, which do not apply to a `Graph`.
        height: level of the root; 2 gives one level of clusters, 3 clusters of clusters. None
            chooses the levels that the graph supports; a graph without structure has height 1.
        method: "best" has the lowest entropy, "fast" leaves the refinement out, "paper" is
            Algorithm 1 of the SEP paper to the letter. Levels that are chosen without a height,
            or for ``num_clusters`` or ``fixed``, are refined whatever the method.
        seed: of the search of "best"; another seed may give a tree of slightly other entropy.
        trials: number of seeds, from ``seed`` on. With a height the tree of the lowest entropy is
            returned; without one, the levels that save most code length among all trees.
        init: a tree or labels (as in `CodingTree.from_levels`) to start from, whose number of
            levels stays; nodes move and clusters unite where that lowers the entropy.
        num_clusters: number of clusters on the coarsest level, from the number of components to
            that of nodes.
        min_size: least number of nodes in a cluster; smaller ones are merged into a neighbour,
            unless they are a component. Cannot be combined with ``num_clusters``.
        fixed: labels of some nodes; on the coarsest level, nodes of one label share a cluster, also
            across components, and nodes of two labels do not. Cannot be combined with ``init``,
            ``num_clusters`` or ``min_size``.
        num_threads: number of threads for a graph of 10,000 edges and more, all cores by default;
            the tree does not depend on it.
        self_loops: count self-loops in the degrees instead of dropping them.
        symmetrise: accept a directed graph and let every arc count as an undirected edge.
        progress: callback for the fraction done and the stage of the work.

    Returns:
        A tree whose leaves, all at the same depth, are the nodes of the graph.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: an argument, an id or a weight has an impossible value.

    Example:
        >>> bridge = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
        >>> tree = coding_tree(bridge, height=2)
        >>> tree.labels(level=1)
        array([0, 0, 0, 1, 1, 1], dtype=int32)
        >>> round(tree.entropy, 4)
        1.6995
        >>> cliques = [(i, j) for i in range(40) for j in range(i) if i // 10 == j // 10]
        >>> coding_tree([*cliques, (9, 10), (19, 20), (29, 30)])
        CodingTree(height=2, nodes=40, clusters=[40, 4, 1], entropy=3.3536)
    """
    options = core_options(1 if height is None else height, method, seed, num_threads, progress)
    trials = whole_number("trials", trials, 1, 2**31)
    whole = as_graph(graph, self_loops=self_loops, symmetrise=symmetrise, num_threads=num_threads)
    whole_number("min_size", min_size, 1)
    if num_clusters is not None:
        whole_number("num_clusters", num_clusters, 1)
        if min_size > 1:
            raise ValueError("num_clusters cannot be combined with min_size")
        if height == 1:
            raise ValueError("num_clusters needs a level of clusters; height=1 has none")
    if fixed is not None:
        if init is not None or num_clusters is not None or min_size > 1:
            raise ValueError("fixed cannot be combined with init, num_clusters or min_size")
        from sepool.depth.fixed import labels_of_fixed, tree_with_fixed

        label = labels_of_fixed(whole, fixed)
        if height == 1 and label.max() > 0:
            raise ValueError("fixed has several labels, but a tree of height 1 has no clusters")

        return tree_with_fixed(
            whole, label, lambda part: _search(part, height, None, trials, options), options
        )
    tree = _search(whole, height, init, trials, options)
    if num_clusters is None and min_size == 1:
        return tree
    from sepool.depth.count import with_min_size, with_num_clusters

    if num_clusters is not None:
        return with_num_clusters(whole, tree, num_clusters, height, options)
    return with_min_size(whole, tree, min_size, keep_height=height is not None)


def _search(
    graph: Graph,
    height: int | None,
    init: CodingTree | Labels | None,
    trials: int,
    options: dict[str, Any],
) -> CodingTree:
    """Return the tree of the lowest entropy, or of the depth that the graph supports."""
    if init is not None:
        return _tree_from(graph, init, height, options)
    seeds = [(options["seed"] + trial) % 2**63 for trial in range(trials)]
    if height is None:
        from sepool.depth.pick import tree_of_supported_depth

        return tree_of_supported_depth(graph, seeds, options)
    trees = (
        build_one(graph, {**options, "seed": seed, **_part(options, trial, trials)})
        for trial, seed in enumerate(seeds)
    )
    return min(trees, key=lambda tree: tree.entropy)


def _tree_from(
    graph: Graph, init: CodingTree | Labels, height: int | None, options: dict[str, Any]
) -> CodingTree:
    """Return the tree that the search reaches from the levels of ``init``."""
    if isinstance(init, CodingTree):
        check_graph(init, graph)
        init = [init.labels(level) for level in range(1, init.height)]
    start = CodingTree.from_levels(graph, init)
    if height is not None and height != start.height:
        raise ValueError(
            f"height={height}, but init is a tree of height {start.height}; leave height out"
        )
    if start.height == 1:
        return build_one(graph, options)
    levels = [start.labels(level) for level in range(1, start.height)]
    shared = {key: options[key] for key in ("seed", "num_threads", "progress")}
    tree = refine(graph, levels, unions=True, **shared)
    return tree if tree.entropy < start.entropy else start


def _part(options: dict[str, Any], trial: int, trials: int) -> dict[str, Any]:
    """Return the progress callback of one of several trials."""
    progress = options["progress"]
    if progress is None or trials == 1:
        return {}
    return {"progress": lambda done, stage: progress((trial + done) / trials, stage)}


def coding_trees(
    graphs: Iterable[Any],
    height: int = 2,
    *,
    method: str = "best",
    seed: int = 0,
    colours: Sequence[Any] | Colours | None = None,
    num_threads: int | None = None,
    self_loops: bool = False,
    symmetrise: bool = False,
    progress: Progress | None = None,
) -> TreeBatch:
    """Return the coding trees of many graphs, built by several threads.

    Args:
        graphs: a list of anything `coding_tree` takes; NumPy edge arrays are the fastest.
        height: level of the root of every tree; there is no choice of levels.
        method: as in `coding_tree`.
        seed: as in `coding_tree`.
        colours: for every graph an array of one number, or one row of features, a node. Nodes that
            are interchangeable by the structure are taken in the order of their colours, so that
            trees with colours do not depend on the order of the nodes either; no entropy does.
        num_threads: number of threads, all cores by default; a graph is processed by one, and no
            tree depends on it.
        self_loops: as in `coding_tree`.
        symmetrise: as in `coding_tree`.
        progress: as in `coding_tree`.

    Returns:
        A sequence of `CodingTree`, in the order of the graphs.

    Example:
        >>> trees = coding_trees([[(0, 1), (1, 2)], [(0, 1), (2, 3), (4, 5), (6, 7)]])
        >>> len(trees), trees[1].entropy
        (2, 1.0)
        >>> ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
        >>> trees = coding_trees([ring, ring], colours=[[1, 1, 0, 0], [0, 1, 1, 0]])
        >>> [tree.labels(level=1).tolist() for tree in trees]
        [[0, 0, 1, 1], [0, 1, 1, 0]]
    """
    options = core_options(height, method, seed, num_threads, progress)
    batch = as_graph_batch(graphs, self_loops=self_loops, symmetrise=symmetrise)
    if colours is None:
        return build_batch(batch, options)
    from sepool.graph.colours import Colours, colours_of

    if not isinstance(colours, Colours):
        colours = colours_of(colours, np.diff(batch.node_ptr))
    return build_batch(batch, options, colours)


def core_options(
    height: int, method: str, seed: int, num_threads: int | None, progress: Progress | None
) -> dict[str, Any]:
    """Return the options of the core, checked."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function, got {progress!r}")
    return {
        "height": whole_number("height", height, 1, _max_height()),
        "method": one_of("method", method, METHODS),
        "seed": checked_seed(seed),
        "num_threads": checked_threads(num_threads),
        "progress": progress,
    }


def _max_height() -> int | None:
    """Return the height limit of the core; None without a core, where trees come from a cache."""
    try:
        from sepool import _core
    except ImportError:
        return None
    return _core.MAX_HEIGHT
