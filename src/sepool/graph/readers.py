"""Choice of the reader for an object, by the package its class comes from.

None of these packages is imported here, and a reader is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sepool.graph.edges import Edges

Reader = Callable[[Any, "str | None", bool], Edges]
# Package: an attribute that only its graphs have, and the function that reads them.
_READERS = {
    "networkx": ("is_directed", "sepool.graph.objects.networkx:from_networkx"),
    "igraph": ("is_directed", "sepool.graph.objects.igraph:from_igraph"),
    "scipy": ("tocoo", "sepool.graph.objects.scipy:from_scipy"),
    "torch_geometric": ("is_undirected", "sepool.graph.objects.pyg:from_pyg"),
}
WITH_ATTRIBUTES = ("networkx", "igraph")  # of edges, one of them for weights


def package_of(graph_class: type[Any]) -> str | None:
    """Return the package of a class of graphs or of one of its bases, None for other classes."""
    for base in graph_class.__mro__:
        package = base.__module__.partition(".")[0]
        if package in _READERS:
            return package if hasattr(graph_class, _READERS[package][0]) else None
    return None


def reader(graph_class: type[Any]) -> Reader | None:
    """Return the function that reads objects of this class, or None."""
    package = package_of(graph_class)
    if package is None:
        return None
    module, _, function = _READERS[package][1].partition(":")
    read: Reader = getattr(import_module(module), function)
    return read
