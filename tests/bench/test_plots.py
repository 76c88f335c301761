from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("pandas")
pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

import pandas as pd

from sepool.bench.cells import Cell, Line
from sepool.bench.plots import accuracy_plot, curve_plot, depth_plot, write_plots
from sepool.bench.published import Published


def cell(system, dataset, accuracies=(), published=None):
    rows = [("c", 0, seed, 0.5, 1.0, value) for seed, value in enumerate(accuracies)]
    names = ["config", "fold", "seed", "val_accuracy", "val_loss", "test_accuracy"]
    return Cell(Line(system), dataset, pd.DataFrame(rows, columns=names), 1, published)


def test_accuracy_has_a_panel_a_dataset_and_intervals():
    table = [
        cell("GCN", "MUTAG", published=Published(69.5, 1.78)),
        cell("GCN", "NCI1"),
        cell("SEP-G", "MUTAG", [0.85, 0.87], Published(85.56, 1.09)),
        cell("SEP-G", "NCI1"),
    ]
    figure = accuracy_plot(table)
    (axis,) = figure.axes
    assert axis.get_title() == "MUTAG"
    assert [text.get_text() for text in axis.get_yticklabels()] == ["GCN", "SEP-G"]
    (bar,) = axis.containers
    low, high = bar.lines[2][0].get_segments()[0][:, 0]
    assert (low, high) == pytest.approx(table[2].selected["customary"].interval())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["published", "measured"]


def test_accuracy_by_depth():
    cells = [
        replace(cell("SEP-N", "Cora", values, known), line=Line("SEP-N", "best", variant=depth))
        for depth, values, known in (
            ("1", [0.8, 0.82], Published(84.3, 0.6)),
            ("2", [0.81, 0.83], Published(84.8, 0.4)),
            ("3", [], None),
        )
    ]
    (axis,) = depth_plot(cells).axes
    published, measured = axis.lines[0], axis.containers[0].lines[0]
    assert (list(published.get_xdata()), list(published.get_ydata())) == ([1, 2], [84.3, 84.8])
    assert list(measured.get_ydata()) == pytest.approx([81, 82])
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["SEP-N (best)"]


def test_curves(units):
    figure = curve_plot([(units[0], [(1.0, 1.2), (0.5, 0.8), (0.2, 0.9)])])
    (axis,) = figure.axes
    train, val, lowest = axis.lines
    assert list(train.get_ydata()) == [1.0, 0.5, 0.2]
    assert list(val.get_ydata()) == [1.2, 0.8, 0.9]
    assert (lowest.get_xdata()[0], lowest.get_ydata()[0]) == (1, 0.8)


def test_a_curve_without_numbers(units):
    assert curve_plot([(units[0], [(math.nan, math.nan)])]).axes


def test_nothing_to_draw(protocol, tmp_path):
    assert write_plots(protocol, [cell("GCN", "MUTAG")], [], tmp_path) == []
