"""Classes of nodes: values in several forms, majorities, bad input."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.viz.explore import explorer_page
from sepool.viz.page.attribute import attribute_values, node_classes


@pytest.fixture
def pair() -> tuple[sepool.CodingTree, nx.Graph]:
    graph = nx.karate_club_graph()
    return sepool.coding_tree(graph, 3), graph


def test_node_classes_of_equal_values_in_other_forms_agree(pair: Any) -> None:
    tree, graph = pair
    values = [graph.nodes[node]["club"] for node in graph]
    for form in (values, dict(zip(graph, values, strict=True)), np.array(values)):
        classes = node_classes(form, tree)
        assert classes.names == ["Mr. Hi", "Officer"]
        assert [classes.names[i] for i in classes.index] == values
    assert attribute_values(graph, "club") == values


def test_majorities_match_a_count(pair: Any) -> None:
    tree, graph = pair
    classes = node_classes(attribute_values(graph, "club"), tree)
    majority, share = classes.majorities(tree, 1)
    for cluster in range(tree.num_clusters(1)):
        counts = np.bincount(classes.index[tree.members(1, cluster)], minlength=2)
        assert counts[majority[cluster]] == counts.max()
        assert share[cluster] == counts.max() / counts.sum()


def test_node_classes_of_many_texts_have_a_rest(pair: Any) -> None:
    tree, _ = pair
    classes = node_classes([f"label {i // 2 if i < 4 else i}" for i in range(34)], tree)
    assert len(classes.names) == 16
    assert classes.names[:2] == ["label 0", "label 1"]
    assert classes.names[-1] == "17 others"
    assert classes.index.max() == 15


def test_node_classes_of_many_numbers_are_ranges(pair: Any) -> None:
    tree, _ = pair
    classes = node_classes(np.linspace(0, 1, 34), tree)
    assert len(classes.names) == 7
    assert classes.names[0].startswith("0 to 0.14")
    assert (np.diff(classes.index) >= 0).all()
    assert np.bincount(classes.index).min() >= 4


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["a"], ValueError, "1 labels for 34 nodes"),
        ({0: "a"}, ValueError, r"no label of node 1 \(33 without one\)"),
        (dict.fromkeys(range(35), "a"), ValueError, "a label of 34, which is no node"),
        ([{"a"}] * 34, TypeError, "the label of 0 must be text or a number"),
        ("weather", ValueError, "no node has the attribute 'weather'; attributes: \\['club'\\]"),
    ],
)
def test_explorer_page_with_wrong_labels_raises(
    pair: Any, values: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        explorer_page(*pair, colour_by=values)


def test_explorer_page_with_attribute_of_plain_edges_raises() -> None:
    edges = [(0, 1), (1, 2)]
    with pytest.raises(ValueError, match="for list give a value a node"):
        explorer_page(sepool.coding_tree(edges), edges, colour_by="club")
