"""Trees of graphs that change."""

import networkx as nx
import numpy as np
import pytest

import sepool

GRAPH = nx.planted_partition_graph(8, 25, 0.5, 0.01, seed=1)


def test_update_of_an_unchanged_graph_is_the_tree():
    tree = sepool.coding_tree(GRAPH, height=2)
    assert sepool.update(tree, GRAPH) == tree


@pytest.mark.parametrize("height", [2, 3])
def test_update_after_some_edges_is_close_to_a_new_tree(height):
    tree = sepool.coding_tree(GRAPH, height)
    rng = np.random.default_rng(2)
    later = GRAPH.copy()
    edges = list(later.edges)
    later.remove_edges_from([edges[i] for i in rng.choice(len(edges), 10, replace=False)])
    later.add_edges_from(rng.integers(200, size=(10, 2)).tolist())
    updated = sepool.update(tree, later)
    assert updated.height == height
    assert updated.entropy == pytest.approx(sepool.structural_entropy(later, updated))
    assert updated.entropy <= 1.01 * sepool.coding_tree(later, height).entropy


def test_update_keeps_clusters_that_did_not_change():
    tree = sepool.coding_tree(GRAPH, height=2)
    later = GRAPH.copy()
    later.remove_nodes_from([0, 30])
    later.add_edges_from([("new", node) for node in range(50, 60)])
    updated = sepool.update(tree, later)
    matching = updated.matched(tree)
    assert [len(births) for births in matching.births] == [0]
    assert [len(deaths) for deaths in matching.deaths] == [0]
    names = dict(zip(later, matching.earlier[0][updated.labels(1)].tolist(), strict=True))
    before = dict(zip(GRAPH, tree.labels(1).tolist(), strict=True))
    assert all(names[node] == before[node] for node in later if node in before)
    assert names["new"] == before[50]


def test_update_of_a_loaded_tree_is_the_same(tmp_path):
    tree = sepool.coding_tree(GRAPH, height=2)
    tree.save(tmp_path / "tree.npz")
    later = nx.Graph(GRAPH)
    later.remove_node(3)
    loaded = sepool.CodingTree.load(tmp_path / "tree.npz")
    assert sepool.update(loaded, later) == sepool.update(tree, later)


def test_matched_lists_births_and_deaths():
    edges = [(0, 1), (2, 3), (4, 5)]
    one = sepool.CodingTree.from_levels(edges, [0, 0, 1, 1, 2, 2])
    other = sepool.CodingTree.from_levels(edges, [0, 0, 0, 0, 1, 2])
    matching = other.matched(one)
    assert matching.earlier[0].tolist() == [0, 2, -1]
    assert matching.births[0].tolist() == [2]
    assert matching.deaths[0].tolist() == [1]


def test_matched_prints_a_line_a_level():
    path = [(i, i + 1) for i in range(8)]
    before = sepool.CodingTree.from_levels(path, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    after = sepool.CodingTree.from_levels(path, [0, 0, 0, 1, 1, 1, 1, 1, 1])
    assert str(after.matched(before)).splitlines() == [
        "level  continued  births  deaths",
        "    1          2       0       1",
    ]


def test_matched_trees_have_one_height():
    tree, other = (sepool.coding_tree(GRAPH, height) for height in (2, 3))
    with pytest.raises(ValueError, match="heights 3 and 2"):
        other.matched(tree)


def test_update_with_a_tree_of_another_graph_is_refused():
    tree = sepool.coding_tree(nx.relabel_nodes(GRAPH, str), height=2)
    with pytest.raises(ValueError, match="another graph"):
        sepool.update(tree, nx.relabel_nodes(GRAPH, lambda node: f"x{node}"))


def test_update_keeps_levels_of_one_cluster():
    cliques = [(i, j) for i in range(24) for j in range(i) if i // 8 == j // 8]
    graph = [*cliques, (7, 8), (15, 16)]
    for tree in (
        sepool.coding_tree(graph, 2, num_clusters=1),
        sepool.coding_tree(graph, 3, min_size=9),
    ):
        assert sepool.update(tree, graph) == tree


def test_matched_without_common_nodes_are_births_and_deaths():
    one = sepool.coding_tree(nx.Graph(["ab", "cd"]), 2)
    other = sepool.coding_tree(nx.Graph(["ef", "gh"]), 2)
    matching = one.matched(other)
    assert matching.earlier[0].tolist() == [-1, -1]
    assert matching.births[0].tolist() == matching.deaths[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed must be 0 to"),
        ({"seed": "a"}, TypeError, "seed must be a whole number"),
        ({"num_threads": 0}, ValueError, "num_threads must be 1 to 4096"),
        ({"num_threads": 2.5}, TypeError, "num_threads must be a whole number"),
    ],
)
def test_update_and_significance_check_their_options(options, error, message):
    tree = sepool.coding_tree([(0, 1), (1, 2)], 2)
    with pytest.raises(error, match=message):
        sepool.update(tree, [(0, 1)], **options)
    with pytest.raises(error, match=message):
        tree.significance(**options)


def test_update_and_matched_need_trees():
    with pytest.raises(TypeError, match="update needs a CodingTree"):
        sepool.update([0, 1], [(0, 1)])
    with pytest.raises(TypeError, match="matched needs a CodingTree"):
        sepool.coding_tree([(0, 1)]).matched(3)
