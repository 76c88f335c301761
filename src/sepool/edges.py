"""Graphs of other packages as plain edge lists.

None of these packages is imported here: an object is known by the package its class comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sepool.arguments import whole_number

Ids = NDArray[Any]  # int32 or int64
WEIGHT = "weight"  # the attribute of edges that holds their weights, where nothing else is said
Rows = tuple[  # indptr, indices, weights, loops, unit
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64] | None,
    NDArray[np.int64] | None,
    NDArray[np.float64],
]


class NoSuchAttribute(ValueError):
    """No edge of a graph has the attribute that shall hold the weights."""


class Edges(NamedTuple):
    """A list of edges, as every reader hands it on."""

    u: Ids
    v: Ids
    w: NDArray[np.float64] | None  # None: every edge weighs 1
    num_nodes: int
    both: bool = False  # True: every edge is listed in both directions
    names: tuple[str, ...] | None = None  # None: the nodes are called 0, 1, 2, ...


def from_array(edges: ArrayLike, weights: Any = None, num_nodes: int | None = None) -> Edges:
    """Rows ``u v`` or ``u v weight``; a row is one undirected edge."""
    try:
        table = np.asarray(edges)
    except ValueError:
        raise ValueError(
            "expected edges as rows 'u v' or 'u v weight', all of one length"
        ) from None
    if table.size == 0 and table.ndim < 3:
        table = table.reshape(0, 2).astype(np.int64)
    if table.ndim != 2 or table.shape[1] not in (2, 3):
        hint = "for an adjacency matrix pass scipy.sparse.csr_array(matrix)"
        if table.ndim == 2 and len(table) == 2:
            hint = "transpose it, or pass a PyG Data if it is an edge_index"
        raise ValueError(
            f"expected edges of shape (m, 2) or (m, 3), one edge a row, got {table.shape}; {hint}"
        )
    if isinstance(edges, np.ndarray) and is_doubtful(table):
        raise ValueError(
            f"an array of shape {table.shape} could hold edges, one a row, or else be an "
            "adjacency matrix (pass scipy.sparse.csr_array(matrix)) or an edge_index (transpose "
            "it); for weighted edges give ids as integers and the weights as an array of their own"
        )
    if table.dtype.kind not in "iuf":
        raise TypeError(
            f"node ids must be whole numbers, got an array of {table.dtype}; "
            "for nodes with names pass a networkx graph or an edge-list file"
        )
    if table.shape[1] == 3:
        if weights is not None:
            raise ValueError("weights are given twice: as a third column and as an array")
        weights = table[:, 2]
    ids = _whole_numbers(table[:, :2])
    n = _count(ids) if num_nodes is None else whole_number("num_nodes", num_nodes, 1)
    return Edges(ids[:, 0], ids[:, 1], as_weights(weights, len(ids)), n)


def is_doubtful(table: NDArray[Any]) -> bool:
    """Whether edges could as well be a symmetric matrix without loops, or three by their ends."""
    if table.shape not in ((2, 2), (2, 3), (3, 3)) or not table.any():
        return False
    whole = table.dtype.kind in "iu"
    if table.shape == (2, 3):
        return whole
    if table.shape == (2, 2) and whole:  # floats are seldom ids
        return False
    return bool((table == table.T).all() and not table.diagonal().any())


def from_networkx(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """A networkx graph; the nodes keep their order, and their ``str`` becomes their name."""
    _refuse_directed(graph.is_directed(), symmetrise, f"nx.{type(graph).__name__}")
    ids = {node: i for i, node in enumerate(graph)}
    rows = list(graph.edges(data=weight, default=1) if weight else graph.edges())
    u = np.fromiter((ids[row[0]] for row in rows), np.int64, len(rows))
    v = np.fromiter((ids[row[1]] for row in rows), np.int64, len(rows))
    w = as_weights([row[2] for row in rows], len(rows)) if weight else None
    if weight not in (None, WEIGHT) and rows:
        every = [data for *_, data in graph.edges(data=True)]
        if not any(weight in data for data in every):
            _refuse_unknown(weight, dict.fromkeys(key for data in every for key in data))
    plain = list(ids) == list(range(len(ids)))
    return Edges(u, v, w, len(ids), names=None if plain else tuple(map(str, ids)))


def from_igraph(graph: Any, weight: str | None, symmetrise: bool) -> Edges:
    """An igraph graph; the vertex attribute ``name`` is kept."""
    _refuse_directed(graph.is_directed(), symmetrise, "igraph.Graph(directed=True)")
    ids = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if weight not in (None, WEIGHT) and len(ids):
        _refuse_unknown(weight, graph.es.attributes())
    w = graph.es[weight] if weight in graph.es.attributes() else None
    names = tuple(map(str, graph.vs["name"])) if "name" in graph.vs.attributes() else None
    return Edges(ids[:, 0], ids[:, 1], as_weights(w, len(ids)), graph.vcount(), names=names)


def from_scipy(matrix: Any, weight: str | None, symmetrise: bool) -> Edges:
    """A sparse adjacency matrix; its row sums are the degrees."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix is square, got shape {matrix.shape}")
    coo = matrix.tocoo()
    entries = coo.data != 0
    w = as_weights(coo.data[entries], int(entries.sum()))
    return Edges(coo.row[entries], coo.col[entries], w, matrix.shape[0], both=not symmetrise)


