"""Graphs for pictures and pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import sepool

# Debian's packages first, then Google's; without any, Playwright's own.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

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


@pytest.fixture(scope="session")
def novel() -> tuple[sepool.CodingTree, sepool.Graph]:
    """Tree and graph of Les Misérables: names, weights, three levels."""
    graph = sepool.as_graph(nx.les_miserables_graph())
    return sepool.coding_tree(graph, 3), graph


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium has no sandbox for root
    named = os.environ.get("SEPOOL_BROWSER") or os.environ.get("CHROME_BIN")
    path = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(
                executable_path=path, args=["--no-sandbox"] if root else []
            )
        except playwright.Error as error:
            pytest.skip(f"no browser: set SEPOOL_BROWSER or install Chromium ({error.message})")
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open the page of a tree; errors, warnings and requests of the page fail the test."""
    from sepool.viz.explore import write_explorer

    problems: list[str] = []
    pages: list[Any] = []

    def open_page(
        tree: sepool.CodingTree,
        graph: Any,
        title: str = "graph",
        size: tuple[int, int] = (1200, 800),
        scheme: str = "light",
        **options: Any,
    ) -> Any:
        path = tmp_path / "page.html"
        write_explorer(tree, graph, path, title=title, **options)
        page = browser.new_page(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            accept_downloads=True,
        )
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda line: problems.append(line.text) if line.type in ("error", "warning") else None,
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url == path.as_uri() or request.url.startswith(("blob:", "data:"))
                else problems.append(request.url)
            ),
        )
        page.goto(path.as_uri())
        # No wait_for_function: the page's policy forbids the eval in which it polls.
        page.evaluate("explorer.ready")
        page.evaluate("explorer.settled()")  # a late layout of the plot
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []
