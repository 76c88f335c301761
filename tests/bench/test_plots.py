from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("pandas")
pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

import pandas as pd

from sepool.bench.cells import Cell, Line, cells
from sepool.bench.plots import accuracy_plot, curve_plot, depth_plot, write_plots
from sepool.bench.protocols import PROTOCOLS
from sepool.bench.published import Published
from sepool.bench.rows import Rows


def cell(system, dataset, accuracies=(), published=None):
    rows = [("c", 0, seed, 0.5, 1.0, value) for seed, value in enumerate(accuracies)]
    names = ["config", "fold", "seed", "val_accuracy", "val_loss", "test_accuracy"]
    return Cell(Line(system), dataset, pd.DataFrame(rows, columns=names), 1, 1, published)


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
    table = [
        replace(cell("SEP-N", "Cora", values, known), line=Line("SEP-N", "best", variant=depth))
        for depth, values, known in (
            ("1", [0.8, 0.82], Published(84.3, 0.6)),
            ("2", [0.81, 0.83], Published(84.8, 0.4)),
            ("3", [], None),
        )
    ]
    control = replace(table[0], line=Line("SEP-N", "random", variant="1"))
    figure = depth_plot([*table, control])
    (axis,) = figure.axes
    published, measured = axis.lines[0], axis.containers[0].lines[0]
    assert (list(published.get_xdata()), list(published.get_ydata())) == ([1, 2], [84.3, 84.8])
    assert list(measured.get_ydata()) == pytest.approx([81, 82])
    low, high = axis.containers[0].lines[2][0].get_segments()[0][:, 1]
    assert (low, high) == pytest.approx(table[0].selected["customary"].interval())
    assert axis.get_xlabel() == "number of blocks"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["SEP-N, published", "SEP-N (best)", "SEP-N (random)"]


def test_curves(units, protocol):
    figure = curve_plot(protocol, [(units[0], [(1.0, 1.2), (0.5, 0.8), (0.2, 0.9)])])
    (axis,) = figure.axes
    train, val, lowest = axis.lines
    assert list(train.get_ydata()) == [1.0, 0.5, 0.2]
    assert list(val.get_ydata()) == [1.2, 0.8, 0.9]
    assert figure.legends[0].get_texts()[0].get_text() == "SEP-G (best)"
    assert (lowest.get_xdata()[0], lowest.get_ydata()[0]) == (2, 0.8), "epochs count from 1"


def test_a_curve_without_numbers(units, protocol):
    assert curve_plot(protocol, [(units[0], [(math.nan, math.nan)])]).axes


@pytest.mark.parametrize(("name", "what"), [("table4", "blocks"), ("tableA1", "convolutions")])
def test_depths_of_a_table(name, what, write, tmp_path):
    table = PROTOCOLS[name]
    units = table.units(["Cora"], seeds=2)
    table_cells = cells(table, Rows.read(write(units[::7], table)))
    names = [path.name for path in write_plots(table, table_cells, [], tmp_path)]
    assert names == [f"{name}-accuracy.png", f"{name}-depth.png"]
    assert (tmp_path / f"{name}-depth.png").read_bytes().startswith(b"\x89PNG")
    assert depth_plot(table_cells, what).axes[0].get_xlabel() == f"number of {what}"


def test_nothing_to_draw(protocol, tmp_path):
    assert write_plots(protocol, [cell("GCN", "MUTAG")], [], tmp_path) == []
