from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree

Parsed = tuple[str, float, list["Parsed"]]


def parse(text: str) -> Parsed:
    """Read Newick by its grammar: ``(children)label:length``, labels quoted or plain."""
    place = 0

    def label() -> str:
        nonlocal place
        out = ""
        if text[place] != "'":
            while text[place] not in ",():;":
                out += text[place]
                place += 1
            assert not set(out) & set(" _[]'\t\n")
            return out
        place += 1
        while True:
            if text[place] == "'":
                place += 1
                if text[place] != "'":
                    return out
            out += text[place]
            place += 1

    def node() -> Parsed:
        nonlocal place
        children = []
        if text[place] == "(":
            while text[place] != ")":
                place += 1
                children.append(node())
            place += 1
        name, length = label(), "0"
        if text[place] == ":":
            place += 1
            length = label()
        return name, float(length), children

    root = node()
    assert text[place:] == ";\n"
    return root


def leaves(node: Parsed) -> list[str]:
    return [node[0]] if not node[2] else [name for child in node[2] for name in leaves(child)]


def written(tree: CodingTree, tmp_path) -> Parsed:
    tree.save(tmp_path / "x.nwk")
    return parse((tmp_path / "x.nwk").read_text(encoding="utf-8"))


def test_newick_has_the_clusters_of_every_level(tmp_path):
    tree = sepool.coding_tree(nx.les_miserables_graph(), height=4)
    nodes = [written(tree, tmp_path)]
    for level in reversed(range(tree.height)):
        nodes = [child for node in nodes for child in node[2]]
        assert {length for _, length, _ in nodes} == {1.0}
        if level:
            for name, _, _ in nodes:
                assert name.startswith(f"level{level}.")
            clusters = {int(node[0].partition(".")[2]): set(leaves(node)) for node in nodes}
            assert [clusters[i] for i in range(len(clusters))] == tree.communities(level)
    assert sorted(name for name, _, _ in nodes) == sorted(tree.names)


def test_newick_quotes_names(tmp_path):
    names = ["plain", "two words", "it's", "a_b", "(x)", "a:b,c;", "[c]", "é", "", "''", "1.5"]
    tree = CodingTree.from_levels(nx.path_graph(names), [0] * 5 + [1] * 6)
    assert leaves(written(tree, tmp_path)) == names
    text = (tmp_path / "x.nwk").read_text(encoding="utf-8")
    assert "(plain:1,'two words':1,'it''s':1,'a_b':1,'(x)':1)level1.0:1" in text


def test_newick_of_one_node(tmp_path):
    tree = sepool.coding_tree([(0, 0)], height=1)
    assert written(tree, tmp_path) == ("", 0.0, [("0", 1.0, [])])


@pytest.mark.parametrize("name", ["two\nlines", "tab\t", "nul\0"])
def test_newick_control_characters_are_refused(tmp_path, name):
    tree = CodingTree.from_levels(nx.Graph([("a", name)]), [0, 0])
    with pytest.raises(ValueError, match="Newick cannot hold"):
        tree.save(tmp_path / "x.nwk")


def test_newick_takes_a_star_of_many_leaves(tmp_path):
    edges = np.stack([np.zeros(20_000, int), np.arange(1, 20_001)], 1)
    sepool.coding_tree(edges, height=1).save(tmp_path / "x.nwk")
    assert (tmp_path / "x.nwk").read_text().count(",") == 20_000
