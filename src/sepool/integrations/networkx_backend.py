"""The entry points by which networkx lists sepool among its backends.

networkx imports this module while it is imported itself, hence it imports nothing.
"""

from __future__ import annotations

from typing import Any


class Backend:
    """Implementations of the dispatched functions of `sepool.integrations.networkx`.

    None of them has the name of a function of networkx: ``nx.community.louvain_communities`` and
    others maximise modularity or the like, and a backend must return what they define.
    """

    @staticmethod
    def structural_entropy_communities(graph: Any, *args: Any, **options: Any) -> Any:
        """Return the communities of a converted graph."""
        from sepool.integrations.networkx import structural_entropy_communities as function

        return _undispatched(function, graph)(graph, *args, **options)

    @staticmethod
    def structural_entropy_partitions(graph: Any, *args: Any, **options: Any) -> Any:
        """Return an iterator over the partitions of a converted graph."""
        from sepool.integrations.networkx import structural_entropy_partitions as function

        return _undispatched(function, graph)(graph, *args, **options)

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> Any:
        """Return the graph itself."""
        return graph

    @staticmethod
    def convert_to_nx(result: Any, **_: Any) -> Any:
        """Return the result itself."""
        return result


def _undispatched(function: Any, graph: Any) -> Any:
    """Return the function below the dispatch, and drop the conversion of the graph.

    networkx warns where it takes a conversion from its cache; this one is the graph itself.
    """
    cache = getattr(graph, "__networkx_cache__", None) or {}
    cache.get("backends", {}).pop("sepool", None)
    return function.orig_func


def info() -> dict[str, Any]:
    """Return the description of the backend, in the form of networkx."""
    return {
        "backend_name": "sepool",
        "project": "sepool",
        "package": "sepool",
        "short_summary": "Communities of least structural entropy.",
        "functions": {
            name: {"additional_docs": "The same as without a backend."}
            for name in ("structural_entropy_communities", "structural_entropy_partitions")
        },
    }
