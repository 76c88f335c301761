"""Many graphs in one set of arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sepool.graph.edges import (
    WEIGHT,
    Edges,
    Names,
    NoSuchAttribute,
    concatenate,
    node_count,
    sorted_rows,
)
from sepool.graph.graph import Graph, build_graph, check_types, read_graph
from sepool.graph.readers import reader
from sepool.segments import pointers


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch(Sequence[Graph]):
    """Many graphs in one set of arrays; `as_graph_batch` makes it.

    Graph ``b`` has the rows ``node_ptr[b]`` to ``node_ptr[b + 1]`` of ``indptr``; neighbours are
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
        check_types(self, node_ptr="int64")

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


def as_graph_batch(
    graphs: Iterable[Any],
    *,
    num_nodes: Sequence[int] | None = None,
    weight: str | None = WEIGHT,
    self_loops: bool = False,
    symmetrise: bool = False,
) -> GraphBatch:
    """Convert many graphs to one `GraphBatch`.

    Args:
        graphs: a list of anything `as_graph` takes; NumPy edge arrays are the fastest.
        num_nodes: one number a graph.
        weight: as in `as_graph`.
        self_loops: as in `as_graph`.
        symmetrise: as in `as_graph`.

    Example:
        >>> batch = as_graph_batch([[(0, 1)], [(0, 1), (1, 2)]])
        >>> batch
        GraphBatch(graphs=2, nodes=5, edges=3)
        >>> batch[1]
        Graph(nodes=3, edges=2)
    """
    if isinstance(graphs, GraphBatch):
        return graphs
    class_name = type(graphs).__name__
    if isinstance(graphs, (Graph, str, os.PathLike, dict)) or reader(type(graphs)) is not None:
        raise TypeError(
            f"expected a list of graphs, got a single {class_name}; coding_tree takes one"
        )
    if not isinstance(graphs, Iterable):
        raise TypeError(f"expected a list of graphs, got {class_name}")
    graphs = list(graphs)
    if num_nodes is not None and len(num_nodes) != len(graphs):
        raise ValueError(f"num_nodes has {len(num_nodes)} entries for {len(graphs)} graphs")
    batch = _stack_arrays(graphs, num_nodes, weight, self_loops)
    if batch is not None:
        return batch

    parts: list[Edges | Graph] = []
    lacking: list[NoSuchAttribute] = []
    for i, graph in enumerate(graphs):
        n = None if num_nodes is None else num_nodes[i]
        try:
            parts.append(
                graph if isinstance(graph, Graph) else read_graph(graph, n, weight, symmetrise)
            )
        except NoSuchAttribute as error:  # one of the others may have it
            lacking.append(error)
            parts.append(read_graph(graph, n, None, symmetrise))
        except TypeError as error:
            raise TypeError(f"graph {i}: {error}") from None
        except ValueError as error:
            raise ValueError(f"graph {i}: {error}") from None
    lists = [part for part in parts if isinstance(part, Edges)]
    if lacking and len(lacking) == sum(len(edges.u) > 0 for edges in lists):
        raise lacking[0]
    if len(lists) == len(parts) and len({edges.both for edges in lists}) == 1:
        nodes = pointers([edges.num_nodes for edges in lists])
        ends = pointers([len(edges.u) for edges in lists])
        arrays = sorted_rows(nodes, ends, *concatenate(lists), lists[0].both, self_loops)
        return GraphBatch(nodes, *arrays, tuple(edges.names for edges in lists))
    return _join([_build(i, part, self_loops) for i, part in enumerate(parts)])


def _stack_arrays(
    graphs: list[Any], num_nodes: Sequence[int] | None, weight: str | None, self_loops: bool
) -> GraphBatch | None:
    """Convert NumPy edge arrays of one shape at once; return None for anything else."""
    from sepool.graph.objects.numpy import from_rows, is_ambiguous

    plain = weight in (None, WEIGHT) and set(map(type, graphs)) == {np.ndarray}
    if not plain or not all(map(_has_rows, graphs)) or any(map(is_ambiguous, graphs)):
        return None
    try:
        edges = from_rows(np.concatenate(graphs))
    except (TypeError, ValueError):
        return None  # reading one by one finds the graph
    ends = pointers(np.fromiter(map(len, graphs), np.int64, len(graphs)))
    counts = _counts(edges, ends) if num_nodes is None else list(map(node_count, num_nodes))
    nodes = pointers(counts)
    w = None if weight is None else edges.w
    return GraphBatch(nodes, *sorted_rows(nodes, ends, edges.u, edges.v, w, False, self_loops))


def _has_rows(array: NDArray[Any]) -> bool:
    """Return True for an array whose rows are edges of integer ids."""
    return array.ndim == 2 and array.shape[1] in (2, 3) and array.dtype.kind in "iuf"


def _counts(edges: Edges, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the highest id plus one in every part of an edge list."""
    counts = np.zeros(len(ends) - 1, np.int64)
    full = np.diff(ends) > 0
    if full.any():
        counts[full] = 1 + np.maximum.reduceat(np.maximum(edges.u, edges.v), ends[:-1][full])
    return counts


def _build(i: int, part: Edges | Graph, self_loops: bool) -> Graph:
    """Build graph ``i`` of several; errors have its number."""
    try:
        return part if isinstance(part, Graph) else build_graph(part, self_loops)
    except ValueError as error:
        raise ValueError(f"graph {i}: {error}") from None


def _join(graphs: list[Graph]) -> GraphBatch:
    """Concatenate graphs."""
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
