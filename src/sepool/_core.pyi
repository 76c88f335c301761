"""The compiled core: arrays in, arrays out."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

def csr(
    node_ptr: NDArray[np.int64],
    edge_ptr: NDArray[np.int64],
    u: NDArray[np.int32] | NDArray[np.int64],
    v: NDArray[np.int32] | NDArray[np.int64],
    w: NDArray[np.float64] | None,
    *,
    both: bool,
    self_loops: bool,
    num_threads: int = 1,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64] | None,
    NDArray[np.int64] | None,
    NDArray[np.float64],
]:
    """Edge lists of several graphs to compressed rows: indptr, indices, weights, loops, unit."""

def trees(
    node_ptr: NDArray[np.int64],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    *,
    height: int,
    method: str,
    seed: int,
    num_threads: int,
    progress: Callable[[float, str], None] | None,
    colours: NDArray[np.int64] | None = None,
    arc_colours: NDArray[np.int64] | None = None,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
]:
    """The coding tree of every graph: counts, parent, volume, cut, entropy."""

def cluster_contracted(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    inner: NDArray[np.int64],
    *,
    seed: int,
    num_threads: int,
    progress: Callable[[float, str], None] | None,
) -> NDArray[np.int32]:
    """Flat clusters of a contracted graph.

    ``loops`` are the parts of the volumes that edges do not account for, ``inner`` the weights
    inside the nodes, which count as edges of their clusters.
    """

def refine(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    counts: NDArray[np.int64],
    parent: NDArray[np.int32],
    *,
    active: NDArray[np.int8] | None,
    held: NDArray[np.int8] | None,
    unions: bool,
    seed: int,
    num_threads: int,
    progress: Callable[[float, str], None] | None,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
]:
    """The coding tree of one graph, from given levels; counts and parent are those of a tree.

    Without ``unions`` items move and no clusters unite. ``active`` are the nodes that may move at
    first, None for all; ``held`` those that never move.
    """

def changed_nodes(
    old_indptr: NDArray[np.int64],
    old_indices: NDArray[np.int32],
    old_weights: NDArray[np.int64] | None,
    old_loops: NDArray[np.int64] | None,
    old_unit: float,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    unit: float,
    number: NDArray[np.int32],
) -> NDArray[np.int8]:
    """1 for every node whose edges are not those of the node that it was in an earlier graph.

    ``number`` has the ids of the nodes in the earlier graph, -1 for new ones.
    """

def rewired(
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    group_ptr: NDArray[np.int64],
    between: NDArray[np.int64] | None,
    attempts: float,
    seed: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Edges with the same degrees after ``attempts`` random swaps an edge inside their groups.

    The edges of a group are consecutive. With ``between`` the ends of all edges stay in different
    clusters of it.
    """

def merge_tree(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    linkage: str,
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Stage 1 alone: parent, volume and cut; leaves first, children before parents, the root last.

    The cut of a node is here the weight of the edges between its children. ``linkage`` is "gain"
    or "relative".
    """

def compress(
    num_leaves: int,
    parent: NDArray[np.int32],
    volume: NDArray[np.int64],
    cut: NDArray[np.int64],
    height: int,
    optimal: bool,
) -> NDArray[np.int8]:
    """Stage 2 alone, on a tree of `merge_tree`: 1 for the root and the inner nodes that stay."""

def canonical_order(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.int64] | None,
    loops: NDArray[np.int64] | None,
    colours: NDArray[np.int64] | None = None,
    arc_colours: NDArray[np.int64] | None = None,
) -> NDArray[np.int32]:
    """The nodes in an order that does not depend on how they are numbered."""

def log2(volumes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Base-2 logarithms by the core's own operations, the same on every processor; 0 for 0."""

def enable_small(enabled: bool) -> None:
    """Switch the code for small graphs on or off, for all threads; the trees are the same."""

MAX_HEIGHT: int
build: str
