"""Plots of accuracies with confidence intervals, and of training curves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from sepool.viz.drawing import HALO, new_figure, save_figure
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Unit
from sepool_experiments.report.cells import Cell, Line

Curve = tuple[Unit, list[tuple[float, float]]]
Losses = NDArray[np.float64]  # one row an epoch: training, validation
Location = Literal["outside upper right", "outside lower center"]
DODGE = 0.06  # distance of overlapping error bars
MAX_COLUMNS = 6  # of panels


def write_plots(
    protocol: Protocol, table_cells: Sequence[Cell], curves: Sequence[Curve], folder: Path
) -> list[Path]:
    """Draw all plots that have results, and return the paths."""
    shown = [curve for curve in curves if _is_selected(curve[0], protocol, table_cells)]
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Figure] = {}
    if any(cell.selected["customary"] for cell in table_cells):
        drawn["accuracy"] = accuracy_plot(table_cells)
    if protocol.rows_by == "name" and all(cell.line.depth for cell in table_cells):
        unit_name = "blocks" if "blocks" in protocol.title else "convolutions"
        drawn["depth"] = depth_plot(table_cells, unit_name)
    for dataset in dict.fromkeys(unit.dataset for unit, _ in shown):
        on_dataset = [curve for curve in shown if curve[0].dataset == dataset]
        drawn[f"curves-{dataset}"] = curve_plot(protocol, on_dataset)
    paths = {folder / f"{protocol.name}-{name}.png": figure for name, figure in drawn.items()}
    for path, figure in paths.items():
        save_figure(figure, path)
    return list(paths)


def _is_selected(unit: Unit, protocol: Protocol, table_cells: Sequence[Cell]) -> bool:
    """Test for the configuration that the customary rule selects."""
    line = Line.of(protocol, unit.system, unit.tree, unit.config)
    return unit.protocol == protocol.name and any(
        (cell.line, cell.dataset) == (line, unit.dataset)
        and (chosen := cell.selected["customary"]) is not None
        and str(unit.config) in chosen.configs
        for cell in table_cells
    )


def accuracy_plot(table_cells: Sequence[Cell]) -> Figure:
    """Plot accuracy by system, one panel a dataset: mean, 95 % interval, published accuracy."""
    datasets = [
        dataset
        for dataset in dict.fromkeys(cell.dataset for cell in table_cells)
        if any(c.selected["customary"] for c in table_cells if c.dataset == dataset)
    ]
    lines = list(dict.fromkeys(cell.line for cell in table_cells))
    first = _first_of_name(lines)
    size = (2.2 + 2.2 * len(datasets), 1.4 + 0.28 * len(lines))
    figure, axes = _panels(1, len(datasets), size, sharey=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        for cell in (cell for cell in table_cells if cell.dataset == dataset):
            y = lines.index(cell.line)
            if cell.published and cell.line in first:
                axis.plot(cell.published.mean, y, "x", color="0.5", label="published")
            if chosen := cell.selected["customary"]:
                low, high = chosen.interval()
                error = [[chosen.mean - low], [high - chosen.mean]]
                axis.errorbar(chosen.mean, y, xerr=error, fmt="o", color="C0", label="measured")
        axis.set_title(dataset, fontsize=9)
        axis.set_yticks(range(len(lines)), [str(line) for line in lines], fontsize=8)
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_ylim(len(lines) - 0.5, -0.5)  # first line on top, margins of half a row
    _legend(figure, "outside upper right", columns=2)
    figure.supxlabel("test accuracy in percent, 95 % interval over seeds", fontsize=8)
    return figure


def depth_plot(table_cells: Sequence[Cell], unit_name: str = "blocks") -> Figure:
    """Plot accuracy by depth, one panel a dataset, one line a system; published ones dashed."""
    datasets = list(dict.fromkeys(cell.dataset for cell in table_cells))
    systems = list(dict.fromkeys(cell.line.at_any_depth() for cell in table_cells))
    first = _first_of_name([cell.line for cell in table_cells])
    figure, axes = _panels(1, len(datasets), (1.0 + 3.2 * len(datasets), 3.4))
    for axis, dataset in zip(axes, datasets, strict=True):
        for i, system in enumerate(systems):
            by_depth = [
                (cell.line.depth or 0, cell)
                for cell in table_cells
                if cell.line.at_any_depth() == system and cell.dataset == dataset
            ]
            published = [
                (depth, cell.published.mean)
                for depth, cell in by_depth
                if cell.published and cell.line in first
            ]
            measured = [
                (depth, chosen.mean, *chosen.interval())
                for depth, cell in by_depth
                if (chosen := cell.selected["customary"])
            ]
            color = f"C{i}"
            if published:
                style: dict[str, Any] = {"color": color, "lw": 0.8, "ms": 5}
                label = f"{system.name}, published"  # with a marker, for lines of one point
                axis.plot(*zip(*published, strict=True), "x--", label=label, **style)
            if measured:
                depth, mean, low, high = np.array(measured, float).T
                x = depth + DODGE * (i - (len(systems) - 1) / 2)
                error, label = [mean - low, high - mean], str(system)
                axis.errorbar(x, mean, error, fmt="o-", ms=4, color=color, label=label)
        axis.set_title(dataset, fontsize=9)
        axis.set_xlabel(f"number of {unit_name}", fontsize=8)
        axis.tick_params(labelsize=8)
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("test accuracy in percent,\n95 % interval over seeds", fontsize=8)
    _legend(figure, "outside lower center", columns=6)
    return figure


def curve_plot(protocol: Protocol, curves: Sequence[Curve]) -> Figure:
    """Plot losses by epoch, one panel a line of the table, on common axes."""
    panels: dict[str, list[Losses]] = {}
    for unit, curve in sorted(curves, key=lambda pair: _natural(_title(protocol, pair[0]))):
        panels.setdefault(_title(protocol, unit), []).append(np.array(curve, float))
    top, clipped = _loss_limit([losses for panel in panels.values() for losses in panel])
    rows = ceil(len(panels) / MAX_COLUMNS)
    columns = ceil(len(panels) / rows)
    titles = [fill(title, 25) for title in panels]
    height = 1.4 if any("\n" in title for title in titles) else 1.25
    size = (max(0.7 + 1.8 * columns, 4.0), 1.1 + height * rows)
    figure, axes = _panels(rows, columns, size, sharex=True, sharey=True)
    for axis, title, panel in zip(axes, titles, panels.values(), strict=False):
        for losses in panel:
            _draw_losses(axis, losses, top)
        axis.set_title(title, fontsize=8.5)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
    for axis in axes[len(panels) :]:
        axis.remove()
    for axis in axes[: len(panels)][-columns:]:  # the lowest of each column
        axis.tick_params(labelbottom=True)
    for axis in axes[(rows - 1) * columns : len(panels)]:
        axis.set_xlabel("epoch", fontsize=8)
    axes[0].set_ylim(-0.03 * top, top)
    figure.suptitle("{0.dataset}, fold {0.fold}, seed {0.seed}".format(curves[0][0]), fontsize=10)
    figure.supylabel(f"loss, cut off at {top:.2g}" if clipped else "loss", fontsize=9)
    _legend(figure, "outside lower center", columns=3)
    return figure


def _draw_losses(axis: Axes, losses: Losses, top: float) -> None:
    """Draw one training, with a note of its maximum where it exceeds the panel."""
    train, val = losses.T
    epochs = np.arange(1, len(val) + 1)
    axis.plot(epochs, train, "--", color="C1", linewidth=0.9, label="training")
    axis.plot(epochs, val, color="C0", linewidth=1.1, label="validation")
    if np.isfinite(val).any():
        best = np.nanargmin(val)
        axis.plot(epochs[best], val[best], "o", color="C0", markersize=4, label="lowest validation")
    highest = np.max(losses, initial=0, where=np.isfinite(losses))
    if highest > top:
        style: dict[str, Any] = {"size": 6.5, "color": "0.3", "ha": "right", "va": "top"}
        note = f"up to {highest:.3g}"
        axis.text(0.97, 0.95, note, transform=axis.transAxes, bbox=HALO, zorder=9, **style)


def _loss_limit(curves: Sequence[Losses]) -> tuple[float, bool]:
    """Return the upper end of the axis of losses, and whether it clips a curve.

    A single spike would flatten all curves: values far out by Tukey's rule (more than three
    interquartile ranges above the upper quartile) are clipped if the maximum is far higher. The
    lowest validation loss of every training and the median first loss stay visible.
    """
    values = np.concatenate([losses.ravel() for losses in curves])
    values = values[np.isfinite(values)]
    if not values.size:
        return 1.0, False
    low, high = np.quantile(values, [0.25, 0.75])
    validation = [losses[:, 1][np.isfinite(losses[:, 1])] for losses in curves]
    lowest = max((finite.min() for finite in validation if finite.size), default=0.0)
    first = [losses[0].max() for losses in curves if np.isfinite(losses[0]).all()]
    usual = float(np.median(first)) if first else 0.0
    fence = float(max(high + 3 * (high - low), 1.2 * lowest, usual))
    highest = float(values.max())
    return (fence, True) if highest > 3 * fence > 0 else (1.05 * highest or 1.0, False)


def _title(protocol: Protocol, unit: Unit) -> str:
    return str(Line.of(protocol, unit.system, unit.tree, unit.config))


def _natural(name: str) -> list[tuple[int, str]]:
    """Key for natural sorting: numbers in names by value."""
    return [
        (int(part), "") if part.isdecimal() else (0, part)
        for part in re.split(r"(\d+)", name.casefold())
    ]


def _first_of_name(lines: Sequence[Line]) -> set[Line]:
    """Return the first of the lines that differ in the tree alone, for the published marks."""
    first: dict[str, Line] = {}
    for line in lines:
        first.setdefault(line.name, line)
    return set(first.values())


def _legend(figure: Figure, location: Location, columns: int) -> None:
    """Add one legend for all panels."""
    handles = {
        str(artist.get_label()): artist
        for axis in figure.axes
        for artist in axis.get_legend_handles_labels()[0]
    }
    if handles:
        figure.legend(handles.values(), handles.keys(), loc=location, fontsize=7, ncols=columns)


def _panels(
    rows: int, columns: int, size: tuple[float, float], **more: Any
) -> tuple[Figure, Sequence[Axes]]:
    """Create a figure and its panels, row by row."""
    figure = new_figure(*size, layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **more).ravel())
