from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from html import escape

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree

SVG = "{http://www.w3.org/2000/svg}"


def elements(tree: CodingTree) -> list[ET.Element]:
    """Return the elements; the page is also well-formed XML."""
    return list(ET.fromstring(tree._repr_html_()).iter())


def texts(tree: CodingTree) -> list[str]:
    return ["".join(x.itertext()) for x in elements(tree) if x.tag in (f"{SVG}text", "td", "th")]


def test_html_shows_all_nodes_of_a_small_graph():
    tree = sepool.coding_tree(nx.karate_club_graph(), height=3)
    shown = texts(tree)
    assert set(map(str, range(34))) <= set(shown)
    assert [f"level {i}" for i in range(4)] == [text for text in shown if text[:6] == "level "]
    paths = [x for x in elements(tree) if x.tag == f"{SVG}path"]
    assert len(paths) == sum(tree.counts[1:])


def test_html_shows_clusters_of_the_finest_level_that_fits():
    tree = sepool.coding_tree(nx.les_miserables_graph(), height=3)
    bars = [x for x in elements(tree) if x.tag == f"{SVG}rect"]
    assert len(bars) == tree.num_clusters(1)
    assert "Valjean, Javert, Woman2 (9)" in texts(tree)


@pytest.mark.parametrize("height", [1, 2, 3, 64])
def test_html_of_a_large_tree_has_few_elements(height):
    graph = nx.planted_partition_graph(60, 20, 0.5, 0.004, seed=1)
    tree = sepool.coding_tree(graph, height=height, method="fast")
    picture = [x for x in elements(tree) if x.tag.startswith(SVG)]
    assert len(picture) < 350


def test_html_of_many_clusters_shows_the_largest():
    sizes = np.arange(1, 101)
    labels = np.repeat(np.arange(100), sizes)
    graph = sepool.as_graph([(0, 1)], num_nodes=len(labels))
    shown = texts(CodingTree.from_levels(graph, labels))
    assert any(text.endswith("(100)") for text in shown)
    assert not any(text.endswith("(40)") for text in shown)
    assert "and 65 other clusters" in shown


def test_html_escapes_names_and_loads_nothing():
    name = "<script>alert(1)</script> & \"x\" 'y'"
    tree = CodingTree.from_levels(nx.Graph([("a", name), (name, "c")]), [0, 0, 1])
    html = tree._repr_html_()
    assert "<script" not in html
    assert escape("<script>") in html
    assert not [word for word in ("href", "src=", "url(", "@import") if word in html]
    assert "currentColor" in html


def test_html_of_names_with_control_characters():
    tree = CodingTree.from_levels(nx.Graph([("a", "b\0\n\x1b")]), [0, 1])
    assert "\0" not in tree._repr_html_()


def test_html_of_one_node_and_of_a_loaded_tree(tmp_path, bridge):
    assert "1 node" in sepool.coding_tree([(0, 0)], height=1)._repr_html_()
    tree = replace(sepool.coding_tree(bridge, height=2), graph=None)
    assert "6 nodes, height 2" in tree._repr_html_()
