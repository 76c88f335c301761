"""What counts as a graph: anything that lists edges, turned into compressed rows of integers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sepool.edges import Edges, compress, concatenate, from_array, pointers, reader
from sepool.io import read_edge_list

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
        _check_types(self)

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


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch(Sequence[Graph]):
    """Many graphs in one set of arrays; `as_graph_batch` makes it.

    Graph ``b`` owns the rows ``node_ptr[b]`` to ``node_ptr[b + 1]`` of ``indptr``; neighbours are
    numbered inside their graph. The other fields are those of `Graph`, with one ``unit`` a graph.
    """

    node_ptr: NDArray[np.int64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.int64] | None
    loops: NDArray[np.int64] | None
    unit: NDArray[np.float64]
    names: tuple[Names | None, ...] | None = None

    def __post_init__(self) -> None:
        _check_types(self)

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @overload
    def __getitem__(self, index: int) -> Graph: ...
    @overload
    def __getitem__(self, index: slice) -> GraphBatch: ...
    def __getitem__(self, index: int | slice) -> Graph | GraphBatch:
        if isinstance(index, slice):
            return _join([self[i] for i in range(len(self))[index]])
        b = range(len(self))[index]
        first, last = self.node_ptr[b : b + 2]
        start, stop = self.indptr[[first, last]]
        return Graph(
            self.indptr[first : last + 1] - start,
            self.indices[start:stop],
            None if self.weights is None else self.weights[start:stop],
            None if self.loops is None else self.loops[first:last],
            float(self.unit[b]),
            None if self.names is None else self.names[b],
        )

    def __repr__(self) -> str:
        nodes, edges = len(self.indptr) - 1, len(self.indices) // 2
        return f"GraphBatch(graphs={len(self)}, nodes={nodes}, edges={edges})"


def _check_types(graph: Graph | GraphBatch) -> None:
    """Numbers that would have to be cut for the core are refused here."""
    types = {"indptr": np.int64, "indices": np.int32, "weights": np.int64, "loops": np.int64}
    for name, kind in {"node_ptr": np.int64, **types}.items():
        array = getattr(graph, name, None)
        if array is not None and getattr(array, "dtype", None) != kind:
            found = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"{name} must be an array of {kind.__name__}, got {found}")


def as_graph(
    graph: Any,
    *,
    num_nodes: int | None = None,
    weight: str | None = "weight",
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
            - the path of an edge-list file, plain or gzipped (see `sepool.io.read_edge_list`),
            - a `Graph`, which is returned as it is, whatever the options say.
        num_nodes: how many nodes an edge array has; the highest id plus one by default.
        weight: the edge attribute of networkx and igraph that holds the weights, 1 where it is
            missing. None ignores all weights, wherever the graph comes from.
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
    return _build(_read(graph, num_nodes, weight, symmetrise), self_loops)


def as_graph_batch(
    graphs: Iterable[Any],
    *,
    num_nodes: Sequence[int] | None = None,
    weight: str | None = "weight",
    self_loops: bool = False,
    symmetrise: bool = False,
) -> GraphBatch:
    """Turns many graphs into one `GraphBatch`; see `as_graph` for the arguments.

    A list of NumPy edge arrays is the fastest input. ``num_nodes`` has one number a graph.

    Example:
        >>> batch = as_graph_batch([[(0, 1)], [(0, 1), (1, 2)]])
        >>> batch
        GraphBatch(graphs=2, nodes=5, edges=3)
        >>> batch[1]
        Graph(nodes=3, edges=2)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    if isinstance(graphs, (Graph, str, os.PathLike)):
        raise TypeError(f"expected a list of graphs, got a single {type(graphs).__name__}")
    graphs = list(graphs)
    if num_nodes is not None and len(num_nodes) != len(graphs):
        raise ValueError(f"num_nodes has {len(num_nodes)} entries for {len(graphs)} graphs")
    batch = _stack_arrays(graphs, num_nodes, weight, self_loops)
    if batch is not None:
        return batch

    parts: list[Edges | Graph] = []
    for i, graph in enumerate(graphs):
        n = None if num_nodes is None else num_nodes[i]
        try:
            parts.append(graph if isinstance(graph, Graph) else _read(graph, n, weight, symmetrise))
        except TypeError as error:
            raise TypeError(f"graph {i}: {error}") from None
        except ValueError as error:
            raise ValueError(f"graph {i}: {error}") from None
    lists = [part for part in parts if isinstance(part, Edges)]
    if len(lists) == len(parts) and len({edges.both for edges in lists}) == 1:
        nodes = pointers([edges.num_nodes for edges in lists])
        ends = pointers([len(edges.u) for edges in lists])
        arrays = compress(nodes, ends, *concatenate(lists), lists[0].both, self_loops)
        return GraphBatch(nodes, *arrays, tuple(edges.names for edges in lists))
    return _join([_built(i, part, self_loops) for i, part in enumerate(parts)])


