"""Colour connectivity (Rampasek and Wolf 2021): one or two red components on one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sepool.segments import pointers
from sepool_experiments.data.tasks.task import Ints, Task, edge_blocks, split_in_order

Bools = NDArray[np.bool_]
BRANCHES = 2  # neighbours that a visited node puts on the queue
CHUNK = 4_000_000  # nodes coloured at a time


def grid_edges(side: int) -> Ints:
    """Return the edges of a square grid.

    >>> grid_edges(2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    node = np.arange(side * side).reshape(side, side)
    across = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    return np.concatenate([across, np.column_stack([node[:-1].ravel(), node[1:].ravel()])])


def grid_squares(side: int) -> Ints:
    """Return the four nodes of every square of a grid.

    >>> grid_squares(2).tolist()
    [[0, 1, 2, 3]]
    """
    node = np.arange(side * side).reshape(side, side)
    corners = node[:-1, :-1], node[:-1, 1:], node[1:, :-1], node[1:, 1:]
    return np.column_stack([corner.ravel() for corner in corners])


def colour_task(
    name: str,
    edges: Ints,
    sizes: tuple[int, int, int],
    seed: int = 0,
    matched: Sequence[Ints] = (),
) -> Task:
    """Return colourings of one connected graph, both classes equally often in every part.

    Args:
        name: name of the task.
        edges: edges of the graph, each once.
        sizes: number of training, validation and test examples.
        seed: of the colourings.
        matched: sets of nodes, a row a set, such as edges or squares; for every example of one
            class there is one of the other with as many sets that are red. On a grid the number of
            components is the number of holes plus nodes less edges plus squares, which local counts
            reveal but for the holes: with both matched they reveal nothing.
    """
    blocks = edge_blocks([edges])
    nodes = int(edges.max()) + 1
    rng = np.random.default_rng(seed)
    red, y = balanced_colourings(nodes, blocks.row, blocks.col, sum(sizes), rng, matched)
    x = np.stack([~red, red], axis=-1).reshape(-1, 2).astype(np.float32)
    return Task(name, np.array([nodes]), blocks, x, y, **split_in_order(*sizes))


def balanced_colourings(
    nodes: int,
    row: Ints,
    col: Ints,
    count: int,
    rng: np.random.Generator,
    matched: Sequence[Ints] = (),
) -> tuple[Bools, Ints]:
    """Return different colourings, a row each, and their classes 0 (one component) and 1 (two).

    Classes alternate, so that every part of an even size is balanced.
    """
    drawn = [np.empty((0, nodes), bool), np.empty((0, nodes), bool)]
    need = (count + 1) // 2
    while True:
        red = colourings(nodes, row, col, min(2 * need, max(CHUNK // nodes, 1)), rng)
        components = red_components(row, col, red)
        for label in (0, 1):
            drawn[label] = _different(np.concatenate([drawn[label], red[components == label + 1]]))
        first, second = _pairs(*(red_sets(part, matched) for part in drawn))
        if len(first) >= need:
            break
    order = rng.permutation(len(first))[:need]
    paired = np.stack([drawn[0][first[order]], drawn[1][second[order]]], axis=1)
    classes = np.tile([0, 1], need).astype(np.int64)
    return paired.reshape(-1, nodes)[:count], classes[:count]


def red_sets(red: Bools, matched: Sequence[Ints]) -> Ints:
    """Return one number a colouring, equal where equally many sets of every kind are red."""
    numbers = np.zeros(len(red), np.int64)
    for sets in matched:
        numbers = numbers * (len(sets) + 1) + red[:, sets].all(axis=2).sum(axis=1)
    return numbers


def _different(red: Bools) -> Bools:
    """Drop repeated colourings."""
    first = np.unique(np.packbits(red, axis=1), axis=0, return_index=True)[1]
    return red[np.sort(first)]


def _pairs(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Return indices into two arrays, paired by equal values; every index occurs once."""
    orders = [np.argsort(values, kind="stable") for values in (one, other)]
    keys = []
    for values, order in zip((one, other), orders, strict=True):
        ordered = values[order]
        rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
        keys.append(ordered * (len(one) + len(other) + 1) + rank)
    numbers = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return orders[0][numbers[1]], orders[1][numbers[2]]


def red_components(row: Ints, col: Ints, red: Bools) -> Ints:
    """Return the number of connected red components of every colouring."""
    count, nodes = red.shape
    example, edge = np.nonzero(red[:, row] & red[:, col])
    ends = example * nodes + row[edge], example * nodes + col[edge]
    links = coo_array((np.ones(len(edge), np.int8), ends), shape=(red.size, red.size))
    component = connected_components(links, directed=False)[1]
    label = np.unique(component[np.flatnonzero(red)])
    first = np.full(component.max() + 1, red.size)
    np.minimum.at(first, component, np.arange(red.size))
    counts: Ints = np.bincount(first[label] // nodes, minlength=count)
    return counts


def colourings(nodes: int, row: Ints, col: Ints, count: int, rng: np.random.Generator) -> Bools:
    """Grow two red walks by turns from two random nodes until half of the nodes are red.

    A walk visits the first node of its queue; where that is not red yet, it becomes red and two of
    its neighbours, drawn at random, join the queue. A walk with an empty queue goes on from one of
    its nodes.
    """
    walks = _Walks(nodes, pointers(np.bincount(row, minlength=nodes)), col, count, rng)
    first = rng.integers(nodes, size=count)
    second = (first + 1 + rng.integers(nodes - 1, size=count)) % nodes
    everyone = np.arange(count)
    for walk, start in ((0, first), (1, second)):
        walks.visit(everyone, np.full(count, walk), start)
    turn, active = 0, everyone
    while len(active := active[walks.size[active].sum(axis=1) < nodes // 2]):
        current = np.full(len(active), turn)
        walks.refill(active, current)
        node = walks.pop(active, current)
        fresh = ~walks.red[active, node]
        walks.visit(active[fresh], current[fresh], node[fresh])
        turn = 1 - turn
    return walks.red


@dataclass
class _Walks:
    """Two walks in each of many colourings of one graph in compressed rows."""

    nodes: int
    ptr: Ints
    col: Ints
    count: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        shape = (self.count, 2)
        self.red = np.zeros((self.count, self.nodes), bool)
        self.visited = np.zeros((*shape, self.nodes), np.int32)
        self.queue = np.zeros((*shape, BRANCHES * (self.nodes + 1)), np.int32)
        self.size, self.head, self.tail = (np.zeros(shape, np.int64) for _ in range(3))

    def visit(self, example: Ints, walk: Ints, node: Ints) -> None:
        """Colour a node of each example, and queue two of its neighbours."""
        self.red[example, node] = True
        self.visited[example, walk, self.size[example, walk]] = node
        self.size[example, walk] += 1
        self._push(example, walk, node)

    def refill(self, example: Ints, walk: Ints) -> None:
        """Go on from a random visited node where the queue is empty."""
        empty = self.head[example, walk] == self.tail[example, walk]
        example, walk = example[empty], walk[empty]
        self.head[example, walk] = self.tail[example, walk] = 0
        draw = self.rng.random(len(example)) * self.size[example, walk]
        self._push(example, walk, self.visited[example, walk, draw.astype(np.int64)])

    def pop(self, example: Ints, walk: Ints) -> NDArray[Any]:
        """Return the first node of every queue."""
        node = self.queue[example, walk, self.head[example, walk]]
        self.head[example, walk] += 1
        return node

    def _push(self, example: Ints, walk: Ints, node: NDArray[Any]) -> None:
        """Queue two different neighbours of each node, in random order, or its only one."""
        degree = self.ptr[node + 1] - self.ptr[node]
        first = (self.rng.random(len(node)) * degree).astype(np.int64)
        step = 1 + (self.rng.random(len(node)) * (degree - 1)).astype(np.int64)
        for offset, pushed in ((first, degree > 0), ((first + step) % degree, degree > 1)):
            where = example[pushed], walk[pushed]
            neighbour = self.col[(self.ptr[node] + offset)[pushed]]
            self.queue[(*where, self.tail[where])] = neighbour
            self.tail[where] += 1
