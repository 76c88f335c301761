"""Arrays of the page, against the tree and its significance."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import networkx as nx
import numpy as np

import sepool
from sepool.viz.coarse_graph import coarse_edges
from sepool.viz.page.blocks import Blocks
from sepool.viz.page.data import PageContent


def _blocks(content: PageContent) -> dict[str, str]:
    return dict(re.findall(r'id="data-([^"]+)">([^<]*)</script>', str(content.blocks())))


def _array(blocks: dict[str, str], name: str, dtype: str) -> Any:
    return np.frombuffer(base64.b64decode(blocks[name]), dtype)


def test_blocks_have_the_edges_of_every_level() -> None:
    graph = sepool.as_graph(nx.les_miserables_graph())
    tree = sepool.coding_tree(graph, 3)
    blocks = _blocks(PageContent(tree, graph, "novel"))
    for level, (u, v, weight) in enumerate(coarse_edges(tree, graph)):
        rows = _array(blocks, f"row-{level}", "<u4")
        ends = _array(blocks, f"end-{level}", "<u4")
        weights = _array(blocks, f"weight-{level}", "<f4")
        lower = np.repeat(np.arange(tree.num_clusters(level)), rows)
        assert set(zip(lower, ends, weights, strict=True)) == set(zip(u, v, weight, strict=True))


def test_blocks_have_the_names_of_clusters() -> None:
    graph = sepool.as_graph(nx.les_miserables_graph())
    tree = sepool.coding_tree(graph, 3)
    blocks = _blocks(PageContent(tree, graph, "novel"))
    for level in (1, 2):
        assert json.loads(blocks[f"names-{level}"]) == tree.cluster_names(level)


def test_chain_of_only_children_has_the_significance_of_its_end() -> None:
    graph = sepool.as_graph(nx.ring_of_cliques(6, 9))
    cliques = np.arange(54) // 9
    tree = sepool.CodingTree.from_levels(graph, [cliques, np.zeros(54, int)])
    significance = tree.significance(graph)
    (row,) = np.flatnonzero(significance.significant)
    assert significance.level[row] == 2
    blocks = _blocks(PageContent(tree, graph, "ring", significance=significance))
    excess = significance.bits[row] - significance.chance[row]
    for level in (2, 3):
        assert _array(blocks, f"verdict-{level}", "u1").tolist() == [2]
        np.testing.assert_allclose(_array(blocks, f"excess-{level}", "<f4"), excess, rtol=1e-6)
    assert not _array(blocks, "verdict-1", "u1").any()


def test_blocks_of_other_byte_orders_are_little_endian() -> None:
    blocks = Blocks()
    blocks.add("x", np.array([1], ">i4"), "i4")
    assert str(blocks) == '<script type="text/plain" id="data-x">AQAAAA==</script>'
