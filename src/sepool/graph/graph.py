"""The graph in compressed rows of integers, and its conversion from other objects."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sepool.arguments import checked_threads
from sepool.graph.edges import WEIGHT, Edges, Names, refuse_masked, sorted_rows
from sepool.graph.readers import (
    WITH_ATTRIBUTES,
    is_undirected,
    package_of,
    read_object,
    read_table,
)
from sepool.segments import pointers


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph in compressed rows; `as_graph` makes it.

    Weights are integers, so that no sum depends on its order; in the units of the caller they are
    ``weights * unit``.

    Attributes:
        indptr: row ``i`` is ``indptr[i]`` to ``indptr[i + 1]``.
        indices: the neighbours, sorted in every row; both directions of an edge, no self-loops.
        weights: the weight of every entry, or None if all are 1.
        loops: the part of every degree that comes from self-loops, or None without loops.
        unit: the weight of an entry of 1, in the units of the caller.
        names: the labels of the nodes, or None for 0, 1, 2, ...

    Raises:
        TypeError: an array is not of the type given here, or the unit is no number.
        ValueError: the unit is not positive and finite.

    Example:
        >>> graph = as_graph([(0, 1, 0.5), (1, 2, 1.5)])
        >>> graph
        Graph(nodes=3, edges=2)
        >>> graph.weights * graph.unit
        array([0.5, 0.5, 1.5, 1.5])
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.int64] | None = None
    loops: NDArray[np.int64] | None = None
    unit: float = 1.0
    names: Names | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if not isinstance(self.unit, Real) or isinstance(self.unit, bool):
            raise TypeError(f"unit must be a number, got {self.unit!r}")
        if not 0 < self.unit < math.inf:
            raise ValueError(f"unit must be positive and finite, got {self.unit}")

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of pairs of nodes that share an edge."""
        return len(self.indices) // 2

    @property
    def total_volume(self) -> float:
        """Sum of the degrees."""
        return float(self.degrees().sum())

    def degrees(self) -> NDArray[np.float64]:
        """Return the weight of the edges at every node; a self-loop that counts does so twice.

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
        """Return every edge once: the lower ends, the upper ends, the weights.

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
    """Fail on arrays of other types than those of the core; ``more`` are more fields."""
    types = {"indptr": "int64", "indices": "int32", "weights": "int64", "loops": "int64", **more}
    for name, dtype in types.items():
        array = getattr(graph, name)
        refuse_masked(array, name)
        if array is not None and getattr(array, "dtype", None) != dtype:
            got = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"{name} must be an array of {dtype}, got {got}")


def as_graph(
    graph: Any = None,
    *,
    edges: Any = None,
    adjacency: Any = None,
    num_nodes: int | None = None,
    columns: Sequence[Hashable] | None = None,
    weight: str | None = WEIGHT,
    self_loops: bool = False,
    symmetrise: bool = False,
    directed: str | None = None,
    teleport: float = 0.15,
    format: str | None = None,
    num_threads: int | None = None,
) -> Graph:
    """Convert anything that lists edges to a `Graph`.

    Args:
        graph: one of

            - a networkx graph or multigraph, whose nodes are the names,
            - an igraph or graph-tool graph, whose vertex attribute ``name`` has the names, or a
              networkit graph,
            - a table with a row an edge: a pandas or polars DataFrame, an Arrow table or stream, a
              DuckDB relation,
            - an adjacency matrix, symmetric, whose row sums are the degrees: sparse of SciPy or
              torch, or a dense array of at least four rows,
            - a PyG ``Data``, every edge in both directions; weights are ``edge_weight``, or
              ``edge_attr`` if it has one axis,
            - an array or list of rows ``u v`` or ``u v weight``, or a tuple ``(edges, weights)``;
              a row is one undirected edge, integers are the numbers of nodes, others are names,
            - a dictionary ``{u: [v, ...]}`` or ``{u: {v: weight}}``; as in ``networkx.Graph``, an
              edge listed from both ends, or repeatedly, counts once,
            - the path of a file: an edge list (see
              `sepool.graph.formats.edge_list.read_edge_list`), CSV, Parquet, Arrow, GraphML, GML,
              GEXF, Pajek, Matrix Market and others, also gzipped or compressed by Zstandard,
            - a `Graph`, which is returned as it is, whatever the options.
        edges: in place of ``graph``, rows of edges, whatever their shape suggests.
        adjacency: in place of ``graph``, a square matrix, dense or sparse.
        num_nodes: number of nodes of an edge array; the highest id plus one by default.
        columns: of a table, (source, target) or (source, target, weight), in files also by number
            from 1; by default the columns with customary names, as ``source`` and ``target``,
            ``from`` and ``to``, ``weight``.
        weight: the edge attribute, or column of a table, that holds the weights, 1 where it is
            missing; some edge must have one of another name than "weight". None ignores the weights
            of any graph.
        self_loops: count self-loops in the degrees instead of dropping them.
        symmetrise: accept a directed graph and let every arc count as an undirected edge.
        directed: "flow" reads arcs, from the first node of a row to the second, and weighs edges
            by the flows of a random walk along them (see `sepool.graph.flow.undirected_flow`).
        teleport: probability of a jump of that walk.
        format: of a file: edgelist, csv, parquet, arrow, graphml, gml, gexf, pajek, mtx, npz or
            adjlist; None goes by the ending, and by the content where the ending leaves it open.
        num_threads: number of threads that sort the edges of a large graph, all cores by default.

    Repeated edges of rows and multigraphs add up. Integer ids in tables and dictionaries order the
    nodes, and are their names unless they are 0, 1, 2, ...

    Raises:
        TypeError: the object is no graph, or an id or a weight is no number.
        ValueError: the graph is directed, has no nodes, or has an impossible id or weight.

    Example:
        >>> as_graph([(0, 1), (1, 2), (2, 0)])
        Graph(nodes=3, edges=3)
        >>> as_graph([("ann", "bob", 0.5), ("bob", "cleo")]).names
        ('ann', 'bob', 'cleo')
        >>> as_graph(adjacency=[[0, 2], [2, 0]]).degrees()
        array([2., 2.])
    """
    if directed not in (None, "flow"):
        raise ValueError(f"directed must be None or 'flow', got {directed!r}")
    threads = checked_threads(num_threads)
    graph, form = one_graph(graph, edges, adjacency)
    if isinstance(graph, Graph):
        return graph
    options: dict[str, Any] = {"columns": columns, "form": form, "format": format}
    if directed is None:
        listed = read_graph(graph, num_nodes, weight, symmetrise, **options)
        return build_graph(listed, self_loops, threads)
    from sepool.graph.flow import checked_teleport, undirected_flow

    checked_teleport(teleport)
    if symmetrise:
        raise ValueError("symmetrise=True cannot be combined with directed='flow'")
    arcs = read_graph(graph, num_nodes, weight, symmetrise=True, **options)
    if arcs.directed is False or is_undirected(graph):
        arcs = both_ways(arcs)
    if not self_loops:  # they would delay the walk
        links = arcs.u != arcs.v
        weights = None if arcs.w is None else arcs.w[links]
        arcs = arcs._replace(u=arcs.u[links], v=arcs.v[links], w=weights)
    return build_graph(undirected_flow(arcs, teleport), self_loops, threads)


