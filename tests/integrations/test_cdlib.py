from __future__ import annotations

import igraph
import networkx as nx
import pytest

import sepool

pytest.importorskip("cdlib")
pytestmark = pytest.mark.heavy

from cdlib import NodeClustering, algorithms, evaluation  # noqa: E402

from sepool.integrations.cdlib import node_clustering  # noqa: E402


@pytest.fixture(scope="module")
def graph():
    return nx.karate_club_graph()


@pytest.fixture(scope="module")
def tree(graph):
    return sepool.coding_tree(graph, height=3)


@pytest.mark.parametrize("level", [None, 0, 1, 3])
def test_clustering_has_the_communities_of_the_level(graph, tree, level):
    clustering = node_clustering(tree, graph, level)
    assert isinstance(clustering, NodeClustering)
    level = 2 if level is None else level
    assert sorted(map(sorted, clustering.communities)) == sorted(
        map(sorted, tree.communities(level))
    )
    assert clustering.method_name == "structural_entropy"
    assert clustering.method_parameters == {
        "level": level,
        "height": 3,
        "entropy": tree.entropy,
    }
    assert clustering.node_coverage == 1
    assert not clustering.overlap


def test_clustering_is_scored_by_cdlib_as_by_networkx(graph, tree):
    clustering = node_clustering(tree, graph)
    expected = nx.community.modularity(graph, tree.communities(2))
    assert evaluation.newman_girvan_modularity(graph, clustering).score == pytest.approx(expected)
    greedy = algorithms.greedy_modularity(graph)
    assert 0 < evaluation.adjusted_mutual_information(clustering, greedy).score <= 1
    assert clustering.normalized_mutual_information(clustering).score == pytest.approx(1)


def test_clustering_of_named_nodes_has_their_names():
    graph = nx.relabel_nodes(nx.connected_caveman_graph(3, 5), lambda i: f"n{i}")
    vertices = igraph.Graph.from_networkx(graph)
    vertices.vs["name"] = vertices.vs["_nx_name"]
    of_networkx, of_igraph = (
        node_clustering(sepool.coding_tree(each), each) for each in (graph, vertices)
    )
    assert of_networkx.communities == of_igraph.communities
    assert of_networkx.communities[0] == [f"n{i}" for i in range(5)]
    scores = [
        evaluation.newman_girvan_modularity(each.graph, each).score
        for each in (of_networkx, of_igraph)
    ]
    assert scores[0] == pytest.approx(scores[1])


def test_clustering_tree_of_another_graph_is_refused(tree):
    with pytest.raises(ValueError, match="the tree has 34 leaves, but the graph has 4 nodes"):
        node_clustering(tree, nx.path_graph(4))


def test_clustering_impossible_level_is_named(graph, tree):
    with pytest.raises(ValueError, match="level must be 0 to 3, got 4"):
        node_clustering(tree, graph, 4)


def test_clustering_igraph_without_names_is_refused():
    ring = igraph.Graph.Ring(6)
    with pytest.raises(ValueError, match=r"set graph\.vs\['name'\]"):
        node_clustering(sepool.coding_tree(ring), ring)
