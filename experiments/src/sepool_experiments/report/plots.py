"""Plots of results: accuracies with intervals, and training curves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sepool.extras import needs
from sepool_experiments.protocols.catalog import Protocol
from sepool_experiments.protocols.units import Unit
from sepool_experiments.report.cells import Cell, Line

with needs("bench", "sepool_experiments.report.plots"):
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from sepool.viz.drawing import HALO, new_figure, save_figure

Curve = tuple[Unit, list[tuple[float, float]]]
Losses = NDArray[np.float64]  # a row an epoch: training, validation
Place = Literal["outside upper right", "outside lower center"]
BESIDE = 0.06
COLUMNS = 6  # at most, of panels


def write_plots(
    protocol: Protocol, table_cells: Sequence[Cell], curves: Sequence[Curve], folder: Path
) -> list[Path]:
    """Draws what there is to draw and returns the files."""
    mine = [curve for curve in curves if _shown(curve[0], protocol, table_cells)]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    if any(cell.selected["customary"] for cell in table_cells):
        path = folder / f"{protocol.name}-accuracy.png"
        save_figure(accuracy_plot(table_cells), path)
        paths.append(path)
    if protocol.rows_by == "name" and all(cell.line.variant.isdecimal() for cell in table_cells):
        path = folder / f"{protocol.name}-depth.png"
        what = "blocks" if "blocks" in protocol.title else "convolutions"
        save_figure(depth_plot(table_cells, what), path)
        paths.append(path)
    for dataset in dict.fromkeys(unit.dataset for unit, _ in mine):
        path = folder / f"{protocol.name}-curves-{dataset}.png"
        shown = [curve for curve in mine if curve[0].dataset == dataset]
        save_figure(curve_plot(protocol, shown), path)
        paths.append(path)
    return paths


def _shown(unit: Unit, protocol: Protocol, table_cells: Sequence[Cell]) -> bool:
    """Of each system the configuration that the customary rule has chosen."""
    line = Line.of(protocol, unit.system, unit.tree, unit.config)
    return unit.protocol == protocol.name and any(
        (cell.line, cell.dataset) == (line, unit.dataset)
        and (chosen := cell.selected["customary"]) is not None
        and str(unit.config) in chosen.configs
        for cell in table_cells
    )


def accuracy_plot(table_cells: Sequence[Cell]) -> Figure:
    """Accuracy by system, a panel a dataset: mean with 95 % interval, and what was published."""
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
            place = lines.index(cell.line)
            if cell.published and cell.line in first:
                axis.plot(cell.published.mean, place, "x", color="0.5", label="published")
            if chosen := cell.selected["customary"]:
                low, high = chosen.interval()
                error = [[chosen.mean - low], [high - chosen.mean]]
                axis.errorbar(chosen.mean, place, xerr=error, fmt="o", color="C0", label="measured")
        axis.set_title(dataset, fontsize=9)
        axis.set_yticks(range(len(lines)), [str(line) for line in lines], fontsize=8)
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_ylim(len(lines) - 0.5, -0.5)  # the first on top, half a row of room at both ends
    _legend(figure, "outside upper right", columns=2)
    figure.supxlabel("test accuracy in percent, 95 % interval over seeds", fontsize=8)
    return figure


def depth_plot(table_cells: Sequence[Cell], what: str = "blocks") -> Figure:
    """Accuracy by depth, a panel a dataset and a line a system; dashed what was published."""
    datasets = list(dict.fromkeys(cell.dataset for cell in table_cells))
    kinds = list(dict.fromkeys((cell.line.system, cell.line.tree) for cell in table_cells))
    first = _first_of_name([cell.line for cell in table_cells])
    figure, axes = _panels(1, len(datasets), (1.0 + 3.2 * len(datasets), 3.4))
    for axis, dataset in zip(axes, datasets, strict=True):
        for number, kind in enumerate(kinds):
            here = [
                (int(cell.line.variant), cell)
                for cell in table_cells
                if (cell.line.system, cell.line.tree) == kind and cell.dataset == dataset
            ]
            known = [
                (depth, cell.published.mean)
                for depth, cell in here
                if cell.published and cell.line in first
            ]
            found = [
                (depth, chosen.mean, *chosen.interval())
                for depth, cell in here
                if (chosen := cell.selected["customary"])
            ]
            color = f"C{number}"
            if known:
                label = f"{kind[0]}, published"
                # A line of one point is not seen; the marker is that of the other plot.
                axis.plot(*zip(*known, strict=True), "x--", color=color, lw=0.8, ms=5, label=label)
            if found:
                depth, mean, low, high = np.array(found, float).T
                beside = depth + BESIDE * (number - (len(kinds) - 1) / 2)  # or intervals overlap
                error, label = [mean - low, high - mean], str(Line(*kind))
                axis.errorbar(beside, mean, error, fmt="o-", ms=4, color=color, label=label)
        axis.set_title(dataset, fontsize=9)
        axis.set_xlabel(f"number of {what}", fontsize=8)
        axis.tick_params(labelsize=8)
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("test accuracy in percent,\n95 % interval over seeds", fontsize=8)
    _legend(figure, "outside lower center", columns=6)
    return figure


def curve_plot(protocol: Protocol, curves: Sequence[Curve]) -> Figure:
    """Loss by epoch of a few trainings: a panel a line of the table, all on the same scales."""
    panels: dict[str, list[Losses]] = {}
    for unit, curve in sorted(curves, key=lambda found: _natural(_title(protocol, found[0]))):
        panels.setdefault(_title(protocol, unit), []).append(np.array(curve, float))
    top, cut = _loss_limit([losses for shown in panels.values() for losses in shown])
    rows = ceil(len(panels) / COLUMNS)
    columns = ceil(len(panels) / rows)
    titles = [fill(title, 25) for title in panels]
    high = 1.4 if any("\n" in title for title in titles) else 1.25
    size = (max(0.7 + 1.8 * columns, 4.0), 1.1 + high * rows)
    figure, axes = _panels(rows, columns, size, sharex=True, sharey=True)
    for axis, title, shown in zip(axes, titles, panels.values(), strict=False):
        for losses in shown:
            _draw_losses(axis, losses, top)
        axis.set_title(title, fontsize=8.5)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
    for axis in axes[len(panels) :]:
        axis.remove()
    for axis in axes[: len(panels)][-columns:]:  # those with nothing below them
        axis.tick_params(labelbottom=True)
    for axis in axes[(rows - 1) * columns : len(panels)]:
        axis.set_xlabel("epoch", fontsize=8)
    axes[0].set_ylim(-0.03 * top, top)
    figure.suptitle("{0.dataset}, fold {0.fold}, seed {0.seed}".format(curves[0][0]), fontsize=10)
    figure.supylabel(f"loss, cut off at {top:.2g}" if cut else "loss", fontsize=9)
    _legend(figure, "outside lower center", columns=3)
    return figure


def _draw_losses(axis: Axes, losses: Losses, top: float) -> None:
    """One training; where it leaves the panel, a note says how high it gets."""
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
    """Where to end the axis of losses, and whether that cuts something off.

    A single spike would flatten all the rest: values far out by Tukey's rule (three times the
    distance between the quartiles above the upper one) do not count, if they are far higher. The
    lowest validation loss of every training stays in view, and where trainings usually begin.
    """
    values = np.concatenate([losses.ravel() for losses in curves])
    values = values[np.isfinite(values)]
    if not values.size:
        return 1.0, False
    low, high = np.quantile(values, [0.25, 0.75])
    validation = [losses[:, 1][np.isfinite(losses[:, 1])] for losses in curves]
    lowest = max((found.min() for found in validation if found.size), default=0.0)
    starts = [losses[0].max() for losses in curves if np.isfinite(losses[0]).all()]
    usual = float(np.median(starts)) if starts else 0.0
    fence = float(max(high + 3 * (high - low), 1.2 * lowest, usual))
    highest = float(values.max())
    return (fence, True) if highest > 3 * fence > 0 else (1.05 * highest or 1.0, False)


def _title(protocol: Protocol, unit: Unit) -> str:
    return str(Line.of(protocol, unit.system, unit.tree, unit.config))


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts names as people do: numbers in them by their value."""
    return [
        (int(part), "") if part.isdecimal() else (0, part)
        for part in re.split(r"(\d+)", name.casefold())
    ]


def _first_of_name(lines: Sequence[Line]) -> set[Line]:
    """Of lines that differ in the tree alone, the first: what was published is said once."""
    first: dict[str, Line] = {}
    for line in lines:
        first.setdefault(line.name, line)
    return set(first.values())


def _legend(figure: Figure, place: Place, columns: int) -> None:
    """One legend for all panels, beside them."""
    found = {
        str(artist.get_label()): artist
        for axis in figure.axes
        for artist in axis.get_legend_handles_labels()[0]
    }
    if found:
        figure.legend(found.values(), found.keys(), loc=place, fontsize=7, ncols=columns)


def _panels(
    rows: int, columns: int, size: tuple[float, float], **more: Any
) -> tuple[Figure, Sequence[Axes]]:
    """A figure and its panels, row by row."""
    figure = new_figure(*size, layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **more).ravel())
