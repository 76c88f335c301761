"""Graphs for pictures and pages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sepool

# Names that a page must show as plain text.
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    "\"><b>'bold'</b> & &lt; `${window.hacked = 3}`",
    "long" * 2500,
    "\u202eright to left\u202c שלום مرحبا",
    "\u2028line\u2029ends\\u003c {{data}} $x^2$ =1+1",
    'a,"b",c',
    "\U0001d4a2raph \U0001f578\ufe0f \x07\x00?",
    "__proto__",
)


@pytest.fixture(scope="session")
def hostile_graph() -> sepool.Graph:
    """A ring of nodes with hostile names, and chords that form clusters."""
    n = len(HOSTILE)
    edges = [(i, (i + 1) % n) for i in range(n)] + [(0, 2), (3, 5), (6, 8)]
    plain = sepool.as_graph(edges)
    return sepool.Graph(plain.indptr, plain.indices, names=HOSTILE)


@pytest.fixture(scope="session")
def nested_edges() -> Callable[[int, int], np.ndarray]:
    """Edges of a random graph with clusters of 25 nodes in clusters of 500."""

    def edges(num_nodes: int, num_edges: int) -> np.ndarray:
        rng = np.random.default_rng(0)
        draws = 3 * num_edges
        u, share = rng.integers(0, num_nodes, draws), rng.random(draws)
        far = u // 500 * 500 + rng.integers(0, 500, draws)
        near = u // 25 * 25 + rng.integers(0, 25, draws)
        v = np.select([share < 0.7, share < 0.95], [near, far], rng.integers(0, num_nodes, draws))
        pairs = np.sort(np.column_stack([u, v]), axis=1)
        pairs = np.unique(pairs[(u != v) & (v < num_nodes)], axis=0)
        return pairs[rng.permutation(len(pairs))[:num_edges]]

    return edges


def _edge_cases() -> dict[str, tuple[sepool.Graph, int]]:
    def graph(edges: object, num_nodes: int) -> sepool.Graph:
        return sepool.as_graph(edges, num_nodes=num_nodes)

    none = np.empty((0, 2), np.int64)
    ring = np.column_stack([np.arange(60), (np.arange(60) + 1) % 60])
    star = np.column_stack([np.zeros(400, np.int64), np.arange(1, 401)])
    weighted = (np.array([(0, 1), (1, 2), (3, 4), (2, 3)]), np.array([1e-3, 5.5, 1e6, 2.0]))
    return {
        "one node": (graph(none, 1), 1),
        "one node, high": (graph(none, 1), 5),
        "no edges": (graph(none, 30), 2),
        "isolated nodes": (graph([(0, 1), (1, 2), (0, 2)], 40), 3),
        "four pieces": (graph([(0, 1), (2, 3), (4, 5), (6, 7)], 8), 2),
        "height 1": (graph(ring, 60), 1),
        "height 5": (graph(ring, 60), 5),
        "star": (graph(star, 401), 2),
        "star, flat": (graph(star, 401), 1),
        "weighted": (sepool.as_graph(weighted), 3),
    }


@pytest.fixture(params=_edge_cases().items(), ids=lambda item: item[0])
def edge_case(request: pytest.FixtureRequest) -> tuple[sepool.CodingTree, sepool.Graph]:
    """A tree and its graph, degenerate or extreme."""
    graph, height = request.param[1]
    return sepool.coding_tree(graph, height), graph
