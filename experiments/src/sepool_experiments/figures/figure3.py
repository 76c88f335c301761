"""Figures 3, A.2 and A.3: a ring and a grid, reconstructed from pooled features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import hsv_to_rgb
from numpy.typing import NDArray

from sepool.viz.colours import GREY, INK, PALE
from sepool.viz.drawing import new_figure
from sepool_experiments.figures.figure3_table import errors_of, line_name, rows_of
from sepool_experiments.figures.journal import Row, Trained, kept_arrays
from sepool_experiments.figures.reconstruction import Reconstruction
from sepool_experiments.figures.shapes import SHAPES, Shape
from sepool_experiments.protocols.figures import Figure
from sepool_experiments.protocols.units import Unit
from sepool_experiments.tables import MISSING

MARGIN = 0.12  # around the original, relative to its width


def train(units: Sequence[Unit], figure: Figure, device: str) -> Iterator[Trained]:
    """Train units that differ in the seed alone."""
    training = Reconstruction(units, figure, SHAPES[units[0].dataset](), device)
    for result, points in training.rebuilt():
        mse, pick = result.val_loss, training.pick
        row: dict[str, Any] = {
            "epochs": result.epochs,
            "best_epoch": result.best_epoch,
            "mse": float(f"{mse:.6g}") if np.isfinite(mse) else None,
            "seconds": round(result.seconds, 3),
        }
        if pick is not None:
            row.update(height=pick.tree.height, level=pick.level, clusters=pick.clusters)
        yield result.unit, row, points, f"MSE {mse:.3g}, {result.epochs:,} epochs"


def draw(out: Path, figure: Figure, rows: Sequence[Row]) -> Any:
    """Draw the original and the reconstructions of seed 0, with the mean error over seeds."""
    graphs = figure.datasets
    drawn = new_figure(1.75 * (1 + len(figure.systems)), 2.0 * len(graphs) + 0.2)
    axes = drawn.subplots(len(graphs), 1 + len(figure.systems), squeeze=False)
    drawn.subplots_adjust(left=0.01, right=0.99, bottom=0.06, top=0.93, wspace=0.06, hspace=0.12)
    for graph, line in zip(graphs, axes, strict=True):
        shape = SHAPES[graph]()
        points = kept_arrays(out, figure, graph)
        panel(line[0], shape, shape.points)
        for axis, system in zip(line[1:], figure.systems, strict=True):
            unit = figure.units([graph], [system])[0]  # seed 0, first configuration
            cell = rows_of(rows, line_name(unit), graph)
            panel(axis, shape, points.get(unit.key))
            text = _format_error(errors_of(cell).mean()) if cell else MISSING
            axis.set_xlabel(text, fontsize=9, color=INK, labelpad=3)
    for axis, title in zip(axes[0], ("original", *figure.systems), strict=True):
        axis.set_title(title, fontsize=11, color=INK)
    return drawn


def panel(axis: Axes, shape: Shape, points: NDArray[np.float32] | None) -> None:
    """Draw a graph with nodes at these points, on the axes of the original."""
    low, high = shape.points.min(0), shape.points.max(0)
    margin = MARGIN * (high - low)
    axis.set_xlim(low[0] - margin[0], high[0] + margin[0])
    axis.set_ylim(low[1] - margin[1], high[1] + margin[1])
    axis.set_aspect("equal")
    axis.set_xticks([])
    axis.set_yticks([])
    for side in axis.spines.values():
        side.set_color(PALE)
    if points is None:
        axis.text(0.5, 0.5, MISSING, transform=axis.transAxes, ha="center", color=GREY)
        return
    large = len(points) > 400  # rasterized to keep the SVG file small
    lines = LineCollection(list(points[shape.edges]), colors=GREY, linewidths=0.4)
    lines.set_rasterized(large)
    axis.add_collection(lines)
    style: dict[str, Any] = {"s": 3 if large else 4, "linewidths": 0, "zorder": 2}
    axis.scatter(points[:, 0], points[:, 1], c=_hues(shape), rasterized=large, **style)


def _hues(shape: Shape) -> NDArray[np.float64]:
    """Return a colour for every node, by its position in the original."""
    low, high = shape.points.min(0), shape.points.max(0)
    x, y = (2 * (shape.points - low) / (high - low) - 1).T
    hue = (np.arctan2(y, x) / (2 * np.pi)) % 1
    radius = np.clip(np.hypot(x, y), 0, 1)
    return np.asarray(hsv_to_rgb(np.column_stack([hue, 0.25 + 0.6 * radius, 0.45 + 0.4 * radius])))


def _format_error(value: float) -> str:
    """Format an error with a power of ten."""
    if not np.isfinite(value):
        return "MSE not finite"
    digits, _, power = f"{value:.1e}".partition("e")
    return rf"MSE ${digits}\times10^{{{int(power)}}}$"
