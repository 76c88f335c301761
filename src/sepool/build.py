"""Construction of coding trees: check the arguments, read the graphs, call the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sepool.arguments import one_of, whole_number
from sepool.graph.batch import GraphBatch, as_graph_batch
from sepool.graph.graph import as_graph
from sepool.segments import pointers
from sepool.tree import CodingTree
from sepool.tree_batch import TreeBatch

METHODS = ("best", "fast", "paper")
Progress = Callable[[float, str], None]  # the fraction done and the stage


def coding_tree(
    graph: Any,
    height: int = 2,
    *,
    method: str = "best",
    seed: int = 0,
    trials: int = 1,
    num_threads: int | None = None,
    self_loops: bool = False,
    symmetrise: bool = False,
    progress: Progress | None = None,
) -> CodingTree:
    """Return a coding tree of low structural entropy.

    Args:
        graph: anything `as_graph` takes: a networkx or igraph graph, a SciPy sparse matrix, a PyG
            ``Data``, an array of edges, the path of an edge list. Call `as_graph` first to name
            the weight attribute or the number of nodes, with ``self_loops`` and ``symmetrise``,
            which do not apply to a `Graph`.
        height: level of the root; 2 gives one level of clusters, 3 clusters of clusters.
        method: "best" has the lowest entropy, "fast" leaves the refinement out, "paper" is
            Algorithm 1 of the SEP paper to the letter.
        seed: of the search of "best"; another seed may give a tree of slightly other entropy.
        trials: number of seeds, from ``seed`` on; the tree of the lowest entropy is returned.
        num_threads: number of threads for a graph of 10,000 edges and more, all cores by default;
            the tree does not depend on it.
        self_loops: count self-loops in the degrees instead of dropping them.
        symmetrise: accept a directed graph and let every arc count as an undirected edge.
        progress: callback for the fraction done and the stage of the work.

    Returns:
        A tree whose leaves, all at depth ``height``, are the nodes of the graph.

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
    """
    options = core_options(height, method, seed, num_threads, progress)
    trials = whole_number("trials", trials, 1, 2**31)
    whole = as_graph(graph, self_loops=self_loops, symmetrise=symmetrise)
    batch = GraphBatch(
        pointers([whole.num_nodes]),
        whole.indptr,
        whole.indices,
        whole.weights,
        whole.loops,
        np.array([whole.unit]),
        (whole.names,),
    )
    trees = (
        _trees(
            batch,
            {**options, "seed": (options["seed"] + trial) % 2**63, **_part(options, trial, trials)},
        )[0]
        for trial in range(trials)
    )
    return min(trees, key=lambda tree: tree.entropy)


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
    num_threads: int | None = None,
    self_loops: bool = False,
    symmetrise: bool = False,
    progress: Progress | None = None,
) -> TreeBatch:
    """Return the coding trees of many graphs, built by several threads.

    Args:
        graphs: a list of anything `coding_tree` takes; NumPy edge arrays are the fastest.
        height: as in `coding_tree`.
        method: as in `coding_tree`.
        seed: as in `coding_tree`.
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
    """
    options = core_options(height, method, seed, num_threads, progress)
    batch = as_graph_batch(graphs, self_loops=self_loops, symmetrise=symmetrise)
    return _trees(batch, options)


def _trees(batch: GraphBatch, options: dict[str, Any]) -> TreeBatch:
    from sepool import _core

    counts, parent, volume, boundary, entropy = _core.trees(
        batch.node_ptr, batch.indptr, batch.indices, batch.weights, batch.loops, **options
    )
    nodes = pointers(counts.sum(axis=1))[:-1]
    starts = np.column_stack([nodes - np.arange(len(nodes)), nodes])  # roots have no parent
    return TreeBatch(counts, parent, volume, boundary, entropy, batch.unit, starts, batch.names)


def core_options(
    height: int, method: str, seed: int, num_threads: int | None, progress: Progress | None
) -> dict[str, Any]:
    """Return the options of the core, checked."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function, got {progress!r}")
    return {
        "height": whole_number("height", height, 1, _max_height()),
        "method": one_of("method", method, METHODS),
        "seed": whole_number("seed", seed, 0, 2**63 - 1),
        "num_threads": 0
        if num_threads is None
        else whole_number("num_threads", num_threads, 1, 4096),
        "progress": progress,
    }


def _max_height() -> int | None:
    """Return the height limit of the core; None without a core, where trees come from a cache."""
    try:
        from sepool import _core
    except ImportError:
        return None
    return _core.MAX_HEIGHT
