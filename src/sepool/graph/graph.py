"""What counts as a graph: anything that lists edges, turned into compressed rows of integers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edge_list import read_edge_list
from sepool.graph.edges import WEIGHT, Edges, sorted_rows
from sepool.graph.numpy import from_array
from sepool.graph.readers import has_attributes, reader
from sepool.segments import pointers

Names = tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph in compressed rows; `as_graph` makes it.

    Weights are integers, so that nothing depends on the order of a sum: a weight as the caller
    knows it is ``weights * unit``.

    Attributes:
        indptr: row ``i`` is ``indptr[i]`` to ``indptr[i + 1]``.
        indices: the neighbours, sorted in every row; both directions of an edge, no self-loops.
        weights: the weight of every entry, or None if all are 1.
        loops: what self-loops add to the degree of every node, or None if there are none.
        unit: what a weight of 1 is worth to the caller.
        names: what the nodes are called, or None if they are simply 0, 1, 2, ...

    Raises:
        TypeError: an array is not of the type that it has here.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.int64] | None = None
    loops: NDArray[np.int64] | None = None
    unit: float = 1.0
    names: Names | None = None

    def __post_init__(self) -> None:
        check_types(self)

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """How many pairs of nodes share an edge."""
        return len(self.indices) // 2

    @property
    def total_volume(self) -> float:
        """The sum of the degrees."""
        return float(self.degrees().sum())

    def degrees(self) -> NDArray[np.float64]:
        """The weight of the edges at every node; a counted self-loop counts with both its ends.

        Example:
            >>> as_graph([(0, 1), (1, 2)]).degrees()
            array([1., 2., 1.])
        """
        total = self.indptr
        if self.weights is not None:
            total = np.concatenate([[0], np.cumsum(self.weights)])[self.indptr]
        degrees = np.diff(total) if self.loops is None else np.diff(total) + self.loops
        return degrees.astype(np.float64) * self.unit

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Every edge once: the lower end, the upper end, the weight.

        Example:
            >>> as_graph([(2, 1), (1, 0), (0, 1)]).edges()[2]
            array([2., 1.])
        """
        rows = np.repeat(np.arange(self.num_nodes, dtype=np.int32), np.diff(self.indptr))
        once = rows < self.indices
        w = np.ones(self.num_edges) if self.weights is None else self.weights[once].astype(float)
        return rows[once], self.indices[once], w * self.unit

    def __repr__(self) -> str:
        return f"Graph(nodes={self.num_nodes}, edges={self.num_edges})"


def check_types(graph: Any, **more: str) -> None:
    """Numbers that would have to be cut for the core are refused here; ``more`` are more arrays."""
    types = {"indptr": "int64", "indices": "int32", "weights": "int64", "loops": "int64", **more}
    for name, kind in types.items():
        array = getattr(graph, name)
        if array is not None and getattr(array, "dtype", None) != kind:
            found = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"{name} must be an array of {kind}, got {found}")


def as_graph(
    graph: Any,
    *,
    num_nodes: int | None = None,
    weight: str | None = WEIGHT,
    self_loops: bool = False,
    symmetrise: bool = False,
) -> Graph:
    """Turns anything that counts as a graph into a `Graph`.

    Args:
        graph: one of

            - a networkx graph or multigraph,
            - a SciPy sparse adjacency matrix, symmetric, whose row sums are the degrees,
            - a PyG ``Data``, every edge in both directions; weights are ``edge_weight``, or
              ``edge_attr`` if it has one axis,
            - an igraph graph,
            - an array or list of rows ``u v`` or ``u v weight``, or a tuple ``(edges, weights)``;
              a row is one undirected edge,
            - the path of an edge-list file, plain or gzipped (see `sepool.graph.edge_list.read_edge_list`),
            - a `Graph`, which is returned as it is, whatever the options say.
        num_nodes: how many nodes an edge array has; the highest id plus one by default.
        weight: the edge attribute of networkx and igraph that holds the weights, 1 where it is
            missing; another than "weight" must be there on some edge. None ignores all weights,
            wherever the graph comes from.
        self_loops: count self-loops in the degrees instead of dropping them.
        symmetrise: accept a directed graph and let every arc count as an undirected edge.

    Repeated edges add up.

    Raises:
        TypeError: the object is no graph.
        ValueError: the graph is directed, has no nodes, or holds an id or a weight that is wrong.

    Example:
        >>> as_graph([(0, 1), (1, 2), (2, 0)])
        Graph(nodes=3, edges=3)
        >>> as_graph([(0, 1, 0.5)], num_nodes=3).degrees()
        array([0.5, 0.5, 0. ])
    """
    if isinstance(graph, Graph):
        return graph
    return build_graph(read_graph(graph, num_nodes, weight, symmetrise), self_loops)


def read_graph(graph: Any, num_nodes: int | None, weight: str | None, symmetrise: bool) -> Edges:
    """The edges of one object, whatever it is."""
    if weight not in (None, WEIGHT) and not has_attributes(type(graph)):
        raise ValueError(
            f"weight={weight!r} names an edge attribute, which networkx and igraph graphs have; "
            f"leave it out for a {type(graph).__name__}, or pass None to ignore weights"
        )
    if isinstance(graph, (np.ndarray, list)):
        edges = from_array(graph, None, num_nodes)
    elif isinstance(graph, tuple) and len(graph) == 2:
        edges = from_array(*graph, num_nodes)
    elif isinstance(graph, (str, os.PathLike)):
        edges = read_edge_list(graph)
    elif read := reader(type(graph)):
        edges = read(graph, weight, symmetrise)
    else:
        kind = type(graph).__name__
        hint = "; for an edge_index pass edge_index.T.numpy()" if kind == "Tensor" else ""
        raise TypeError(
            f"cannot read a graph from {kind}; expected a networkx or igraph graph, a SciPy sparse "
            f"matrix, a PyG Data, an array of edges or the path of a file{hint}"
        )
    if num_nodes is not None and num_nodes != edges.num_nodes:
        raise ValueError(f"num_nodes={num_nodes}, but the graph has {edges.num_nodes} nodes")
    return edges if weight else edges._replace(w=None)


def build_graph(edges: Edges, self_loops: bool) -> Graph:
    """The compressed rows of edges."""
    nodes, ends = pointers([edges.num_nodes]), pointers([len(edges.u)])
    rows = sorted_rows(nodes, ends, edges.u, edges.v, edges.w, edges.both, self_loops)
    return Graph(*rows[:4], float(rows[4][0]), edges.names)
