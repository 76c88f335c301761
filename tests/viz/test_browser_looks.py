"""Names, colours, legend, significance, themes and accessibility of the page in Chromium."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

import sepool

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")

pytestmark = pytest.mark.heavy

Show = Callable[..., Any]


def _brightness(page: Any) -> float:
    image = pytest.importorskip("PIL.Image")
    return float(np.asarray(image.open(io.BytesIO(page.screenshot())).convert("RGB")).mean())


def test_cluster_names_are_members_of_largest_degree(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    page.select_option("#show", "2")
    names = page.locator("#outline [role=treeitem] .name").all_inner_texts()
    assert names[1:] == tree.cluster_names(2)
    labels = page.evaluate("explorer.drawing.sources.labels.data.text.join(' ')")
    assert "Valjean" in labels
    assert "Cluster" not in page.inner_text("main")


def test_chain_of_only_children_is_one_row(show: Show) -> None:
    graph = sepool.as_graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    labels = [0, 0, 0, 1, 1, 1]
    tree = sepool.CodingTree.from_levels(graph, [labels, labels, [0] * 6])
    page = show(tree, graph)
    levels = page.locator("#outline [role=treeitem]").evaluate_all(
        "rows => rows.map((row) => row.getAttribute('aria-level'))"
    )
    assert levels == ["1", *["2", "3", "3", "3"] * 2]
    assert page.evaluate("explorer.drawing.sources.disks.data.x.length") == 2
    page.locator("#outline [role=treeitem]").nth(1).click()
    assert page.locator("#outline [role=treeitem]").count() == 6
    assert page.inner_text("#details h2") == "2, 0, 1"
    assert page.inner_text("#status").startswith("4 visible nodes")
    page.locator("#outline [role=treeitem]").nth(1).click()
    assert page.locator("#outline [role=treeitem]").count() == 9


def test_labels_of_nodes_colour_them_with_a_legend(show: Show) -> None:
    graph = nx.karate_club_graph()
    page = show(sepool.coding_tree(graph, 3), graph, colour_by="club")
    assert page.input_value("#colour") == "class"
    assert page.locator("#legend li").all_inner_texts() == ["Mr. Hi\n17", "Officer\n17"]
    fills = page.evaluate("explorer.drawing.sources.marks.data.fill")
    clubs = [graph.nodes[node]["club"] for node in graph]
    shown = page.evaluate("explorer.drawing.marks")
    colours = {fill: clubs[node] for fill, node in zip(fills, shown, strict=True)}
    assert sorted(colours.values()) == ["Mr. Hi", "Officer"]
    page.select_option("#colour", "1")
    assert page.is_hidden("#legend")
    assert len(set(page.evaluate("explorer.drawing.sources.marks.data.fill"))) > 2


def test_significance_is_shown_beside_the_bits(show: Show) -> None:
    graph = sepool.as_graph(nx.ring_of_cliques(6, 8))
    tree = sepool.coding_tree(graph, 2)
    page = show(tree, graph, significance=tree.significance(graph, trials=5))
    details = page.inner_text("#details")
    assert "Beyond chance" in details
    assert "Significant\nyes" in details
    assert page.locator("#outline .verdict").first.inner_text() == "✓"
    label = page.get_by_role("treeitem").first.get_attribute("aria-label")
    assert label is not None
    assert "significant" in label


def test_theme_follows_the_system_and_the_button(show: Show, novel: Any) -> None:
    page = show(*novel, scheme="dark")
    dark = _brightness(page)
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.emulate_media(color_scheme="light")
    playwright.expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.evaluate("explorer.settled()")
    light = _brightness(page)
    assert dark < 90 < 200 < light
    page.click("#theme")
    page.evaluate("explorer.settled()")
    assert _brightness(page) == pytest.approx(dark, abs=3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (400, 800)])
def test_page_has_no_serious_fault_of_accessibility(
    show: Show, scheme: str, size: tuple[int, int]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    graph = nx.karate_club_graph()
    page = show(sepool.coding_tree(graph, 3), graph, colour_by="club", scheme=scheme, size=size)
    page.fill("#query", "1")
    page.locator("#outline [role=treeitem]").nth(1).click()
    faults = axe.Axe().run(page).response["violations"]
    assert [fault for fault in faults if fault["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
