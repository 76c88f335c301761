"""Choice of the reader for an object, by the package its class comes from.

None of these packages is imported here, and a reader is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from sepool.graph.edges import Edges

Reader = Callable[..., Edges]  # of the graph, weight, symmetrise; of a table, columns, too
# Package: an attribute that only its graphs have, and the function that reads them.
_READERS = {
    "networkx": ("is_directed", "networkx:from_networkx"),
    "igraph": ("is_directed", "igraph:from_igraph"),
    "networkit": ("isDirected", "networkit:from_networkit"),
    "graph_tool": ("is_directed", "graph_tool:from_graph_tool"),
    "scipy": ("tocoo", "scipy:from_scipy"),
    "torch_geometric": ("is_undirected", "pyg:from_pyg"),
    "torch": ("is_sparse", "torch:from_torch"),
    "pandas": ("itertuples", "frames:from_pandas"),
    "polars": ("lazy", "frames:from_polars"),
    "pyarrow": ("schema", "arrow:from_arrow"),
    "duckdb": ("to_arrow_table", "duckdb:from_duckdb"),
    "_duckdb": ("to_arrow_table", "duckdb:from_duckdb"),
}
TABLES = ("pandas", "polars", "pyarrow", "duckdb", "_duckdb")
WITH_ATTRIBUTES = ("networkx", "igraph", "graph_tool", *TABLES)  # of edges, one for weights


def package_of(graph_class: type[Any]) -> str | None:
    """Return the package of a class of graphs or of one of its bases, None for other classes."""
    for base in graph_class.__mro__:
        package = base.__module__.partition(".")[0]
        if package in _READERS:
            return package if hasattr(graph_class, _READERS[package][0]) else None
    return "pyarrow" if hasattr(graph_class, "__arrow_c_stream__") else None


def reader(graph_class: type[Any]) -> Reader | None:
    """Return the function that reads objects of this class, or None."""
    package = package_of(graph_class)
    if package is None:
        return None
    module, _, function = _READERS[package][1].partition(":")
    read: Reader = getattr(import_module(f"sepool.graph.objects.{module}"), function)
    return read


def read_table(
    table: Any,
    weight: str | None,
    symmetrise: bool,
    columns: Sequence[Hashable] | None,
    form: str | None = None,
) -> Edges | None:
    """Return the edges of a table with chosen or customary columns, None for other objects."""
    is_table = form != "adjacency" and package_of(type(table)) in TABLES
    read = reader(type(table)) if is_table else None
    if read is None and columns is not None:
        raise ValueError(
            f"columns={columns!r} chooses columns of a table; leave it out for a "
            f"{type(table).__name__}"
        )
    return None if read is None else read(table, weight, symmetrise, columns)


def read_object(
    graph: Any, num_nodes: int | None, weight: str | None, symmetrise: bool, form: str | None
) -> Edges:
    """Return the edges of an object that is no table; ``form`` is edges, adjacency or None."""
    # Readers are imported on use: most programs need one of them.
    if form is not None:
        read_form = read_adjacency if form == "adjacency" else read_edges
        return read_form(graph, num_nodes, symmetrise)
    if isinstance(graph, (np.ndarray, list)) or (isinstance(graph, tuple) and len(graph) == 2):
        from sepool.graph.objects.numpy import from_array

        rows, weights = graph if isinstance(graph, tuple) else (graph, None)
        return from_array(rows, weights, num_nodes, symmetrise)
    if isinstance(graph, dict):
        from sepool.graph.objects.named import from_neighbours

        return from_neighbours(graph, symmetrise)
    if read := reader(type(graph)):
        return read(graph, weight, symmetrise)
    raise TypeError(
        f"cannot read a graph from {type(graph).__name__}; expected a networkx, igraph, networkit "
        "or graph-tool graph, a table, an adjacency matrix, a PyG Data, a list or array of edges, "
        "a dictionary of neighbours or the path of a file"
    )


def read_edges(edges: Any, num_nodes: int | None, symmetrise: bool) -> Edges:
    """Read any rows of edges, or a tuple of rows and weights."""
    from sepool.graph.objects.numpy import from_rows

    rows, weights = edges if _has_weights(edges) else (edges, None)
    rows, weights = _plain(rows), _plain(weights)
    is_graph = isinstance(rows, (str, bytes, dict)) or package_of(type(rows)) is not None
    if is_graph or isinstance(rows, (set, frozenset)) or not isinstance(rows, Iterable):
        raise TypeError(
            f"edges= must be rows (u, v) or (u, v, weight) in an array, a list or an iterator, got "
            f"{type(rows).__name__}; pass other graphs as as_graph(graph), a set as sorted(edges)"
        )
    return from_rows(rows if isinstance(rows, np.ndarray) else list(rows), weights, num_nodes)


def read_adjacency(matrix: Any, num_nodes: int | None, symmetrise: bool) -> Edges:
    """Read any square matrix: dense, of SciPy or of torch."""
    package = package_of(type(matrix))
    if package == "torch":
        from sepool.graph.objects.torch import from_matrix

        return from_matrix(matrix, symmetrise)
    if package == "scipy":
        from sepool.graph.objects.scipy import from_scipy

        return from_scipy(matrix, None, symmetrise)
    if package is None and isinstance(matrix, (np.ndarray, list, tuple)):
        from sepool.graph.objects.numpy import from_dense

        return from_dense(matrix, symmetrise)
    raise TypeError(
        "adjacency= must be a square matrix of NumPy, SciPy or torch, got "
        f"{type(matrix).__name__}; pass other graphs as as_graph(graph)"
    )


def is_undirected(graph: Any) -> bool:
    """Return True for a graph of a library that tells undirected graphs from directed ones."""
    graph_class = type(graph)
    name = "isDirected" if hasattr(graph_class, "isDirected") else "is_directed"
    return hasattr(graph_class, name) and not getattr(graph, name)()


def _has_weights(edges: Any) -> bool:
    """Return True for a tuple of edges and weights, False for other rows and for two edges."""
    if not isinstance(edges, tuple) or len(edges) != 2:
        return False
    return not all(isinstance(row, (tuple, list)) and _is_row(row) for row in edges)


def _is_row(row: Any) -> bool:
    return len(row) in (2, 3) and not any(isinstance(end, (tuple, list)) for end in row[:2])


def _plain(values: Any) -> Any:
    """Return a tensor as an array and other objects as they are."""
    if package_of(type(values)) != "torch":
        return values
    from sepool.graph.objects.torch import as_array

    return as_array(values)
