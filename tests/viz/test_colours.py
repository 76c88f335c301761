"""Colours: differing neighbours, legible text."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.viz.coarse_graph import ancestors, coarse_edges
from sepool.viz.colours import (
    COARSER,
    PALETTE,
    checked_level,
    level_fills,
    oklab,
    palette_indices,
    text_on,
)


def _luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_palette_indices_of_adjacent_clusters_differ() -> None:
    graph = sepool.as_graph(nx.grid_2d_graph(12, 12))
    tree = sepool.coding_tree(graph, 2)
    edges = coarse_edges(tree, graph)[1]
    colour = palette_indices(tree.cluster_sizes(1), edges)
    assert (colour[edges.u] != colour[edges.v]).all()


def test_palette_for_the_colour_blind_differs() -> None:
    colours = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in PALETTE], float)
    # Red-green blindness as a rough matrix (Viénot 1999).
    blind = colours @ np.array([[0.29, 0.29, -0.02], [0.71, 0.71, 0.02], [0, 0, 1]])
    i, j = np.triu_indices(len(blind), 1)
    assert np.linalg.norm(blind[i] - blind[j], axis=1).min() > 25


@pytest.mark.parametrize("fill", [*PALETTE, COARSER, "#ffff00", "#808080", "#000000", "#ffffff"])
def test_text_on_every_fill_reaches_the_contrast_of_wcag(fill: str) -> None:
    text = {"white": 1.0, "black": 0.0}[text_on(fill)]
    low, high = sorted([text, _luminance(fill)])
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_checked_level_beyond_the_root_raises() -> None:
    tree = sepool.coding_tree(nx.karate_club_graph(), 3)
    assert checked_level(tree, None) == 1
    with pytest.raises(ValueError, match="level must be 1 to 3, got 4"):
        checked_level(tree, 4)


def test_ancestors_of_leaves_are_labels() -> None:
    tree = sepool.coding_tree(nx.karate_club_graph(), 4)
    np.testing.assert_array_equal(ancestors(tree, 0, 3), tree.labels(3))


def test_level_fills_are_shades_of_the_parents() -> None:
    graph = sepool.as_graph(nx.planted_partition_graph(12, 12, 0.7, 0.02, seed=1))
    tree = sepool.coding_tree(graph, 3)
    fills = level_fills(tree, coarse_edges(tree, graph), None)
    assert [len(fill) for fill in fills] == list(tree.counts[:-1])
    assert set(fills[2]) <= set(PALETTE)
    np.testing.assert_array_equal(fills[0], fills[1][tree.labels(1)])
    own = fills[2][tree.assignment(2)]
    distance = np.linalg.norm(oklab(fills[1])[:, None] - oklab(np.array(PALETTE)), axis=2)
    nearest = np.array(PALETTE)[distance.argmin(axis=1)]
    assert (nearest == own).mean() > 0.7
    coarse = level_fills(tree, coarse_edges(tree, graph), 2)
    np.testing.assert_array_equal(coarse[0], coarse[2][tree.labels(2)])


def test_level_fills_of_twelve_clusters_are_twelve_hues() -> None:
    graph = sepool.as_graph(nx.complete_graph(12))
    tree = sepool.CodingTree.from_levels(graph, list(range(12)))
    fills = level_fills(tree, coarse_edges(tree, graph), None)
    assert len(set(fills[1])) == 12


def test_level_fills_of_siblings_with_edges_differ() -> None:
    graph = sepool.as_graph(nx.ring_of_cliques(8, 4))
    cliques = np.arange(32) // 4
    tree = sepool.CodingTree.from_levels(graph, [cliques, cliques // 4])
    fills, edges = level_fills(tree, coarse_edges(tree, graph), None), coarse_edges(tree, graph)[1]
    assert (fills[1][edges.u] != fills[1][edges.v]).all()
