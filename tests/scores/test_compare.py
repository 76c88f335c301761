from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from tests.scores.clubs import clubs, karate, nested

import sepool


@pytest.fixture
def graph():
    return karate()


def test_compare_rows_are_clusterings_and_levels(graph):
    result = sepool.compare(graph, {"nested": nested(graph), "clubs": clubs(graph)})
    assert [(row.clustering, row.level, row.clusters) for row in result.rows] == [
        ("nested", 1, 4),
        ("nested", 2, 2),
        ("clubs", 1, 2),
    ]
    fine, coarse, flat = result.rows
    assert fine.entropy == coarse.entropy == pytest.approx(nested(graph).entropy)
    assert coarse.flat_entropy == flat.flat_entropy == flat.entropy
    assert coarse.flat_codelength == flat.codelength
    assert fine.codelength == coarse.codelength < fine.flat_codelength
    assert (fine.ami, fine.nmi) == (None, None)


def test_compare_scores_equal_other_programs(graph):
    metrics = pytest.importorskip("sklearn.metrics")
    communities = nx.community.louvain_communities(graph, seed=1)
    (row,) = sepool.compare(graph, {"louvain": communities}, clubs(graph)).rows
    labels = [next(i for i, c in enumerate(communities) if node in c) for node in graph]
    assert row.modularity == pytest.approx(nx.community.modularity(graph, communities))
    assert row.conductance == pytest.approx(
        np.mean([nx.conductance(graph, part, weight="weight") for part in communities])
    )
    assert row.entropy == pytest.approx(sepool.structural_entropy(graph, labels))
    assert row.ami == pytest.approx(metrics.adjusted_mutual_info_score(clubs(graph), labels))
    assert row.nmi == pytest.approx(metrics.normalized_mutual_info_score(clubs(graph), labels))


def test_compare_weights_count(graph):
    plain = sepool.as_graph(graph, weight=None)
    one, other = (sepool.compare(g, {"clubs": clubs(graph)}).rows[0] for g in (graph, plain))
    assert one.modularity != other.modularity
    assert one.codelength != other.codelength


def test_compare_level_selects_rows(graph):
    (row,) = sepool.compare(graph, {"nested": nested(graph)}, level=2).rows
    assert (row.level, row.clusters) == (2, 2)


def test_compare_tree_without_clusters_has_one_row(bridge):
    (row,) = sepool.compare(bridge, {"none": sepool.coding_tree(bridge, 1)}).rows
    assert (row.level, row.clusters, row.modularity) == (1, 1, 0)
    assert row.codelength == pytest.approx(row.entropy)
    assert np.isnan(row.conductance)


def test_compare_tree_of_another_weighting_is_scored_on_the_graph(graph):
    tree = sepool.coding_tree(sepool.as_graph(graph, weight=None), height=2)
    (row,) = sepool.compare(graph, {"tree": tree}).rows
    assert row.entropy == pytest.approx(sepool.structural_entropy(graph, tree.labels(1)))


def test_compare_path_is_read_with_a_note(graph, tmp_path):
    path = tmp_path / "clubs.csv"
    path.write_text("node,level_1\n" + "".join(f"{i},{c}\n" for i, c in enumerate(clubs(graph))))
    result = sepool.compare(graph, {"file": path, "name": str(path), "labels": clubs(graph)})
    rows = [{**record, "clustering": ""} for record in result.records()]
    assert rows[0] == rows[1] == rows[2]
    assert (
        result.notes
        == (f"{path}: table, separated by commas, header node,level_1; 2 clusters",) * 2
    )


def test_comparison_text_is_an_aligned_table(graph):
    text = str(sepool.compare(graph, {"nested": nested(graph), "none": [0] * 34}))
    head, *lines = text.splitlines()
    assert head.split()[:3] == ["clustering", "level", "clusters"]
    assert "AMI" not in head
    assert {len(line) for line in lines} == {len(head)}
    assert lines[-1].split()[:6] == ["none", "1", "1", "4.6340", "4.6340", "0.0000"]
    assert " - " in lines[-1]


def test_comparison_to_frame_has_a_row_a_level(graph):
    pytest.importorskip("pandas")
    frame = sepool.compare(graph, {"nested": nested(graph)}).to_frame()
    assert frame.shape == (2, 9)
    pytest.importorskip("sklearn")
    frame = sepool.compare(graph, {"nested": nested(graph)}, clubs(graph)).to_frame()
    assert list(frame["ami"]) == [row for row in frame["ami"] if 0 < row <= 1]
    assert frame["nmi"].iloc[1] == 1


@pytest.mark.parametrize(
    ("clusterings", "error", "message"),
    [
        ([[0] * 34], TypeError, "clusterings must be a dictionary .*, got list"),
        ({}, ValueError, "clusterings is empty"),
        ({"a": [0, 1]}, ValueError, "clustering 'a': expected 34 labels"),
        ({"a": 3}, ValueError, "clustering 'a': expected 34 labels"),
        ({"a": {0: 1}}, ValueError, "clustering 'a': node 1 has no label"),
        ({"a": [0.5] * 34}, TypeError, "clustering 'a': labels must be integers or strings"),
        ({"a": sepool.coding_tree([(0, 1)], 1)}, ValueError, "clustering 'a': the tree has 2"),
        ({"a": "nothing.csv"}, FileNotFoundError, "nothing.csv"),
    ],
)
def test_compare_impossible_clusterings_are_refused(graph, clusterings, error, message):
    with pytest.raises(error, match=message):
        sepool.compare(graph, clusterings)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"level": 3}, ValueError, "clustering 'nested' has 2 levels, got level 3"),
        ({"level": 0}, ValueError, "level must be at least 1"),
        ({"level": "1"}, TypeError, "level must be a whole number"),
        ({"truth": [0]}, ValueError, "clustering 'truth': expected 34 labels"),
    ],
)
def test_compare_impossible_options_are_refused(graph, options, error, message):
    with pytest.raises(error, match=message):
        sepool.compare(graph, {"nested": nested(graph)}, **options)


def test_compare_truth_of_several_levels_is_refused(graph):
    with pytest.raises(ValueError, match="the truth has 2 levels, expected one"):
        sepool.compare(graph, {"clubs": clubs(graph)}, nested(graph))


def test_compare_directed_graph_is_refused():
    with pytest.raises(ValueError, match="the graph is directed"):
        sepool.compare(nx.DiGraph([(0, 1)]), {"a": [0, 0]})
