from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.integrations.igraph import vertex_clustering, vertex_dendrogram


@pytest.fixture(scope="module")
def karate():
    return igraph.Graph.from_networkx(nx.karate_club_graph())


def same(labels, others):
    """Return True for equal clusters, whatever their numbers."""
    _, one = np.unique(labels, return_inverse=True)
    pairs = {*zip(one.tolist(), others, strict=True)}
    return len(pairs) == one.max() + 1 == len(set(others))


def graphs():
    grid = igraph.Graph.Lattice([7, 8], circular=False)
    return {
        "grid": grid,
        "star": igraph.Graph.Star(600),
        "components": grid + grid + grid,
        "no edges": igraph.Graph(4),
        "one node": igraph.Graph(1),
        "height 1": grid + grid,
        "across components": grid + grid + grid,
    }


GRAPHS = graphs()
OPTIONS = {
    "grid": {"height": 4},
    "star": {"height": 2},
    "components": {"height": 3},
    "height 1": {"height": 1},
    "across components": {"fixed": {0: "a", 60: "a", 120: "b"}},
}
TREES = {name: sepool.coding_tree(graph, **OPTIONS.get(name, {})) for name, graph in GRAPHS.items()}


@pytest.mark.parametrize("name", TREES)
def test_dendrogram_cut_at_a_level_has_its_clusters(name):
    tree, graph = TREES[name], GRAPHS[name]
    dendrogram = vertex_dendrogram(tree, graph)
    assert len(dendrogram.merges) == graph.vcount() - 1
    for level in range(tree.height + 1):
        cut = dendrogram.as_clustering(tree.num_clusters(level))
        assert same(cut.membership, tree.labels(level).tolist()), level
    assert len(dendrogram.as_clustering()) == tree.num_clusters(tree.top or tree.height)


@pytest.mark.parametrize("name", ["components", "no edges", "height 1"])
def test_dendrogram_cut_at_the_components_has_them(name):
    graph = GRAPHS[name]
    components = graph.connected_components()
    cut = vertex_dendrogram(TREES[name], graph).as_clustering(len(components))
    assert same(cut.membership, components.membership)


def test_dendrogram_of_networkx_tree_has_a_summary(karate):
    tree = sepool.coding_tree(nx.karate_club_graph(), height=3)
    assert "34 elements, 33 merges" in vertex_dendrogram(tree, karate).summary()


@pytest.mark.parametrize("level", [None, 0, 1, 2, 3])
def test_clustering_has_the_labels_and_modularity_of_the_level(karate, level):
    graph = nx.karate_club_graph()
    tree = sepool.coding_tree(graph, height=3)
    clustering = vertex_clustering(tree, karate, level)
    level = 2 if level is None else level
    assert clustering.membership == tree.labels(level).tolist()
    expected = nx.community.modularity(graph, tree.communities(level))
    assert clustering.modularity == pytest.approx(expected)
    dendrogram = vertex_dendrogram(tree, karate)
    assert dendrogram.as_clustering(len(clustering)).modularity == pytest.approx(expected)


def test_clustering_weight_is_that_of_the_modularity(karate):
    graph = nx.karate_club_graph()
    tree = sepool.coding_tree(graph, height=2)
    plain = nx.community.modularity(graph, tree.communities(1), weight=None)
    assert vertex_clustering(tree, karate, weight=None).modularity == pytest.approx(plain)
    assert vertex_dendrogram(tree, karate, weight=None).as_clustering().modularity == pytest.approx(
        plain
    )


def test_clustering_without_clusters_is_one():
    graph = igraph.Graph.Erdos_Renyi(n=100, m=500)
    tree = sepool.CodingTree.from_levels(graph, [])
    assert vertex_clustering(tree, graph).membership == [0] * 100


@pytest.mark.parametrize("function", [vertex_clustering, vertex_dendrogram])
@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        (igraph.Graph.Ring(5), {}, ValueError, "the tree has 34 leaves, but the graph has 5 nodes"),
        (nx.karate_club_graph(), {}, TypeError, "graph must be an igraph.Graph, got Graph"),
        (igraph.Graph.Famous("Zachary"), {"weight": "cost"}, ValueError, "attribute 'cost'"),
    ],
)
def test_clustering_impossible_argument_is_named(function, graph, options, error, message):
    tree = sepool.coding_tree(nx.karate_club_graph(), height=2)
    with pytest.raises(error, match=message) as raised:
        function(tree, graph, **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("function", [vertex_clustering, vertex_dendrogram])
def test_clustering_tree_of_other_names_is_refused(function):
    graph = igraph.Graph(3, [(0, 1)], vertex_attrs={"name": ["a", "b", "c"]})
    tree = sepool.coding_tree(nx.Graph(["ax", "bx"]))
    with pytest.raises(ValueError, match="the tree is of another graph"):
        function(tree, graph)


def test_clustering_impossible_level_is_named(karate):
    tree = sepool.coding_tree(karate, height=2)
    with pytest.raises(ValueError, match="level must be 0 to 2, got 3"):
        vertex_clustering(tree, karate, 3)
