from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("torch_geometric")
pytest.importorskip("networkx")
pytest.importorskip("matplotlib")

from matplotlib import image

from sepool.segments import pointers
from sepool_experiments.backends.run import Plan
from sepool_experiments.data.graphs import load_graphs, load_trees
from sepool_experiments.figures import figure4
from sepool_experiments.figures.clusters import forest_labels, learn_clusters, tree_clusters
from sepool_experiments.figures.journal import read_rows
from sepool_experiments.figures.molecules import Molecule, layout
from sepool_experiments.protocols.figures import FIGURE4


@pytest.fixture
def figure():
    return replace(FIGURE4, epochs=2, patience=1, steps=2)


def test_train_write_and_go_on(tmp_path, data, figure, monkeypatch):
    units = figure.units(folds=[0, 4])
    part = Plan.of(figure, [u for u in units if u.system == "MinCutPool"], tmp_path)
    figure4.run(part, data, log=lambda text: None)
    rest = Plan.of(figure, units, tmp_path)
    assert len(rest.units) - len(rest.todo) == 2
    figure4.run(rest, data, log=lambda text: None)
    rows = read_rows(tmp_path, figure)
    assert len(rows) == len(units) == 2 * 2 + 9 + 1
    assert {row.measured["rings"] for row in rows} == {30}
    one = next(row.measured for row in rows if row.unit.system == "one cluster")
    assert (one["whole"], one["clusters"], one["whole_by_chance"]) == (1, 1, 1)
    monkeypatch.setattr(figure4, "learn_clusters", None)
    figure4.run(Plan.of(figure, units, tmp_path), data)
    paths = {path.suffix: path for path in figure4.write(tmp_path, figure, data)}
    assert image.imread(paths[".png"]).shape[2] == 4
    words = "".join(ElementTree.parse(paths[".svg"]).getroot().itertext())
    assert "MinCutPool" in words
    assert "rings whole" in words
    assert "| SEP (paper), height 3, level 2 " in paths[".md"].read_text()


def test_labels_of_trees(data):
    graphs = load_graphs(data, "MUTAG")
    forest = load_trees(data, graphs, "best", 3)
    for level in (1, 2):
        labels = tree_clusters(data, graphs, "best", 3, level)
        assert len(labels) == graphs.nodes.sum()
        parts = np.split(labels, np.cumsum(graphs.nodes)[:-1])
        assert [len(np.unique(part)) for part in parts] == forest.counts[:, level].tolist()
    assert not forest_labels(forest, 3).any()


@pytest.mark.parametrize("system", ["DiffPool", "MinCutPool"])
def test_atoms_that_see_the_same_are_in_one_cluster(data, figure, system):
    """One convolution before the clusters: wherever atoms are in a batch, they see neighbours."""
    units = figure.units(systems=[system], folds=[0, 3])
    found = {
        result.unit.fold: labels for result, labels in learn_clusters(units, figure, data, "cpu")
    }
    assert sorted(found) == [0, 3]
    graphs = load_graphs(data, "MUTAG")
    x, start = graphs.features(), np.repeat(pointers(graphs.nodes)[:-1], graphs.edges.counts)
    degree = 1 + np.bincount(graphs.edges.row + start)
    row, col = graphs.edges.row + start, graphs.edges.col + start
    seen = x / degree[:, None]
    np.add.at(seen, row, x[col] / np.sqrt(degree[row] * degree[col])[:, None])
    _, kind = np.unique(seen.round(5), axis=0, return_inverse=True)
    assert kind.max() > 5
    for labels in found.values():
        assert len(np.unique(labels)) > 1
        assert len(np.unique(np.column_stack([kind.ravel(), labels]), axis=0)) == kind.max() + 1


def test_which_molecules_are_drawn(fused):
    assert figure4.chosen([fused, fused]) == [0]


def test_a_regular_hexagon():
    places = layout(Molecule.of(6, np.array([[i, (i + 1) % 6] for i in range(6)])))
    assert np.allclose(np.linalg.norm(places, axis=1), 1, atol=0.05)
