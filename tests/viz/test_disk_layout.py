"""Layout: disks inside their parents, disjoint siblings, determinism."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.viz.cells import group_isolates, split_large
from sepool.viz.coarse_graph import EdgeList, coarse_edges
from sepool.viz.disk_layout import layout
from sepool.viz.stress import pack


def test_layout_of_edge_cases_nests_disks(
    edge_case: tuple[sepool.CodingTree, sepool.Graph],
) -> None:
    tree, graph = edge_case
    disks = layout(tree, graph)
    assert [len(centre) for centre in disks.centre] == list(tree.counts)
    for level in range(tree.height):
        up = tree.assignment(level + 1)
        distance = np.abs(disks.centre[level] - disks.centre[level + 1][up])
        limit = disks.radius[level + 1][up] * 1.001
        assert (distance + disks.radius[level] <= limit + 1e-6).all()


def test_layout_of_siblings_separates_disks() -> None:
    graph = sepool.as_graph(nx.planted_partition_graph(6, 20, 0.4, 0.02, seed=2))
    tree = sepool.coding_tree(graph, 3)
    disks = layout(tree, graph)
    for level in range(tree.height):
        centre, radius = disks.centre[level], disks.radius[level]
        i, j = np.triu_indices(len(centre), 1)
        near = np.abs(centre[i] - centre[j]) < 0.97 * (radius[i] + radius[j])
        assert not near.any()


def test_layout_of_grid_brings_neighbours_together() -> None:
    graph = sepool.as_graph(nx.grid_2d_graph(20, 20))
    centre = layout(sepool.coding_tree(graph, 3), graph).centre[0]
    u, v, _ = graph.edges()
    shuffled = np.random.default_rng(0).permutation(v)
    assert np.abs(centre[u] - centre[v]).mean() < 0.6 * np.abs(centre[u] - centre[shuffled]).mean()


def test_split_large_of_path_cuts_it_into_stretches() -> None:
    path = np.arange(299)
    edges = EdgeList(path, path + 1, np.ones(299))
    parent = np.where(np.arange(300) < 290, 0, 1)
    cell = split_large(parent, edges, 64)
    assert cell is not None
    assert np.bincount(cell).max() <= 64
    assert len(np.unique(cell[parent == 1])) == 1
    assert all(len(np.unique(parent[cell == c])) == 1 for c in np.unique(cell))
    assert (cell[edges.u] != cell[edges.v]).sum() < 20


def test_pack_of_pair_separates_and_encloses_it() -> None:
    edges = EdgeList(np.array([0]), np.array([1]), np.ones(1))
    offset, extent = pack(np.array([0, 0]), np.array([1.0, 2.0]), edges)
    assert abs(offset[0] - offset[1]) >= 3
    assert (np.abs(offset) + np.array([1, 2]) <= extent[0] + 1e-9).all()


def test_coarse_edges_of_a_level_sum_to_its_boundaries() -> None:
    graph = sepool.as_graph(nx.les_miserables_graph())
    tree = sepool.coding_tree(graph, 4)
    for level, (u, v, weight) in enumerate(coarse_edges(tree, graph)):
        count = tree.num_clusters(level)
        np.testing.assert_allclose(
            np.bincount(u, weight, count) + np.bincount(v, weight, count), tree.boundaries(level)
        )


def test_viz_layout_after_import_of_plots_is_the_function() -> None:
    import sepool.viz

    assert sepool.viz.plot_levels is not None  # imports the module of the layout
    assert callable(sepool.viz.layout)


def test_layout_of_leaves_has_areas_by_degree() -> None:
    graph = sepool.as_graph(nx.star_graph(8))
    radius = layout(sepool.coding_tree(graph, 2), graph).radius[0]
    assert radius[0] == pytest.approx(np.sqrt(8 / (16 / 9)))
    assert (radius[1:] < 1).all()
    assert radius.min() >= 0.7


def test_layout_of_isolates_packs_them_apart() -> None:
    graph = sepool.as_graph(np.array(list(nx.complete_graph(12).edges())), num_nodes=40)
    tree = sepool.coding_tree(graph, 1)
    centre, radius = (parts[0] for parts in vars(layout(tree, graph)).values())
    group, others = slice(12, 40), slice(0, 12)
    middle = centre[group].mean()
    extent = (np.abs(centre[group] - middle) + radius[group]).max()
    assert (np.abs(centre[others] - middle) - radius[others] > 0.9 * extent).all()


def test_group_isolates_without_company_has_no_cells() -> None:
    edges = EdgeList(np.array([0]), np.array([1]), np.ones(1))
    assert group_isolates(np.zeros(3, np.int64), edges) is None
    assert group_isolates(np.array([0, 0, 1, 1]), edges) is None
