"""The page in Chromium, driven by Playwright."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sepool

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")

pytestmark = pytest.mark.heavy

Show = Callable[..., Any]


def _marks(page: Any) -> int:
    return int(page.inner_text("#status").split()[0].replace(",", ""))


def _expect_marks(page: Any, number: int) -> None:
    """Wait for a number of visible nodes."""
    playwright.expect(page.locator("#status")).to_have_text(re.compile(rf"^{number} visible node"))


def _click(page: Any, level: int, index: int, times: int = 1) -> None:
    x, y = page.evaluate(f"explorer.screen({level}, {index})")
    page.mouse.click(x, y, click_count=times)


def _choose(page: Any, level: int) -> None:
    page.select_option("#show", str(level))
    page.evaluate("explorer.settled()")


def test_page_of_novel_shows_all_nodes(show: Show, novel: Any) -> None:
    page = show(*novel, title="a novel")
    assert page.title() == "a novel"
    assert page.inner_text("#status") == "77 visible nodes, 254 edges"
    assert page.locator("#outline [role=treeitem]").count() > 10
    assert page.locator("#graph canvas").count() > 0
    # A drawn canvas has more than a few colours.
    picture = _pixels(page.locator("#graph").screenshot())
    assert len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 50


def test_labels_cover_neither_nodes_nor_each_other(show: Show, novel: Any) -> None:
    page = show(*novel)
    for level in (0, 1):
        _choose(page, level)
        labels, marks = page.evaluate(
            "[explorer.drawing.labels.map(({ id, box }) => [id, ...box]),"
            " explorer.drawing.marks.map((id) => explorer.drawing.view.disk(id))]"
        )
        assert len(labels) > 0.5 * len(marks)
        for i, (node, *box) in enumerate(labels):
            left, bottom, right, top = box
            for _, *other in labels[:i]:
                assert (
                    left >= other[2] or other[0] >= right or bottom >= other[3] or other[1] >= top
                )
            for mark in marks:
                x, y = np.clip(mark["x"], left, right), np.clip(mark["y"], bottom, top)
                outside = np.hypot(mark["x"] - x, mark["y"] - y) >= mark["r"] - 1e-6
                assert outside or mark["id"] == node


def test_click_expands_cluster_and_button_collapses_it(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    _choose(page, 2)
    assert _marks(page) == tree.num_clusters(2)
    children = int((tree.assignment(2) == 1).sum())
    _click(page, 2, 1)
    _expect_marks(page, tree.num_clusters(2) - 1 + children)
    row = page.locator(f"#row-{sum(tree.counts[:2]) + 1}")
    assert row.get_attribute("aria-expanded") == "true"
    assert row.get_attribute("aria-selected") == "true"
    assert page.input_value("#show") == "-1"
    page.get_by_role("button", name="Collapse").click()
    assert _marks(page) == tree.num_clusters(2)
    assert row.get_attribute("aria-expanded") == "false"


def test_double_click_on_node_collapses_its_cluster(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    cluster = int(np.argmax(np.bincount(tree.assignment(1))))
    x, y = page.evaluate(f"explorer.screen(0, {int(tree.members(1, cluster)[0])})")
    page.mouse.dblclick(x, y)
    size = int(tree.cluster_sizes(1)[cluster])
    _expect_marks(page, 77 - size + 1)


def test_hover_highlights_graph_and_outline(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    _choose(page, 2)
    page.mouse.move(*page.evaluate("explorer.screen(2, 0)"))
    page.wait_for_selector("#outline .hover")
    first = page.locator("#outline .hover").get_attribute("id")
    assert page.inner_text("#tip .name") == tree.cluster_names(2)[0]
    page.hover("#outline [role=treeitem] >> nth=3")
    playwright.expect(page.locator("#outline .hover")).not_to_have_id(first)
    assert page.evaluate("explorer.drawing.sources.rings.data.x.length") == 1
    assert page.is_hidden("#tip")


def test_click_in_outline_toggles_cluster(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    _choose(page, 2)
    rows = page.locator("#outline [role=treeitem]")
    assert rows.count() == 1 + tree.num_clusters(2)
    rows.nth(1).click()
    assert rows.count() == 1 + tree.num_clusters(2) + int((tree.assignment(2) == 0).sum())
    rows.nth(1).click()
    assert rows.count() == 1 + tree.num_clusters(2)


def test_search_by_name_selects_node(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    _choose(page, 2)
    page.keyboard.press("/")
    page.keyboard.type("VALJ")
    page.evaluate("explorer.drawing.updateView()")  # as after a late layout of the plot
    assert page.inner_text("#message") == "1 node found"
    assert page.inner_text("#results li") == "Valjean"
    page.keyboard.press("Enter")
    assert page.inner_text("#details h2") == "Valjean"
    assert page.is_hidden("#results")
    assert tree.names is not None
    index = tree.names.index("Valjean")
    assert page.locator(f"#row-{index}").get_attribute("aria-selected") == "true"
    assert float(page.inner_text("#details dd >> nth=1")) == tree.volumes(0)[index]
    page.evaluate("explorer.settled()")
    page.fill("#query", "nobody of this name")
    assert page.inner_text("#message") == "0 nodes found"


def test_details_of_cluster_match_the_tree(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    _choose(page, 2)
    page.locator("#outline [role=treeitem]").nth(1).click()
    terms, texts = (page.locator(f"#details {tag}").all_inner_texts() for tag in ("dt", "dd"))
    details = dict(zip(terms, texts, strict=True))
    inside = tree.assignment(2) == 0
    below = tree.contributions(1)[inside].sum() + tree.contributions(0)[tree.labels(2) == 0].sum()
    assert details["Nodes"] == str(tree.cluster_sizes(2)[0])
    assert details["Entropy contribution"] == f"{tree.contributions(2)[0]:.4f} bits"
    assert details["Entropy below"] == f"{below:.4f} bits"
    assert page.evaluate("explorer.model.below[explorer.model.root]") == pytest.approx(tree.entropy)


def test_keyboard_controls_outline_and_graph(show: Show, novel: Any) -> None:
    tree, _ = novel
    page = show(*novel)
    _choose(page, 2)
    page.focus("#outline")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    first = f"row-{sum(tree.counts[:2])}"
    assert page.get_attribute("#outline", "aria-activedescendant") == first
    page.keyboard.press("ArrowRight")
    assert page.locator(f"#{first}").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#outline", "aria-activedescendant") != first
    page.keyboard.press("Enter")
    inside = int(np.flatnonzero(tree.assignment(2) == 0)[0])
    assert page.inner_text("#details h2") == tree.cluster_names(1)[inside]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator(f"#{first}").get_attribute("aria-expanded") == "false"
    page.focus("#graph")
    before = page.evaluate("explorer.drawing.view.scale")
    page.keyboard.press("+")
    assert page.evaluate("explorer.drawing.view.scale") > before
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    assert page.inner_text("#details h2") == "All 77 nodes"


def test_page_has_roles_and_names_for_screen_readers(show: Show, novel: Any) -> None:
    page = show(*novel)
    assert page.get_by_role("tree", name="Clusters and nodes").count() == 1
    assert page.get_by_role("application", name="Graph of 77 nodes and 254 edges").count() == 1
    assert page.get_by_role("combobox", name="Search").count() == 1
    assert page.get_by_role("status").count() == 2  # counts, messages
    item = page.get_by_role("treeitem").nth(1)
    assert item.get_attribute("aria-level") == "2"
    assert "nodes, " in (item.get_attribute("aria-label") or "")
    controls = "[...document.querySelectorAll('button, select, input')]"
    assert page.evaluate(f"{controls}.every(e => e.labels?.length || e.textContent)")


def _download(page: Any, button: str) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        page.click(button)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def _pixels(data: bytes) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_saved_labels_match_the_tree(show: Show, novel: Any) -> None:
    tree, _ = novel
    name, data = _download(show(*novel, title="les mis"), "#csv")
    rows = list(csv.reader(io.StringIO(data.decode())))
    assert name == "les_mis.csv"
    assert rows[0] == ["node", "level_1", "level_2"]
    assert tuple(row[0] for row in rows[1:]) == tree.names
    for level in (1, 2):
        assert [int(row[level]) for row in rows[1:]] == tree.labels(level).tolist()


def test_saved_picture_matches_the_screen(show: Show, novel: Any) -> None:
    page = show(*novel)
    _choose(page, 1)
    page.evaluate("explorer.settled()")
    name, data = _download(page, "#png")
    page.evaluate("explorer.settled()")
    saved, screen = _pixels(data), _pixels(page.locator("#graph").screenshot())
    assert name == "graph.png"
    high, wide = np.minimum(saved.shape, screen.shape)[:2]
    assert np.abs(np.subtract(saved.shape, screen.shape)).max() <= 3  # fractions of a pixel
    assert np.abs(saved[:high, :wide] - screen[:high, :wide]).mean() < 5


def test_hostile_names_are_shown_as_text(show: Show, hostile_graph: sepool.Graph) -> None:
    tree = sepool.coding_tree(hostile_graph, height=2)
    names = hostile_graph.names
    assert names is not None
    page = show(tree, hostile_graph, title=names[0])
    assert page.title() == names[0]
    assert page.inner_text("h1") == names[0]
    shown = page.locator("#outline [role=treeitem] .name").all_text_contents()
    assert names[0] in shown
    assert names[2] in shown
    assert max(map(len, shown)) <= 200
    for name in names[:3]:
        page.fill("#query", name)
        assert page.locator("#results li").count() == 1
        page.keyboard.press("Enter")
        assert page.text_content("#details h2") == name
    _, data = _download(page, "#csv")
    rows = list(csv.reader(io.StringIO(data.decode().replace("\x00", "0"))))
    assert [row[0] for row in rows[1:]] == [name.replace("\x00", "0") for name in names]
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, b, #outline script, #details script").count() == 0


def test_page_of_edge_cases_shows_every_level(
    show: Show, edge_case: tuple[sepool.CodingTree, sepool.Graph]
) -> None:
    tree, graph = edge_case
    page = show(tree, graph)
    assert _marks(page) == graph.num_nodes
    for level in range(tree.height):
        _choose(page, level)
        assert _marks(page) == tree.num_clusters(level)
