from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import shapes
from tests.reference import PlainGraph

import sepool
from sepool import CodingTree, one_dimensional_entropy, structural_entropy


@st.composite
def hierarchies(draw):
    """A graph with nested labels, finest first."""
    n, edges = draw(shapes.graphs())
    labels, levels = list(range(n)), []
    for _ in range(draw(st.integers(0, 4))):
        parent = draw(st.lists(st.integers(0, 3), min_size=14, max_size=14))
        labels = [parent[label] for label in labels]
        levels.append(labels)
    return n, edges, levels


def plain_entropy(n, edges, levels) -> float:
    """Eq. 3 of the paper, with sets of nodes."""
    clusters = {frozenset([node]) for node in range(n)} | {frozenset(range(n))}
    for labels in levels:
        clusters |= {frozenset(i for i in range(n) if labels[i] == c) for c in labels}
    return PlainGraph(n, edges).entropy(clusters)


@given(hierarchies())
def test_structural_entropy_equals_the_plain_evaluator(hierarchy):
    n, edges, levels = hierarchy
    graph = sepool.as_graph(edges, num_nodes=n)
    assert structural_entropy(graph, levels) == pytest.approx(
        plain_entropy(n, edges, levels), abs=1e-9
    )


@given(shapes.graphs(), st.integers(1, 5), st.sampled_from(shapes.METHODS))
def test_structural_entropy_equals_that_of_built_trees(graph, height, method):
    n, edges = graph
    read = sepool.as_graph(edges, num_nodes=n)
    tree = sepool.coding_tree(read, height, method=method)
    levels = [tree.labels(level).tolist() for level in range(1, height)]
    assert tree.entropy == pytest.approx(plain_entropy(n, edges, levels), abs=1e-9)
    assert tree.entropy == pytest.approx(structural_entropy(read, tree), abs=1e-9)
    again = CodingTree.from_levels(read, levels)
    assert again.counts == tree.counts
    assert again.parent.tolist() == tree.parent.tolist()
    assert again.volume == pytest.approx(tree.volume)
    assert again.boundary == pytest.approx(tree.boundary)


def test_one_dimensional_entropy_equals_that_of_the_degrees():
    degrees = np.array([3, 1, 1, 1]) / 6
    star = [(0, 1), (0, 2), (0, 3)]
    assert one_dimensional_entropy(star) == pytest.approx(-(degrees * np.log2(degrees)).sum())


def test_one_dimensional_entropy_ignores_the_scale_of_weights(bridge):
    thousand = [(u, v, 1000.0) for u, v in bridge]
    assert one_dimensional_entropy(thousand) == one_dimensional_entropy(bridge)


def test_one_dimensional_entropy_self_loops_add_volume_but_no_boundary():
    graph = sepool.as_graph([(0, 1), (0, 0)], self_loops=True)  # volumes 3, 1, boundaries 1, 1
    assert one_dimensional_entropy(graph) == pytest.approx((np.log2(4 / 3) + np.log2(4)) / 4)


def test_structural_entropy_tree_with_other_names_is_refused(tmp_path):
    for name, text in (("one.txt", "a b\nb c\n"), ("two.txt", "c b\nb a\n")):
        (tmp_path / name).write_text(text)
    tree = sepool.coding_tree(tmp_path / "one.txt")
    with pytest.raises(ValueError, match="where it has the node 'a', the graph has 'c'"):
        structural_entropy(tmp_path / "two.txt", tree)


def test_structural_entropy_nodes_in_another_order_are_refused(tmp_path):
    """A file orders numbers, networkx keeps the order of their appearance."""
    path = tmp_path / "graph.txt"
    path.write_text("2 1\n2 0\n2 3\n")
    graph = nx.read_edgelist(path, nodetype=int)
    for one, other in ((path, graph), (graph, path)):
        with pytest.raises(ValueError, match="the tree is of another graph: where it has the node"):
            structural_entropy(other, sepool.coding_tree(one))
    named = nx.relabel_nodes(graph, dict(enumerate("abcd")))
    assert (
        structural_entropy(named, sepool.coding_tree(path)) > 0
    )  # names have nothing in common: the order decides
