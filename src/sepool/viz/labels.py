"""Label placement without overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text
from numpy.typing import NDArray

from sepool.viz.colours import INK


class LabelPlacer:
    """Writes labels that overlap neither each other nor reserved disks, into final axes."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        canvas: Any = axes.figure.canvas
        self.renderer = canvas.get_renderer()
        self.boxes = np.empty((0, 4))  # left, bottom, right, top in pixels
        self.bounds = axes.figure.bbox.extents

    def reserve(self, centre: NDArray[np.complex128], radius: NDArray[np.float64]) -> None:
        """Keep disks free of labels."""
        corners = (centre - radius * (1 + 1j), centre + radius * (1 + 1j))
        low, high = (
            self.axes.transData.transform(np.column_stack([c.real, c.imag])) for c in corners
        )
        self.boxes = np.concatenate([self.boxes, np.hstack([low, high])])

    def avoid(self, label: Text) -> None:
        """Keep the area of a label that is in the axes free of others."""
        box = label.get_window_extent(self.renderer).extents
        self.boxes = np.concatenate([self.boxes, [box]])

    def measure(self, text: str, **style: Any) -> complex:
        """Return width and height of a label in data units, as x + iy."""
        label = self.axes.text(0, 0, text, **style)
        box = label.get_window_extent(self.renderer).transformed(self.axes.transData.inverted())
        label.remove()
        return complex(box.width, box.height)

    def place(self, positions: list[complex], text: str, **style: Any) -> bool:
        """Write a label at the first position with free space; return False without one."""
        style = {"color": INK, "ha": "center", "va": "center", "zorder": 9, **style}
        label = self.axes.text(0, 0, text, **style)
        for position in positions:
            label.set_position((position.real, position.imag))
            x0, y0, x1, y1 = label.get_window_extent(self.renderer).extents
            b, (left, bottom, right, top) = self.boxes, self.bounds
            if x0 < left or y0 < bottom or x1 > right or y1 > top:
                continue
            if not ((x0 < b[:, 2]) & (b[:, 0] < x1) & (y0 < b[:, 3]) & (b[:, 1] < y1)).any():
                self.boxes = np.concatenate([b, [[x0 - 1, y0 - 1, x1 + 1, y1 + 1]]])
                return True
        label.remove()
        return False


def fitting_size(diameter: float, length: int, max_size: float) -> float:
    """Return the font size in points of a text inside a disk; a character is 0.62 of it wide."""
    return min(max_size, diameter / max(0.62 * length, 1.25))


def positions_around(centre: complex, half: complex, radius: float) -> list[complex]:
    """Return centres of labels adjacent to a disk: right, left, below, above, then diagonal."""
    across, up = radius + half.real, radius + half.imag
    offsets = [across + 0j, -across + 0j, -1j * up, 1j * up]
    for x, y in ((across - radius / 4, up / 2), (0.5 * half.real, up), (0.9 * half.real, up)):
        offsets += [complex(x, -y), complex(-x, -y), complex(x, y), complex(-x, y)]
    return [centre + offset for offset in offsets]
