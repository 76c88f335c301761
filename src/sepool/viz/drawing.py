"""Matplotlib figures without global state, files that repeat byte for byte, disks and edges."""

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
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sepool.files.atomic import StrPath, atomic_write, check_output
from sepool.tree import CodingTree
from sepool.viz.coarse_graph import EdgeList
from sepool.viz.colours import GREY, INK

FORMATS = (".png", ".svg", ".pdf")
METADATA: dict[str, dict[str, Any]] = {  # without dates and versions
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
DPI = 150
MIN_EXTENT = 14.0  # of a picture, in radii of a node
MAX_TITLE = 90
Box = tuple[float, float, float, float]  # left, bottom, right, top
HALO: dict[str, Any] = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    """Return an empty figure of a size in inches, unknown to pyplot."""
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    return figure


@contextmanager
def ignore_missing_glyphs() -> Iterator[None]:
    """Suppress the warnings for characters that the font lacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        yield


def picture_format(path: StrPath) -> str:
    """Return the format of a picture by its suffix."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in FORMATS:
        expected = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise ValueError(
            f"cannot draw into {os.fspath(path)}: expected a name that ends in {expected}"
        )
    return suffix[1:]


def save_figure(figure: Figure, path: StrPath) -> None:
    """Write a ``.png``, ``.svg`` or ``.pdf`` file atomically, without date and version.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_figure(new_figure(2, 1), f"{folder}/empty.svg")
        ...     open(f"{folder}/empty.svg").read(5)
        '<?xml'
    """
    format_ = picture_format(check_output(path))
    metadata: Any = METADATA[format_]
    settings: Any = {"svg.hashsalt": "sepool", "svg.fonttype": "none", "pdf.fonttype": 42}
    with ignore_missing_glyphs(), matplotlib.rc_context(settings), atomic_write(path) as file:
        figure.savefig(file, format=format_, dpi=DPI, metadata=metadata)


def single_line(text: str, max_length: int) -> str:
    r"""Return text as matplotlib shall draw it: shortened, on one line, without math.

    Example:
        >>> single_line("cost in $ " + 30 * "x", 14)
        'cost in \\$ xxx…'
    """
    line = "".join(c if c.isprintable() else " " for c in text)
    short = line if len(line) <= max_length else line[: max_length - 1] + "…"
    return short.replace("$", r"\$")


def node_names(tree: CodingTree) -> list[str]:
    """Return the names of the nodes as text, by default their numbers."""
    return list(map(str, range(tree.num_nodes) if tree.names is None else tree.names))


def heading(tree: CodingTree, title: str | None, num_edges: int | None = None) -> str:
    """Return a title, by default the sizes and the entropy of the tree."""
    if title is not None:
        return single_line(title, MAX_TITLE)
    parts = [_counted(tree.num_nodes, "node")]
    if num_edges is not None:
        parts.append(_counted(num_edges, "edge"))
    if tree.height > 1:
        *coarser, last = (f"{tree.num_clusters(level):,}" for level in range(1, tree.height))
        counts = f"{', '.join(coarser)} and {last}" if coarser else last
        parts.append(f"{counts} cluster{'' if counts == '1' else 's'}")
    return f"{', '.join(parts)}: {tree.entropy:.4f} bits"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def frame_axes(axes: Axes, box: Box) -> None:
    """Show a box of the data at equal scales, without axes."""
    axes.set_xlim(box[0], box[2])
    axes.set_ylim(box[1], box[3])
    axes.set_aspect("equal")
    axes.axis("off")


def bounding_box(
    centre: NDArray[np.complex128], radius: NDArray[np.float64], min_aspect: float = 0.5
) -> Box:
    """Return the bounding box of disks with a margin, a least extent and a least aspect ratio."""
    left, right = (centre.real - radius).min(), (centre.real + radius).max()
    bottom, top = (centre.imag - radius).min(), (centre.imag + radius).max()
    margin = 0.04 * max(right - left, top - bottom)
    width = max(right - left + margin, MIN_EXTENT)
    height = max(top - bottom + margin, min_aspect * MIN_EXTENT)
    width, height = max(width, min_aspect * height), max(height, min_aspect * width)
    x, y = (left + right) / 2, (bottom + top) / 2
    return float(x - width / 2), float(y - height / 2), float(x + width / 2), float(y + height / 2)


def points_per_unit(axes: Axes) -> float:
    """Return the length of a data unit in points (1/72 inch); needs the limits of the axes."""
    (x0, _), (x1, _) = axes.transData.transform([(0, 0), (1, 0)])
    return float((x1 - x0) * 72 / axes.figure.dpi)


def draw_edges(axes: Axes, edges: EdgeList, centre: NDArray[np.complex128]) -> None:
    """Draw edges as lines: wider with the weight, fainter with the number of edges."""
    count = len(edges.weight)
    if not count:
        return
    ends = np.stack([centre[edges.u], centre[edges.v]], axis=1)
    order = np.argsort(edges.weight, kind="stable")
    share = np.sqrt(edges.weight / edges.weight.max())[order]
    alpha = float(np.clip(6 / np.sqrt(count), 0.08, 0.6))
    width = float(np.clip(50 / np.sqrt(count), 0.35, 2.6))
    lines = LineCollection(
        list(np.stack([ends.real, ends.imag], axis=2)[order]),
        linewidths=width * (0.3 + 0.7 * share),
        colors=GREY if count < 400 else INK,
        alpha=alpha * (0.25 + 0.75 * share),
        zorder=2,
    )
    axes.add_collection(lines, autolim=False)


def draw_disks(
    axes: Axes,
    centre: NDArray[np.complex128],
    radius: NDArray[np.float64],
    fill: Any,
    zorder: float,
    edge: Any = None,
    alpha: float | None = None,
) -> None:
    """Draw disks of radii in data units."""
    disks = EllipseCollection(
        2 * radius,
        2 * radius,
        np.zeros(len(radius)),
        units="xy",
        offsets=np.column_stack([centre.real, centre.imag]),
        offset_transform=axes.transData,
        facecolors=fill,
        edgecolors="none" if edge is None else edge,
        linewidths=0.0 if edge is None else 0.6,
        alpha=alpha,
        zorder=zorder,
    )
    axes.add_collection(disks, autolim=False)