def _read(graph: Any, num_nodes: int | None, weight: str | None, symmetrise: bool) -> Edges:
    """The edges of one object, whatever it is."""
    if isinstance(graph, (np.ndarray, list)):
        edges = from_array(graph, None, num_nodes)
    elif isinstance(graph, tuple) and len(graph) == 2:
        edges = from_array(*graph, num_nodes)
    elif isinstance(graph, (str, os.PathLike)):
        edges = read_edge_list(graph)
    elif read := reader(type(graph)):
        edges = read(graph, weight, symmetrise)
    else:
        raise TypeError(
            f"cannot read a graph from {type(graph).__name__}; expected a networkx or igraph "
            "graph, a SciPy sparse matrix, a PyG Data, an array of edges or the path of a file"
        )
    if num_nodes is not None and num_nodes != edges.num_nodes:
        raise ValueError(f"num_nodes={num_nodes}, but the graph has {edges.num_nodes} nodes")
    return edges if weight else edges._replace(w=None)


def _stack_arrays(
    graphs: list[Any], num_nodes: Sequence[int] | None, weight: str | None, self_loops: bool
) -> GraphBatch | None:
    """The fast way in, for NumPy edge arrays of one shape; None for anything else."""
    if set(map(type, graphs)) != {np.ndarray}:
        return None
    try:
        edges = from_array(np.concatenate(graphs))
    except (TypeError, ValueError):
        return None  # the slow way finds out which graph it is
    ends = pointers(np.fromiter(map(len, graphs), np.int64, len(graphs)))
    nodes = pointers(_counts(edges, ends) if num_nodes is None else list(map(index, num_nodes)))
    w = edges.w if weight else None
    return GraphBatch(nodes, *compress(nodes, ends, edges.u, edges.v, w, False, self_loops))


def _counts(edges: Edges, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The highest id plus one in every part of an edge list."""
    counts = np.zeros(len(ends) - 1, np.int64)
    full = np.diff(ends) > 0
    if full.any():
        counts[full] = 1 + np.maximum.reduceat(np.maximum(edges.u, edges.v), ends[:-1][full])
    return counts


def _build(edges: Edges, self_loops: bool) -> Graph:
    nodes, ends = pointers([edges.num_nodes]), pointers([len(edges.u)])
    rows = compress(nodes, ends, edges.u, edges.v, edges.w, edges.both, self_loops)
    return Graph(*rows[:4], float(rows[4][0]), edges.names)


def _built(i: int, part: Edges | Graph, self_loops: bool) -> Graph:
    """Graph ``i`` of several, which is named where it is wrong."""
    try:
        return part if isinstance(part, Graph) else _build(part, self_loops)
    except ValueError as error:
        raise ValueError(f"graph {i}: {error}") from None


def _join(graphs: list[Graph]) -> GraphBatch:
    """Graphs that are built already, one after the other."""
    sizes = pointers([len(graph.indices) for graph in graphs])
    rows = [graph.indptr[1:] + start for graph, start in zip(graphs, sizes, strict=False)]
    weights = loops = None
    if any(graph.weights is not None for graph in graphs):
        weights = np.concatenate(
            [np.ones(len(g.indices), np.int64) if g.weights is None else g.weights for g in graphs]
        )
    if any(graph.loops is not None for graph in graphs):
        loops = np.concatenate(
            [np.zeros(g.num_nodes, np.int64) if g.loops is None else g.loops for g in graphs]
        )
    return GraphBatch(
        pointers([graph.num_nodes for graph in graphs]),
        np.concatenate([[0], *rows]),
        np.concatenate([np.empty(0, np.int32), *(graph.indices for graph in graphs)]),
        weights,
        loops,
        np.array([graph.unit for graph in graphs]),
        tuple(graph.names for graph in graphs),
    )
