"""Places: every disk in its parent's, siblings apart, the same every time."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.viz.coarse import Links, links_of
from sepool.viz.places import layout
from sepool.viz.split import split_crowds
from sepool.viz.stress import pack


def test_every_disk_lies_in_its_parents_disk(odd: tuple[sepool.CodingTree, sepool.Graph]) -> None:
    tree, graph = odd
    places = layout(tree, graph)
    assert [len(centre) for centre in places.centre] == list(tree.counts)
    for level in range(tree.height):
        up = tree.assignment(level + 1)
        away = np.abs(places.centre[level] - places.centre[level + 1][up])
        room = places.radius[level + 1][up] * 1.001
        assert (away + places.radius[level] <= room + 1e-6).all()


def test_siblings_do_not_overlap() -> None:
    graph = sepool.as_graph(nx.planted_partition_graph(6, 20, 0.4, 0.02, seed=2))
    tree = sepool.coding_tree(graph, 3)
    places = layout(tree, graph)
    for level in range(tree.height):
        centre, radius = places.centre[level], places.radius[level]
        i, j = np.triu_indices(len(centre), 1)
        near = np.abs(centre[i] - centre[j]) < 0.97 * (radius[i] + radius[j])
        assert not near.any()


def test_same_input_gives_same_places() -> None:
    graph = sepool.as_graph(nx.karate_club_graph())
    tree = sepool.coding_tree(graph, 4)
    one, other = layout(tree, graph), layout(tree, graph)
    for a, b in zip(one.centre, other.centre, strict=True):
        np.testing.assert_array_equal(a, b)


def test_neighbours_end_up_near_each_other() -> None:
    graph = sepool.as_graph(nx.grid_2d_graph(20, 20))
    centre = layout(sepool.coding_tree(graph, 3), graph).centre[0]
    u, v, _ = graph.edges()
    others = np.random.default_rng(0).permutation(v)
    assert np.abs(centre[u] - centre[v]).mean() < 0.6 * np.abs(centre[u] - centre[others]).mean()


def test_crowds_are_split_and_others_are_not() -> None:
    path = np.arange(299)
    links = Links(path, path + 1, np.ones(299))
    parent = np.where(np.arange(300) < 290, 0, 1)
    cell = split_crowds(parent, links, 64)
    assert cell is not None
    assert np.bincount(cell).max() <= 64
    assert len(np.unique(cell[parent == 1])) == 1
    assert all(len(np.unique(parent[cell == c])) == 1 for c in np.unique(cell))
    # Cells of a path are stretches of it: few edges lie between them.
    assert (cell[links.u] != cell[links.v]).sum() < 20


def test_pack_places_a_pair_side_by_side() -> None:
    links = Links(np.array([0]), np.array([1]), np.ones(1))
    place, reach = pack(np.array([0, 0]), np.array([1.0, 2.0]), links)
    assert abs(place[0] - place[1]) >= 3
    assert (np.abs(place) + np.array([1, 2]) <= reach[0] + 1e-9).all()


def test_links_of_every_level_add_up_to_its_boundaries() -> None:
    graph = sepool.as_graph(nx.les_miserables_graph())
    tree = sepool.coding_tree(graph, 4)
    for level, (u, v, w) in enumerate(links_of(tree, graph)):
        count = tree.num_clusters(level)
        np.testing.assert_allclose(
            np.bincount(u, w, count) + np.bincount(v, w, count), tree.boundaries(level)
        )


def test_tree_of_another_graph_is_refused() -> None:
    tree = sepool.coding_tree([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="the tree has 3 leaves, but the graph has 2 nodes"):
        layout(tree, sepool.as_graph([(0, 1)]))


def test_tree_of_nodes_with_other_names_is_refused(tmp_path) -> None:
    for name, text in (("one.txt", "a b\nb c\n"), ("two.txt", "a b\nb d\n")):
        (tmp_path / name).write_text(text)
    tree = sepool.coding_tree(tmp_path / "one.txt")
    with pytest.raises(ValueError, match="where it has the node 'c', the graph has 'd'"):
        layout(tree, sepool.as_graph(tmp_path / "two.txt"))


def test_the_function_keeps_its_name_when_pictures_were_drawn():
    import sepool.viz

    assert sepool.viz.plot_levels is not None  # imports what places nodes
    assert callable(sepool.viz.layout)