def one_graph(graph: Any, edges: Any, adjacency: Any) -> tuple[Any, str | None]:
    """Return the one of three arguments that is not None, and the form that its name states."""
    values = {None: graph, "edges": edges, "adjacency": adjacency}
    forms = [form for form, value in values.items() if value is not None]
    if len(forms) > 1:
        names = " and ".join("a graph" if form is None else f"{form}=" for form in forms)
        raise TypeError(f"expected one of a graph, edges= and adjacency=, got {names}")
    form = forms[0] if forms else None
    if form is not None and isinstance(values[form], Graph):
        raise TypeError(f"{form}= got a Graph; pass it as as_graph(graph)")
    return values[form], form


def read_graph(
    graph: Any,
    num_nodes: int | None,
    weight: str | None,
    symmetrise: bool,
    *,
    format: str | None = None,
    columns: Sequence[Hashable] | None = None,
    form: str | None = None,
) -> Edges:
    """Return the edges of any object that `as_graph` takes; ``form`` is edges or adjacency."""
    if not (weight is None or isinstance(weight, str)):
        raise TypeError(f"weight must be the name of an edge attribute or None, got {weight!r}")
    if isinstance(graph, (str, os.PathLike)) and form is None:
        from sepool.graph.formats.options import FileOptions
        from sepool.graph.formats.read import read_file

        edges = read_file(graph, FileOptions(format, columns, weight, symmetrise))
    else:
        if format is not None:
            raise ValueError(
                f"format={format!r} goes with the path of a file; leave it out for a "
                f"{type(graph).__name__}"
            )
        if weight not in (None, WEIGHT) and package_of(type(graph)) not in WITH_ATTRIBUTES:
            raise ValueError(
                f"weight={weight!r} names an edge attribute, which networkx and igraph graphs, "
                f"tables and files have; leave it out for a {type(graph).__name__}, or pass None "
                "to ignore weights"
            )
        table = read_table(graph, weight, symmetrise, columns, form)
        edges = table or read_object(graph, num_nodes, weight, symmetrise, form)
    if num_nodes is not None and num_nodes != edges.num_nodes:
        raise ValueError(f"num_nodes={num_nodes}, but the graph has {edges.num_nodes} nodes")
    return edges._replace(w=None) if weight is None else edges


def both_ways(edges: Edges) -> Edges:
    """Return the edges of an undirected graph as arcs, two an edge."""
    if edges.both:
        return edges
    w = None if edges.w is None else np.concatenate([edges.w, edges.w])
    u, v = np.concatenate([edges.u, edges.v]), np.concatenate([edges.v, edges.u])
    return edges._replace(u=u, v=v, w=w, both=True)


def build_graph(edges: Edges, self_loops: bool, num_threads: int = 0) -> Graph:
    """Return a graph of its edges."""
    nodes, ends = pointers([edges.num_nodes]), pointers([len(edges.u)])
    rows = sorted_rows(nodes, ends, edges.u, edges.v, edges.w, edges.both, self_loops, num_threads)
    return Graph(*rows[:4], float(rows[4][0]), edges.names)
