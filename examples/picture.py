"""Picture of a small graph next to its coding tree, with equal colours for equal clusters."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")  # files only, without a display

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb
from matplotlib.patches import Polygon
from numpy.typing import NDArray
from PIL import Image

import sepool

Array = NDArray[np.float64]
HUES = (0.53, 1.38)  # from blue over red to green; a full circle is 1
INK = "#40454d"
NOTE = {"size": 14, "color": INK, "ha": "right", "va": "center"}
BRIGHTNESS = (0.299, 0.587, 0.114)  # perceived shares of red, green and blue


def draw(graph: nx.Graph, tree: sepool.CodingTree, path: str) -> None:
    """Write the picture in the format of the suffix."""
    figure = plt.figure(figsize=(10, 4.6))
    left, right = (figure.add_axes((x, 0, width, 1)) for x, width in ((0, 0.58), (0.57, 0.43)))
    colours = colours_of(tree)
    draw_graph(left, graph, tree, colours)
    draw_tree(right, tree, colours)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    if path.endswith(".png"):  # a palette makes a third of the size
        Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


def colours_of(tree: sepool.CodingTree) -> list[Array]:
    """Return the colours of the nodes of every level; children divide the hues of their parent."""
    low, high = (np.array([hue]) for hue in HUES)
    colours = [np.array([[0.45, 0.47, 0.5]])]
    for level in reversed(range(tree.height)):
        parent, share = tree.assignment(level + 1), tree.cluster_sizes(level).astype(float)
        share *= ((high - low) / tree.cluster_sizes(level + 1))[parent]
        start = np.empty(len(share))
        order = np.argsort(parent, kind="stable")
        firsts = np.flatnonzero(np.diff(parent[order], prepend=-1))
        before = np.cumsum(share[order]) - share[order]
        start[order] = before - np.repeat(before[firsts], np.diff([*firsts, len(share)]))
        low = low[parent] + start
        high = low + share
        depth = (tree.height - level) / tree.height
        saturation = np.full((len(share), 2), (0.04 + 0.7 * depth**1.3, 0.99 - 0.2 * depth))
        colours.append(hsv_to_rgb(np.column_stack([(low + high) / 2 % 1, saturation])))
    return colours[::-1]


def draw_graph(axes: Axes, graph: nx.Graph, tree: sepool.CodingTree, colours: list[Array]) -> None:
    """Draw the graph with a rounded hull around every cluster of every level."""
    position = layout(graph, tree)
    for level in range(1, tree.height):
        pen = 2 * (13 * level + 2)  # the line width is twice the margin of the hull
        for cluster, colour in enumerate(colours[level]):
            corners = hull(position[tree.members(level, cluster)])
            blob = Polygon(corners, color=colour, lw=pen, joinstyle="round", zorder=-level)
            axes.add_patch(blob).set(capstyle="round", clip_on=False)
    for u, v in nx.convert_node_labels_to_integers(graph).edges:
        axes.plot(*position[[u, v]].T, color=INK, alpha=0.4, lw=0.8, zorder=1)
    axes.scatter(*position.T, s=205, color=colours[0], edgecolors="white", linewidths=1, zorder=2)
    for i, ((x, y), colour) in enumerate(zip(position, colours[0], strict=True)):
        ink = "black" if colour @ BRIGHTNESS > 0.45 else "white"
        axes.text(x, y, str(i), size=10, color=ink, ha="center", va="center", zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.16)
    axes.axis("off")


def hull(points: Array) -> Array:
    """Return the corners of the convex hull (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))
    corners: list[tuple[float, ...]] = []
    for chain in (ordered, ordered[::-1]):
        start = len(corners)
        for x, y in chain:
            while len(corners) >= start + 2:
                (ax, ay), (bx, by) = corners[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                corners.pop()
            corners.append((x, y))
        corners.pop()
    return np.array(corners or ordered)


def layout(graph: nx.Graph, tree: sepool.CodingTree, rounds: int = 500) -> Array:
    """Return positions by stress majorisation, with distances by the tree, then by the graph."""
    separation = np.zeros((tree.num_nodes, tree.num_nodes))
    for level in range(tree.height):
        labels = tree.labels(level)
        separation += (labels[:, None] != labels) * (1 + 0.55 * level)
    target = separation * (0.6 + 0.2 * nx.floyd_warshall_numpy(graph, weight=None))
    weight = np.divide(1, target**2, out=np.zeros_like(target), where=target > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)

    squares = target**2 - (target**2).mean(axis=0)
    position = np.linalg.eigh(squares.mean(axis=1, keepdims=True) - squares)[1][:, [-1, -2]]
    for _ in range(rounds):
        distance = np.linalg.norm(position[:, None] - position, axis=2)
        pull = np.divide(weight * target, distance, out=np.zeros_like(target), where=distance > 0)
        position = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ position

    first = position[tree.labels(tree.height - 1) == 0].mean(axis=0) - position.mean(axis=0)
    return position * np.where(first * (1, -1) > 0, -1, 1)  # the first cluster at the upper left


def draw_tree(axes: Axes, tree: sepool.CodingTree, colours: list[Array]) -> None:
    """Draw the tree with the root at the top and no crossing branches."""
    order = np.lexsort([tree.labels(level) for level in range(tree.height)])
    x = np.argsort(order).astype(float)
    for level, colour in enumerate(colours):
        sizes = 15 + 65 * np.sqrt(tree.cluster_sizes(level) / tree.cluster_sizes(level).mean())
        sizes = sizes if level else 40  # larger leaves would overlap
        axes.scatter(x, np.full(len(x), level), s=sizes, color=colour, ec="white", zorder=2)
        count = tree.num_clusters(level)
        what = f"{count} nodes" if level == 0 else "the root" if count == 1 else f"{count} clusters"
        note = f"level {level}\n{what}"
        axes.annotate(note, (0, level), (-14, 0), textcoords="offset points", **NOTE)
        if level == tree.height:
            break
        parent = tree.assignment(level + 1)
        above = np.bincount(parent, x) / np.bincount(parent)
        for i, p in enumerate(parent):
            axes.plot([x[i], above[p]], [level, level + 1], color=colour[i], lw=2, zorder=1)
        x = above
    axes.set_xlim(-0.43 * tree.num_nodes, tree.num_nodes)
    axes.margins(y=0.08)
    axes.axis("off")
