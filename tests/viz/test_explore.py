"""The page as text: valid HTML, no external resources, escaped names, determinism."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.viz.explore import _escape_script, explorer_page

Pair = tuple[sepool.CodingTree, sepool.Graph]


class _Page(HTMLParser):
    """Elements, their attributes and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.blocks: dict[str, str] = {}
        self.inside = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag not in ("meta", "input"):
            self.open.append(tag)
        self.block = dict(attrs).get("id") if tag == "script" else None
        if tag == "script" and (self.block or "").startswith("data-"):
            self.blocks[self.block or ""] = ""
        elif tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script" and (self.block or "").startswith("data-"):
            self.blocks[self.block or ""] += data
        elif self.inside == "script":
            self.scripts[-1] += data

    @property
    def data(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.scripts[0])
        return result

    def array(self, name: str, dtype: str) -> np.ndarray:
        return np.frombuffer(base64.b64decode(self.blocks[f"data-{name}"]), dtype)


def test_explorer_page_has_no_external_resources() -> None:
    graph = nx.karate_club_graph()
    text = explorer_page(sepool.coding_tree(graph, 3), graph)
    page = _Page(text)
    assert page.open == []
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert sum("type" not in attributes for attributes in scripts) == 2
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
        assert not {"src", "href", "action", "data", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "sourceMappingURL" not in text
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_explorer_page_policy_allows_its_scripts_only() -> None:
    page = _Page(explorer_page(sepool.coding_tree([(0, 1)]), [(0, 1)]))
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy
    for script in page.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_explorer_page_contains_the_licence_of_bokeh() -> None:
    text = explorer_page(sepool.coding_tree([(0, 1)]), [(0, 1)])
    assert "Copyright (c) Anaconda, Inc., and Bokeh Contributors" in text
    assert "Redistributions in binary form must reproduce" in text


def test_explorer_page_with_hostile_names_keeps_them_as_data(hostile_graph: sepool.Graph) -> None:
    tree = sepool.coding_tree(hostile_graph, height=2)
    names = hostile_graph.names
    assert names is not None
    page = _Page(explorer_page(tree, hostile_graph, title=names[1]))
    plain = _Page(explorer_page(sepool.coding_tree([(0, 1)]), [(0, 1)]))
    assert json.loads(page.blocks["data-names-0"]) == list(names)
    assert page.data["title"] == names[1]
    assert page.scripts[1:] == plain.scripts[1:]
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in plain.tags}
    for text in (page.scripts[0], *page.blocks.values()):
        assert re.search(r"[<>&\u2028\u2029]|[^\x00-\x7f]", text) is None


def test_explorer_page_of_edge_cases_has_their_sizes(edge_case: Pair) -> None:
    tree, graph = edge_case
    page = _Page(explorer_page(tree, graph))
    assert page.data["counts"] == list(tree.counts)
    assert len(page.array("end-0", "<u4")) == graph.num_edges
    for level in range(tree.height + 1):
        assert len(page.array(f"x-{level}", "<f4")) == tree.num_clusters(level)
        np.testing.assert_array_equal(page.array(f"volume-{level}", "<f8"), tree.volumes(level))
    assert page.array(f"below-{tree.height}", "<f8")[0] == pytest.approx(tree.entropy)


def test_explorer_page_repeated_is_equal() -> None:
    graph = nx.les_miserables_graph()
    pages = [explorer_page(sepool.coding_tree(graph, 3), graph) for _ in range(2)]
    assert pages[0] == pages[1]


def test_explorer_page_of_5000_nodes_is_below_5_megabytes(nested_edges: Callable[..., Any]) -> None:
    edges = nested_edges(5000, 20000)
    assert len(edges) == 20000
    names = tuple(f"node number {i}" for i in range(5000))
    plain = sepool.as_graph(edges, num_nodes=5000)
    graph = sepool.Graph(plain.indptr, plain.indices, names=names)
    assert len(explorer_page(sepool.coding_tree(graph, 4), graph).encode()) < 5e6


def test_escape_script_with_end_tags_escapes_them() -> None:
    text = _escape_script("a = '</script>' + '</SCRIPT' + '<!--' + '</b>'")
    assert text == r"a = '\x3c/script>' + '\x3c/SCRIPT' + '\x3c!--' + '</b>'"
