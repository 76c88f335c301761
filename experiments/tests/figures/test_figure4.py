from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import image

from sepool.segments import pointers
from sepool_experiments.backends.run import Plan
from sepool_experiments.data.graphs import load_graphs, load_trees
from sepool_experiments.figures import figure4
from sepool_experiments.figures.clusters import forest_labels, learn_clusters
from sepool_experiments.figures.journal import read_rows
from sepool_experiments.figures.molecules import Molecule, layout
from sepool_experiments.figures.run import run, write
from sepool_experiments.protocols.figures import FIGURE4


@pytest.fixture
def figure():
    return replace(FIGURE4, epochs=2, patience=1, steps=2)


def test_run_resumes_and_writes_all_files(tmp_path, data, figure, monkeypatch):
    units = figure.units(folds=[0, 4])
    part = Plan.of(figure, [u for u in units if u.system == "MinCutPool"], tmp_path)
    run(part, data, "cpu", print)
    rest = Plan.of(figure, units, tmp_path)
    assert len(rest.units) - len(rest.todo) == 2
    run(rest, data, "cpu", print)
    rows = read_rows(tmp_path, figure)
    assert len(rows) == len(units) == 2 * 2 + 9 + 1
    assert {row.measured["rings"] for row in rows} == {30}
    one = next(row.measured for row in rows if row.unit.system == "one cluster")
    assert (one["whole"], one["clusters"], one["whole_by_chance"]) == (1, 1, 1)
    monkeypatch.setattr(figure4, "learn_clusters", None)
    run(Plan.of(figure, units, tmp_path), data, "cpu", print)
    paths = {path.suffix: path for path in write(tmp_path, figure, data)}
    assert image.imread(paths[".png"]).shape[2] == 4
    words = "".join(ElementTree.parse(paths[".svg"]).getroot().itertext())
    assert "MinCutPool" in words
    assert "rings whole" in words
    assert "| SEP (paper), height 3, level 2 " in paths[".md"].read_text()


def test_forest_labels_equal_levels(data):
    graphs = load_graphs(data, "MUTAG")
    forest = load_trees(data, graphs, "best", 3)
    for level in (1, 2):
        labels = forest_labels(forest, level)
        assert len(labels) == graphs.nodes.sum()
        parts = np.split(labels, np.cumsum(graphs.nodes)[:-1])
        assert [len(np.unique(part)) for part in parts] == forest.counts[:, level].tolist()
    assert not forest_labels(forest, 3).any()


@pytest.mark.parametrize("system", ["DiffPool", "MinCutPool"])
def test_learn_clusters_equal_neighbourhoods_share_cluster(data, figure, system):
    """One convolution before the clusters: the cluster is a function of the neighbourhood."""
    units = figure.units(systems=[system], folds=[0, 3])
    clusters = {
        result.unit.fold: labels for result, labels in learn_clusters(units, figure, data, "cpu")
    }
    assert sorted(clusters) == [0, 3]
    graphs = load_graphs(data, "MUTAG")
    x, start = graphs.features(), np.repeat(pointers(graphs.nodes)[:-1], graphs.edges.counts)
    degree = 1 + np.bincount(graphs.edges.row + start)
    row, col = graphs.edges.row + start, graphs.edges.col + start
    propagated = x / degree[:, None]
    np.add.at(propagated, row, x[col] / np.sqrt(degree[row] * degree[col])[:, None])
    _, group = np.unique(propagated.round(5), axis=0, return_inverse=True)
    assert group.max() > 5
    for labels in clusters.values():
        assert len(np.unique(labels)) > 1
        assert len(np.unique(np.column_stack([group.ravel(), labels]), axis=0)) == group.max() + 1


def test_chosen_takes_first_of_median_size(fused):
    assert figure4.chosen([fused, fused]) == [0]


def test_layout_of_hexagon_is_regular():
    places = layout(Molecule.of(6, np.array([[i, (i + 1) % 6] for i in range(6)])))
    assert np.allclose(np.linalg.norm(places, axis=1), 1, atol=0.05)
