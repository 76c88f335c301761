"""Large graphs in the browser: what is drawn at the start, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sepool

pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")

pytestmark = pytest.mark.heavy

Show = Callable[..., Any]
Edges = Callable[[int, int], Any]
ATTEMPTS = 3  # the machine may be busy
# Expand the largest cluster among the highest marks, and return the duration until it is painted.
EXPAND = """async () => {
  const { model, drawing } = explorer;
  const marks = drawing.marks.filter((id) => !model.isSingle(id));
  marks.sort((a, b) => model.level[a] - model.level[b] || model.size[b] - model.size[a]);
  await explorer.timed(() => model.expand(marks[0]));
  return performance.getEntriesByName("changed").at(-1).duration;
}"""


def _first_paint(page: Any) -> float:
    return float(page.evaluate("performance.getEntriesByName('drawn')[0].startTime"))


def _reload(page: Any) -> None:
    page.reload()
    page.evaluate("explorer.ready")
    page.evaluate("explorer.settled()")


def test_page_of_5000_nodes_draws_within_2_seconds(show: Show, nested_edges: Edges) -> None:
    graph = sepool.as_graph(nested_edges(5000, 20000), num_nodes=5000)
    page = show(sepool.coding_tree(graph, 4), graph)
    assert page.inner_text("#status") == (
        "5,000 visible nodes, 10,000 of 20,000 edges, the heaviest"
    )
    durations = [_first_paint(page)]
    while durations[-1] > 2000 and len(durations) < ATTEMPTS:
        _reload(page)
        durations.append(_first_paint(page))
    assert min(durations) < 2000


def test_page_of_50000_nodes_starts_on_the_highest_level(show: Show, nested_edges: Edges) -> None:
    graph = sepool.as_graph(nested_edges(50000, 200000), num_nodes=50000)
    tree = sepool.coding_tree(graph, 4, method="fast")
    page = show(tree, graph)
    assert page.input_value("#show") == str(tree.top)
    assert page.evaluate("explorer.drawing.marks.length") == tree.num_clusters(tree.top)
    assert page.evaluate("explorer.model.lowest") == tree.top  # lower levels are not decoded
    assert page.locator("#outline [role=treeitem]").count() < 100
    page.fill("#query", "19999")
    page.keyboard.press("Enter")
    assert page.inner_text("#details h2") == "19999"
    page.select_option("#show", "0")
    page.click("#fit")
    page.evaluate("explorer.settled()")
    assert page.inner_text("#status").endswith("the heaviest")
    assert page.evaluate("explorer.drawing.sources.links.data.x0.length") == 10000
    assert page.evaluate("explorer.drawing.sources.marks.data.x.length") <= 10000
    assert page.inner_text("#status").startswith("10,000 of 50,000 visible nodes")


def test_page_of_a_million_edges_draws_in_3_seconds_and_expands_in_half_a_second(
    show: Show, nested_edges: Edges
) -> None:
    graph = sepool.as_graph(nested_edges(100_000, 1_000_000), num_nodes=100_000)
    tree = sepool.coding_tree(graph, 4, method="fast")
    page = show(tree, graph)
    paints, expansions = [], []
    for attempt in range(ATTEMPTS):
        if attempt:
            _reload(page)
        paints.append(_first_paint(page))
        expansions.append(max(page.evaluate(EXPAND) for _ in range(tree.top)))  # down to the nodes
        assert page.evaluate("explorer.model.lowest") == 0
        if min(paints) <= 3000 and min(expansions) <= 500:
            break
    assert min(paints) <= 3000
    assert min(expansions) <= 500
