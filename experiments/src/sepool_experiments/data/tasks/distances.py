"""Regression of distances: diameter, eccentricity, and shortest paths from a marked node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.spatial import Delaunay

from sepool_experiments.data.tasks.colours import grid_edges
from sepool_experiments.data.tasks.task import Ints, Task, edge_blocks, split_in_order

Family = Callable[[int, np.random.Generator], Ints]
DEGREES = 8  # columns of the one-hot degree; the last is for all higher ones
MIN_NODES, MAX_NODES = 20, 200
MEASURES = ("diameter", "eccentricity", "shortest-path")


def distance_task(name: str, measure: str, sizes: tuple[int, int, int], seed: int = 0) -> Task:
    """Return random connected graphs of 20 to 200 nodes with distances as targets.

    Features are one-hot degrees and, for shortest paths, a mark of the source.

    Args:
        name: name of the task.
        measure: "diameter" (a number a graph), "eccentricity" (a number a node) or "shortest-path"
            (the distance of every node from the marked one).
        sizes: number of training, validation and test graphs.
        seed: of the graphs and sources.
    """
    rng = np.random.default_rng(seed)
    graphs = [random_graph(FAMILIES[i % len(FAMILIES)], rng) for i in range(sum(sizes))]
    nodes = np.array([count for count, _ in graphs])
    order = rng.permutation(len(graphs))
    edges = [graphs[i][1] for i in order]
    nodes = nodes[order]
    x, y = [], []
    for count, pairs in zip(nodes, edges, strict=True):
        distances = all_distances(int(count), pairs)
        marked = int(rng.integers(count))
        degree = np.bincount(pairs.ravel(), minlength=count)
        columns = [np.eye(DEGREES)[np.minimum(degree, DEGREES) - 1]]
        if measure == "shortest-path":
            columns.append((np.arange(count) == marked)[:, None])
        x.append(np.concatenate(columns, axis=1))
        y.append(_targets(measure, distances, marked))
    return Task(
        name, nodes, edge_blocks(edges), np.concatenate(x).astype(np.float32),
        np.concatenate(y).astype(np.float32), **split_in_order(*sizes), metric="mae",
        target="graph" if measure == "diameter" else "node",
    )  # fmt: skip


def _targets(measure: str, distances: Ints, marked: int) -> Ints:
    farthest: Ints = distances.max(axis=0)
    if measure == "diameter":
        return np.array([farthest.max()])
    from_marked: Ints = distances[marked]
    return farthest if measure == "eccentricity" else from_marked


def all_distances(nodes: int, edges: Ints) -> Ints:
    """Return the lengths of the shortest paths between all nodes of a connected graph."""
    links = coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(nodes, nodes)).tocsr()
    distances: Ints = shortest_path(links, directed=False, unweighted=True).astype(np.int64)
    return distances


def random_graph(family: Family, rng: np.random.Generator) -> tuple[int, Ints]:
    """Return a connected graph of a family: its number of nodes, and its edges in random order."""
    nodes = int(rng.integers(MIN_NODES, MAX_NODES + 1))
    edges = family(nodes, rng)
    renamed: Ints = rng.permutation(nodes)[edges]
    return nodes, renamed


def _tree(nodes: int, rng: np.random.Generator) -> Ints:
    """Return a random tree in which a node hangs on one of a few before it."""
    window = int(rng.integers(2, 12))
    child = np.arange(1, nodes)
    parent = child - 1 - (rng.random(nodes - 1) * np.minimum(child, window)).astype(np.int64)
    return np.column_stack([parent, child])


def _ring(nodes: int, rng: np.random.Generator) -> Ints:
    """Return a ring with a few chords."""
    node = np.arange(nodes)
    chords = rng.integers(nodes, size=(int(rng.integers(0, 4)), 2))
    return _once(np.concatenate([np.column_stack([node, (node + 1) % nodes]), chords]))


def _grid(nodes: int, rng: np.random.Generator) -> Ints:
    """Return a grid, whose last row may be shorter, without some of its edges."""
    side = int(np.ceil(np.sqrt(nodes)))
    edges = grid_edges(side)
    return _thinned(nodes, edges[(edges < nodes).all(axis=1)], 0.6, rng)


def _planar(nodes: int, rng: np.random.Generator) -> Ints:
    """Return a Delaunay triangulation of random points without some of its edges."""
    corners = Delaunay(rng.random((nodes, 2))).simplices
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    return _thinned(nodes, _once(pairs), 0.4, rng)


def _caves(nodes: int, rng: np.random.Generator) -> Ints:
    """Return a ring of cliques, each joined to the next by an edge."""
    size = int(rng.integers(4, 9))
    first, second = np.triu_indices(nodes, 1)
    inside = first // size == second // size
    starts = np.arange(0, nodes, size)
    bridges = np.column_stack([starts, np.roll(starts, -1)])
    return _once(np.concatenate([np.column_stack([first, second])[inside], bridges]))


def _sparse(nodes: int, rng: np.random.Generator) -> Ints:
    """Return a random tree with some more edges."""
    return _once(np.concatenate([_tree(nodes, rng), rng.integers(nodes, size=(nodes // 4, 2))]))


FAMILIES: tuple[Family, ...] = (_tree, _ring, _grid, _planar, _caves, _sparse)


def _once(pairs: NDArray[np.integer]) -> Ints:
    """Return every edge once, without self-loops."""
    ends = np.sort(pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int64), axis=1)
    return np.unique(ends, axis=0)


def _thinned(nodes: int, edges: Ints, rate: float, rng: np.random.Generator) -> Ints:
    """Return a random spanning tree, and the other edges each with the probability ``rate``."""
    weight = 1 + rng.random(len(edges))
    tree = minimum_spanning_tree(coo_array((weight, tuple(edges.T)), shape=(nodes, nodes)).tocsr())
    spanning = _once(np.column_stack(tree.nonzero()))
    return _once(np.concatenate([spanning, edges[rng.random(len(edges)) < rate]]))
