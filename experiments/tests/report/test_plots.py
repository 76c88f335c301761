from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sepool_experiments.protocols.catalog import PROTOCOLS
from sepool_experiments.report.cells import Cell, Line, cells
from sepool_experiments.report.plots import (
    _loss_limit,
    accuracy_plot,
    curve_plot,
    depth_plot,
    write_plots,
)
from sepool_experiments.report.published import Published
from sepool_experiments.results.rows import Rows


def cell(system, dataset, accuracies=(), published=None):
    rows = [("c", 0, seed, 0.5, 1.0, value) for seed, value in enumerate(accuracies)]
    names = ["config", "fold", "seed", "val_accuracy", "val_loss", "test_accuracy"]
    return Cell(Line(system), dataset, pd.DataFrame(rows, columns=names), 1, 1, 1, published)


def test_accuracy_plot_has_panel_and_intervals():
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


def test_depth_plot_has_lines_and_intervals():
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


def test_accuracy_plot_few_lines_has_margins():
    figure = accuracy_plot([cell("GCN", "MUTAG", [0.8]), cell("SEP-G", "MUTAG", [0.85, 0.87])])
    assert figure.axes[0].get_ylim() == (1.5, -0.5), "the first on top, half a row at both ends"


def test_depth_plot_single_published_depth_has_marker():
    known = cell("SEP-N", "Cora", [0.8, 0.82], Published(84.8, 0.6))
    (axis,) = depth_plot([replace(known, line=Line("SEP-N", "best", variant="5"))]).axes
    published = axis.lines[0]
    assert (list(published.get_xdata()), list(published.get_ydata())) == ([5], [84.8])
    assert published.get_marker() == "x"


def test_curve_plot_draws_losses_and_minimum(units, protocol):
    figure = curve_plot(protocol, [(units[0], [(1.0, 1.2), (0.5, 0.8), (0.2, 0.9)])])
    (axis,) = figure.axes
    train, val, lowest = axis.lines
    assert list(train.get_ydata()) == [1.0, 0.5, 0.2]
    assert list(val.get_ydata()) == [1.2, 0.8, 0.9]
    assert axis.get_title() == "SEP-G (best)"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["training", "validation", "lowest validation"]
    assert (lowest.get_xdata()[0], lowest.get_ydata()[0]) == (2, 0.8), "epochs count from 1"
    assert figure.get_supylabel() == "loss"


def curves_of(unit, losses):
    """One training a system, with equal training and validation losses."""
    return [
        (replace(unit, system=name, tree=""), [(loss, loss) for loss in values])
        for name, values in losses.items()
    ]


def test_curve_plot_has_one_panel_a_line(units, protocol):
    names = [f"g-U-Nets({number})" for number in range(31, 0, -1)]
    figure = curve_plot(protocol, curves_of(units[0], {name: [1.0, 0.5] for name in names}))
    assert [axis.get_title() for axis in figure.axes] == names[::-1], "sorted by number"
    assert {axis.get_subplotspec().get_gridspec().ncols for axis in figure.axes} == {6}
    figure.canvas.draw()
    frame = figure.bbox
    for axis in (*figure.axes, figure.legends[0]):
        box = axis.get_tightbbox()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
    labelled = [
        axis for axis in figure.axes if axis.xaxis.get_major_ticks()[0].label1.get_visible()
    ]
    assert labelled == figure.axes[-6:], "those with nothing below them"


def test_curve_plot_spike_is_clipped(units, protocol):
    steady = [2 - 0.01 * epoch for epoch in range(150)]
    figure = curve_plot(
        protocol, curves_of(units[0], {"GAT": steady, "GCN": [*steady, 100.9], "GIN": [4.0, 3.9]})
    )
    low, top = figure.axes[0].get_ylim()
    assert low < 0.51
    assert 3.9 < top < 6, "the lowest validation loss of every training is in view"
    assert figure.get_supylabel() == f"loss, cut off at {top:.2g}"
    notes = [[text.get_text() for text in axis.texts] for axis in figure.axes]
    assert notes == [[], ["up to 101"], []]


def test_loss_limit_without_outlier_clips_nothing(units, protocol):
    losses = {"GAT": [1.0, 0.5, 0.4], "GCN": [2.5, 0.6, 0.5]}
    figure = curve_plot(protocol, curves_of(units[0], losses))
    assert 2.5 < figure.axes[0].get_ylim()[1] < 3
    assert figure.get_supylabel() == "loss"


@pytest.mark.parametrize("train", [0.5, math.nan, math.inf])
def test_curve_plot_without_finite_losses_is_empty(train, units, protocol):
    (axis,) = curve_plot(protocol, [(units[0], [(train, math.nan), (train, math.inf)])]).axes
    assert all(map(math.isfinite, axis.get_ylim()))
    assert len(axis.lines) == 2, "no lowest loss is marked"


@pytest.mark.parametrize(("name", "what"), [("table4", "blocks"), ("tableA1", "convolutions")])
def test_write_plots_by_depth_writes_depth_plot(name, what, write, tmp_path):
    table = PROTOCOLS[name]
    units = table.units(["Cora"], seeds=2)
    table_cells = cells(table, Rows.read(write(units[::7], table)))
    names = [path.name for path in write_plots(table, table_cells, [], tmp_path)]
    assert names == [f"{name}-accuracy.png", f"{name}-depth.png"]
    assert (tmp_path / f"{name}-depth.png").read_bytes().startswith(b"\x89PNG")
    assert depth_plot(table_cells, what).axes[0].get_xlabel() == f"number of {what}"


def test_write_plots_without_results_writes_nothing(protocol, tmp_path):
    assert write_plots(protocol, [cell("GCN", "MUTAG")], [], tmp_path) == []


@pytest.mark.parametrize("floor", [0.0, 1e-4])
def test_loss_limit_low_plateau_keeps_first_losses(floor):
    curve = np.array([(5.0, 5.0)] + [(floor, floor)] * 20)
    top, cut = _loss_limit([curve])
    assert (top, cut) == (5.25, False)
    spike = np.array([(floor, floor)] * 20 + [(5.0, 5.0)])
    assert _loss_limit([spike])[0] > 0
