from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import CodingTree


@pytest.fixture
def tree() -> CodingTree:
    return sepool.coding_tree(nx.les_miserables_graph(), height=3)


def test_summary_has_the_numbers_of_the_tree(tree):
    summary = tree.summary()
    assert (summary.nodes, summary.edges, summary.height) == (77, 254, 3)
    assert summary.entropy == tree.entropy
    flat = sepool.one_dimensional_entropy(nx.les_miserables_graph())
    assert summary.one_dimensional_entropy == pytest.approx(flat, rel=1e-12)
    for level, row in enumerate(summary.levels, 1):
        sizes = tree.cluster_sizes(level)
        assert row.level == level
        assert (row.smallest, row.median, row.largest) == (
            sizes.min(),
            np.median(sizes),
            sizes.max(),
        )
        assert row.clusters == len(sizes)
        assert row.bits == pytest.approx(tree.contributions(level).sum())
        assert row.names[0] == tree.cluster_names(level, 2)[sizes.argmax()]
    rest = tree.entropy - tree.contributions(0).sum()
    assert sum(row.bits for row in summary.levels) == pytest.approx(rest)


def test_summary_prints_a_line_a_level(tree):
    lines = str(tree.summary()).splitlines()
    assert lines[0] == "77 nodes, 254 edges, height 3"
    assert lines[1] == "entropy 2.9781 bits, 44.2% less than without clusters (5.3362)"
    assert lines[2].split()[:6] == ["level", "clusters", "smallest", "median", "largest", "bits"]
    assert [line.split()[:2] for line in lines[3:]] == [["1", "20"], ["2", "6"]]
    assert max(map(len, lines)) <= 100


def test_summary_with_long_names_fits_the_line():
    names = [f"a very long name with\nline breaks {30 * 'x'} {i}" for i in range(12)]
    graph = nx.path_graph(names)
    text = str(sepool.coding_tree(graph, height=3).summary())
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.splitlines()) == 5


def test_summary_of_a_loaded_tree_has_no_edges(tmp_path, tree):
    tree.save(tmp_path / "tree.json")
    summary = CodingTree.load(tmp_path / "tree.json").summary()
    assert summary.edges is None
    assert str(summary).startswith("77 nodes, height 3\n")


def test_summary_without_clusters_or_edges():
    lines = str(sepool.coding_tree(sepool.as_graph([(0, 0)]), height=1).summary()).splitlines()
    assert lines == ["1 node, 0 edges, height 1", "entropy 0.0000 bits", "no clusters"]


def test_summary_with_self_loops_has_their_entropy():
    graph = sepool.as_graph([(0, 1), (1, 1), (1, 2)], self_loops=True)
    summary = sepool.coding_tree(graph, height=2).summary()
    assert summary.one_dimensional_entropy == sepool.one_dimensional_entropy(graph)
