"""What the pictures share: a bare figure, and files that depend on nothing but their input."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.files.atomic import StrPath, atomic_write, check_output
from sepool.viz.colours import INK

FORMATS = (".png", ".svg")
DPI = 150
LEAST = 14.0
Box = tuple[float, float, float, float]
HALO: dict[str, Any] = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    """An empty figure that no window and no global state knows of; sizes are in inches."""
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    return figure


@contextmanager
def quiet_fonts() -> Iterator[None]:
    """No warning for every letter that a font lacks: names come in all scripts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def picture_suffix(path: StrPath) -> str:
    """The format a picture's name asks for.

    Example:
        >>> picture_suffix("tree.gif")
        Traceback (most recent call last):
        ValueError: cannot draw into tree.gif: expected a name that ends in .png or .svg
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"cannot draw into {os.fspath(path)}: expected a name that ends in "
            f"{' or '.join(FORMATS)}"
        )
    return suffix


def save_figure(figure: Figure, path: StrPath) -> None:
    """Writes a ``.png`` or ``.svg`` file, whole or not at all; no date and no version go in.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_figure(new_figure(2, 1), f"{folder}/empty.svg")
        ...     open(f"{folder}/empty.svg").read(5)
        '<?xml'
    """
    suffix = picture_suffix(check_output(path))
    metadata: dict[str, Any] = {"Software": None}
    if suffix == ".svg":
        metadata = {"Date": None, "Creator": None}
    settings: Any = {"svg.hashsalt": "sepool", "svg.fonttype": "none"}
    with quiet_fonts(), matplotlib.rc_context(settings), atomic_write(path) as file:
        figure.savefig(file, format=suffix[1:], dpi=DPI, metadata=metadata)


def plain(text: str, most: int = 24) -> str:
    """A name as matplotlib shall draw it: cut short, on one line, and no formula in it.

    Example:
        >>> plain("cost in $ " + 30 * "x", most=14)
        'cost in \\\\$ xxx…'
    """
    line = "".join(c if c.isprintable() else " " for c in text)
    short = line if len(line) <= most else line[: most - 1] + "…"
    return short.replace("$", r"\$")


def clear_axes(axes: Axes, box: Box) -> None:
    """No frame, equal scales, this box (left, bottom, right, top) in view."""
    axes.set_xlim(box[0], box[2])
    axes.set_ylim(box[1], box[3])
    axes.set_aspect("equal")
    axes.axis("off")


def box_around(
    centre: NDArray[np.complex128], radius: NDArray[np.float64], flattest: float = 0.5
) -> Box:
    """The box around disks, with some air, and neither flat nor thin nor so small that the few
    nodes of a graph (of radius 1) would fill it."""
    left, right = (centre.real - radius).min(), (centre.real + radius).max()
    low, high = (centre.imag - radius).min(), (centre.imag + radius).max()
    air = 0.02 * max(right - left, high - low)
    width, height = right - left + 2 * air, high - low + 2 * air
    width, height = max(width, LEAST), max(height, flattest * LEAST)
    width, height = max(width, flattest * height), max(height, flattest * width)
    x, y = (left + right) / 2, (low + high) / 2
    return float(x - width / 2), float(y - height / 2), float(x + width / 2), float(y + height / 2)


def points_a_unit(axes: Axes) -> float:
    """How many points (1/72 inch) a unit of the data is wide; the axes must have their limits."""
    (x0, _), (x1, _) = axes.transData.transform([(0, 0), (1, 0)])
    return float((x1 - x0) * 72 / axes.figure.dpi)


class Labels:
    """Writes labels into axes, and leaves out those that would cover something or be cut off."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        canvas: Any = axes.figure.canvas
        self.renderer = canvas.get_renderer()
        self.boxes = np.empty((0, 4))
        self.edge = axes.figure.bbox.extents

    def keep_clear(self, centre: NDArray[np.complex128], radius: NDArray[np.float64]) -> None:
        """No label goes over these disks."""
        corners = [centre - radius * (1 + 1j), centre + radius * (1 + 1j)]
        low, high = (
            self.axes.transData.transform(np.column_stack([c.real, c.imag])) for c in corners
        )
        self.boxes = np.concatenate([self.boxes, np.hstack([low, high])])

    def measure(self, text: str, **style: Any) -> complex:
        """How wide and how high a label is, in units of the data."""
        label = self.axes.text(0, 0, text, **style)
        box = label.get_window_extent(self.renderer).transformed(self.axes.transData.inverted())
        label.remove()
        return complex(box.width, box.height)

    def write(self, spots: list[complex], text: str, **style: Any) -> bool:
        """Writes at the first of these spots where there is room; says whether there was."""
        style = {"color": INK, "ha": "center", "va": "center", "zorder": 9, **style}
        label = self.axes.text(0, 0, text, **style)
        for spot in spots:
            label.set_position((spot.real, spot.imag))
            x0, y0, x1, y1 = label.get_window_extent(self.renderer).extents
            b, (left, low, right, high) = self.boxes, self.edge
            if x0 < left or y0 < low or x1 > right or y1 > high:
                continue
            if not ((x0 < b[:, 2]) & (b[:, 0] < x1) & (y0 < b[:, 3]) & (b[:, 1] < y1)).any():
                self.boxes = np.concatenate([b, [[x0 - 1, y0 - 1, x1 + 1, y1 + 1]]])
                return True
        label.remove()
        return False
