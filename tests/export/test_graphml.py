from __future__ import annotations

import os
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree


def test_graphml_has_graph_weights_and_levels(tmp_path):
    graph = nx.les_miserables_graph()
    tree = sepool.coding_tree(graph, height=3)
    tree.save(tmp_path / "x.graphml")
    back = nx.read_graphml(tmp_path / "x.graphml")
    assert list(back) == list(graph)
    assert nx.utils.edges_equal(back.edges(data="weight"), graph.edges(data="weight"))
    for level in (1, 2):
        assert list(nx.get_node_attributes(back, f"level_{level}").values()) == (
            tree.labels(level).tolist()
        )
    assert sepool.structural_entropy(back, tree) == pytest.approx(tree.entropy)


def test_graphml_without_weights_has_none(tmp_path, bridge):
    sepool.coding_tree(bridge, height=2).save(tmp_path / "x.graphml.gz")
    back = nx.read_graphml(tmp_path / "x.graphml.gz", node_type=int)
    assert nx.utils.edges_equal(back.edges(), bridge)
    assert not nx.get_edge_attributes(back, "weight")
    assert back.nodes[5] == {"level_1": 1}


def test_graphml_keeps_self_loops_that_count(tmp_path):
    graph = nx.Graph([(0, 1), (1, 2), (2, 2)])
    tree = sepool.coding_tree(sepool.as_graph(graph, self_loops=True), height=2)
    tree.save(tmp_path / "x.graphml")
    back = nx.read_graphml(tmp_path / "x.graphml", node_type=int)
    degrees = sepool.as_graph(back, self_loops=True).degrees()
    assert degrees.tolist() == tree.volumes(0).tolist() == [1, 2, 3]


def test_graphml_is_read_by_igraph(tmp_path):
    igraph = pytest.importorskip("igraph")
    names = ["a <b> & 'c'", 'say "hi"', "line\nbreak", "é"]
    tree = CodingTree.from_levels(nx.path_graph(names), [0, 0, 1, 1])
    tree.save(tmp_path / "x.graphml")
    back = igraph.Graph.Read_GraphML(str(tmp_path / "x.graphml"))
    assert back.get_edgelist() == [(0, 1), (1, 2), (2, 3)]
    assert back.vs["level_1"] == [0, 0, 1, 1]
    assert list(nx.read_graphml(tmp_path / "x.graphml")) == names


def test_graphml_without_the_graph_is_refused(tmp_path, bridge):
    tree = sepool.coding_tree(bridge, height=2)
    tree.save(tmp_path / "tree.json")
    loaded = CodingTree.load(tmp_path / "tree.json")
    with pytest.raises(ValueError, match=r"a \.graphml file needs the graph") as error:
        loaded.save(tmp_path / "x.graphml")
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == ["tree.json"]
    replace(loaded, graph=sepool.as_graph(bridge)).save(tmp_path / "x.graphml")


@pytest.mark.parametrize("edges", [[(0, 1)], [(i, 5) for i in range(5)]])
def test_graphml_of_another_graph_is_refused(tmp_path, bridge, edges):
    tree = replace(sepool.coding_tree(bridge, height=2), graph=sepool.as_graph(edges))
    with pytest.raises(ValueError, match="the tree is of another one"):
        tree.save(tmp_path / "x.graphml")


@pytest.mark.parametrize("name", ["a\0", "a\x1b", "a\ufffe"])
def test_graphml_characters_that_xml_cannot_hold_are_refused(tmp_path, name):
    tree = CodingTree.from_levels(nx.Graph([("a", name)]), [0, 0])
    with pytest.raises(ValueError, match=r"a \.graphml file cannot hold"):
        tree.save(tmp_path / "x.graphml")


def test_graphml_weights_in_units_of_the_caller(tmp_path):
    tree = sepool.coding_tree(np.array([[0, 1, 0.5], [1, 2, 1.25]]), height=2)
    tree.save(tmp_path / "x.graphml")
    back = nx.read_graphml(tmp_path / "x.graphml", node_type=int)
    assert [back.edges[edge]["weight"] for edge in ((0, 1), (1, 2))] == [0.5, 1.25]
