from __future__ import annotations

import json

import networkx as nx
import pytest

import sepool


def test_d3_nests_the_clusters(tmp_path):
    tree = sepool.coding_tree(nx.les_miserables_graph(), height=3)
    tree.save(tmp_path / "tree.d3.json")
    root = json.loads((tmp_path / "tree.d3.json").read_text())
    assert (root["name"], root["level"], root["cluster"]) == ("", 3, 0)
    nodes = [root]
    for level in (2, 1, 0):
        nodes = [child for node in nodes for child in node["children"]]
        if level:
            assert [node["cluster"] for node in nodes] == list(range(tree.num_clusters(level)))
            assert [node["name"] for node in nodes] == tree.cluster_names(level)
            assert {node["level"] for node in nodes} == {level}
    assert {node["name"]: node["value"] for node in nodes} == dict(
        zip(tree.names, tree.volumes(0).tolist(), strict=True)
    )
    assert all(set(node) == {"name", "value"} for node in nodes)
    for cluster, node in enumerate(root["children"]):
        names = {leaf["name"] for child in node["children"] for leaf in child["children"]}
        assert names == tree.communities(2)[cluster]


@pytest.mark.parametrize("name", ['a "b"\n', "é\0", "</script>"])
def test_d3_escapes_names(tmp_path, name):
    tree = sepool.coding_tree(nx.Graph([("a", name)]), height=1)
    tree.save(tmp_path / "tree.d3.json")
    root = json.loads((tmp_path / "tree.d3.json").read_text(encoding="utf-8"))
    assert [leaf["name"] for leaf in root["children"]] == ["a", name]


def test_d3_of_the_highest_tree(tmp_path):
    sepool.coding_tree([(0, 1), (1, 2)], height=64).save(tmp_path / "tree.d3.json")
    assert json.loads((tmp_path / "tree.d3.json").read_text())["level"] == 64
