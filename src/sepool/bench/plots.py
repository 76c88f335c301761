"""Plots of results: accuracies with intervals, and training curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sepool.bench.cells import Cell, Line
from sepool.bench.protocols import Protocol
from sepool.bench.units import Unit
from sepool.io import atomic_write

Curve = tuple[Unit, list[tuple[float, float]]]
BESIDE = 0.06
_COLOURS = [f"C{number}" for number in range(10)] + ["#17449b", "#8c6d31", "#843c39", "#000000"]
# matplotlib writes its version into a file, which would then differ without a reason.
_SAVE: dict[str, Any] = {"dpi": 120, "metadata": {"Software": None}}


def write_plots(
    protocol: Protocol, table_cells: Sequence[Cell], curves: Sequence[Curve], folder: Path
) -> list[Path]:
    """Draws what there is to draw and returns the files."""
    mine = [curve for curve in curves if _shown(curve[0], protocol, table_cells)]
    paths = []
    if any(cell.selected["customary"] for cell in table_cells):
        path = folder / f"{protocol.name}-accuracy.png"
        _save(accuracy_plot(table_cells), path)
        paths.append(path)
    if protocol.rows_by == "name" and all(cell.line.variant.isdecimal() for cell in table_cells):
        path = folder / f"{protocol.name}-depth.png"
        what = "blocks" if "blocks" in protocol.title else "convolutions"
        _save(depth_plot(table_cells, what), path)
        paths.append(path)
    for dataset in dict.fromkeys(unit.dataset for unit, _ in mine):
        path = folder / f"{protocol.name}-curves-{dataset}.png"
        shown = [curve for curve in mine if curve[0].dataset == dataset]
        _save(curve_plot(protocol, shown), path)
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


def accuracy_plot(table_cells: Sequence[Cell]) -> Any:
    """Accuracy by system, a panel a dataset: mean with 95 % interval, and what was published."""
    datasets = [
        dataset
        for dataset in dict.fromkeys(cell.dataset for cell in table_cells)
        if any(c.selected["customary"] for c in table_cells if c.dataset == dataset)
    ]
    lines = list(dict.fromkeys(cell.line for cell in table_cells))
    first = _first_of_name(lines)
    size = (2.2 + 2.2 * len(datasets), 1.4 + 0.28 * len(lines))
    figure, axes = _figure(1, len(datasets), size, sharey=True)
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
        axis.grid(axis="x", alpha=0.3)
    axes[0].invert_yaxis()
    _legend(figure, "outside upper right", columns=2)
    figure.supxlabel("test accuracy in percent, 95 % interval over seeds", fontsize=8)
    return figure


def depth_plot(table_cells: Sequence[Cell], what: str = "blocks") -> Any:
    """Accuracy by depth, a panel a dataset and a line a system; dashed what was published."""
    datasets = list(dict.fromkeys(cell.dataset for cell in table_cells))
    kinds = list(dict.fromkeys((cell.line.system, cell.line.tree) for cell in table_cells))
    first = _first_of_name([cell.line for cell in table_cells])
    figure, axes = _figure(1, len(datasets), (1.0 + 3.2 * len(datasets), 3.4))
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
                axis.plot(*zip(*known, strict=True), "--", color=color, linewidth=0.8, label=label)
            if found:
                depth, mean, low, high = np.array(found, float).T
                beside = depth + BESIDE * (number - (len(kinds) - 1) / 2)  # or intervals overlap
                error, label = [mean - low, high - mean], str(Line(*kind))
                axis.errorbar(beside, mean, error, fmt="o-", ms=4, color=color, label=label)
        axis.set_title(dataset, fontsize=9)
        axis.set_xlabel(f"number of {what}", fontsize=8)
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("test accuracy in percent,\n95 % interval over seeds", fontsize=8)
    _legend(figure, "outside lower center", columns=6)
    return figure


def curve_plot(protocol: Protocol, curves: Sequence[Curve]) -> Any:
    """Loss by epoch of a few trainings: training dashed, validation solid, the lowest marked."""
    figure, (axis,) = _figure(1, 1, (8.0, 4.0))
    for number, (unit, curve) in enumerate(curves):
        train, val = np.array(curve, float).T
        color = _COLOURS[number % len(_COLOURS)]
        label = str(Line.of(protocol, unit.system, unit.tree, unit.config))
        epochs = np.arange(1, len(val) + 1)
        axis.plot(epochs, train, "--", color=color, linewidth=0.8)
        axis.plot(epochs, val, color=color, linewidth=1.2, label=label)
        if np.isfinite(val).any():
            best = np.nanargmin(val)
            axis.plot(epochs[best], val[best], "o", color=color, markersize=4)
    axis.set_xlabel("epoch")
    axis.set_ylabel("loss (dashed: training)")
    axis.set_title(f"{curves[0][0].dataset}, fold {curves[0][0].fold}, seed {curves[0][0].seed}")
    _legend(figure, "outside right upper", columns=1)
    return figure


def _first_of_name(lines: Sequence[Line]) -> set[Line]:
    """Of lines that differ in the tree alone, the first: what was published is said once."""
    first: dict[str, Line] = {}
    for line in lines:
        first.setdefault(line.name, line)
    return set(first.values())


def _legend(figure: Any, place: str, columns: int) -> None:
    """One legend for all panels, beside them."""
    found = {
        artist.get_label(): artist
        for axis in figure.axes
        for artist in axis.get_legend_handles_labels()[0]
    }
    if found:
        figure.legend(found.values(), found.keys(), loc=place, fontsize=7, ncols=columns)


def _figure(rows: int, columns: int, size: tuple[float, float], **more: Any) -> tuple[Any, Any]:
    """A figure without pyplot: no window, no state that another plot could see."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **more).ravel()


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", **_SAVE)