def from_pyg(data: Any, weight: str | None, symmetrise: bool) -> Edges:
    """A PyG ``Data``: ``edge_index`` with ``edge_weight``, or ``edge_attr`` if it has one axis."""
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise ValueError(f"{type(data).__name__} has no edge_index; pass a homogeneous PyG Data")
    ids = _numpy(edge_index)
    if ids.ndim != 2 or len(ids) != 2 or ids.dtype.kind not in "iu":
        raise ValueError(
            f"edge_index must be integers of shape (2, m), got {ids.dtype} {ids.shape}"
        )
    ids = _whole_numbers(ids)
    w = data.edge_weight
    if w is None and data.edge_attr is not None and data.edge_attr.ndim == 1:
        w = data.edge_attr
    if w is not None:
        w = as_weights(_numpy(w), ids.shape[1])
    n = data.num_nodes
    return Edges(ids[0], ids[1], w, _count(ids) if n is None else n, both=not symmetrise)


Reader = Callable[[Any, "str | None", bool], Edges]
# By package: what only its graphs have, and who reads them.
_READERS: dict[str, tuple[str, Reader]] = {
    "networkx": ("is_directed", from_networkx),
    "igraph": ("is_directed", from_igraph),
    "scipy": ("tocoo", from_scipy),
    "torch_geometric": ("is_undirected", from_pyg),
}


def reader(kind: type[Any]) -> Reader | None:
    """The function that reads objects of this class, by the package it or a base comes from."""
    for base in kind.__mro__:
        mark, read = _READERS.get(base.__module__.partition(".")[0], ("", None))
        if read is not None:
            return read if hasattr(kind, mark) else None
    return None


def has_attributes(kind: type[Any]) -> bool:
    """Whether edges of such graphs have attributes by name, one of which holds the weights."""
    return reader(kind) in (from_networkx, from_igraph)


def _whole_numbers(ids: NDArray[Any]) -> Ids:
    """Node ids as integers; fails on 1.5 and NaN, and leaves the range to the core."""
    if ids.dtype.kind == "f":
        broken = ~(np.abs(ids) < 2.0**53) | (ids != np.floor(ids))
        if broken.any():
            raise ValueError(f"node ids must be whole numbers, got {ids[broken][0]}")
    return ids if ids.dtype in (np.int32, np.int64) else ids.astype(np.int64)


def as_weights(values: Any, num_edges: int) -> NDArray[np.float64] | None:
    """One real number an edge; signs, NaN and infinities are left to the core."""
    if values is None:
        return None
    weights = np.asarray(values)
    if weights.shape != (num_edges,):
        raise ValueError(f"expected {num_edges} weights, one an edge, got shape {weights.shape}")
    if num_edges and weights.dtype.kind not in "biuf":
        given = values if isinstance(values, (list, tuple)) else weights.tolist()
        odd = [x for x in given if not isinstance(x, Real)]
        if odd or weights.dtype.kind != "O":
            raise TypeError(f"edge weights must be real numbers, got {[*odd, weights.dtype][0]!r}")
    return weights.astype(np.float64, copy=False)


def concatenate(parts: Sequence[Edges]) -> tuple[Ids, Ids, NDArray[np.float64] | None]:
    """The columns of several edge lists, one list after the other."""
    w = None
    if any(part.w is not None for part in parts):
        w = np.concatenate([np.ones(len(p.u)) if p.w is None else p.w for p in parts])
    return np.concatenate([p.u for p in parts]), np.concatenate([p.v for p in parts]), w


def sorted_rows(
    node_ptr: NDArray[np.int64],
    edge_ptr: NDArray[np.int64],
    u: Ids,
    v: Ids,
    w: NDArray[np.float64] | None,
    both: bool,
    self_loops: bool,
) -> Rows:
    """Compressed rows of several graphs, whose edge lists follow one another."""
    from sepool import _core  # here, because reading a saved tree needs no compiled core

    counts = np.diff(node_ptr)
    if counts.size and counts.min() < 1:
        which = f" {int(counts.argmin())}" if len(counts) > 1 else ""
        raise ValueError(f"graph{which} has no nodes; a coding tree needs at least one")
    w = None if w is None else np.ascontiguousarray(w)
    return _core.csr(node_ptr, edge_ptr, u, v, w, both=both, self_loops=self_loops)


def pointers(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each part starts, and where the last one ends."""
    pointers = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=pointers[1:])
    return pointers


def _count(ids: NDArray[Any]) -> int:
    return int(ids.max()) + 1 if ids.size else 0


def _numpy(tensor: Any) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().cpu().numpy()
    return array


def _refuse_unknown(weight: str, there: Collection[str]) -> None:
    """A name that no edge knows is misspelt; that of the default may be missing."""
    if weight not in there:
        known = f"edges have {', '.join(map(str, there))}" if there else "edges have none"
        raise NoSuchAttribute(f"no edge has the attribute {weight!r}; {known}")


def _refuse_directed(directed: bool, symmetrise: bool, kind: str) -> None:
    if directed and not symmetrise:
        raise ValueError(
            f"the graph is directed ({kind}); make it undirected, or pass symmetrise=True "
            "to let every arc count as an undirected edge"
        )
