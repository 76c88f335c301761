"""Draws a small graph and its coding tree side by side; a cluster has the same colour in both."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")  # pictures go to files: no window, no display needed

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
HUES = (0.53, 1.38)  # from blue over red to green; hues go round in a circle of length 1
INK = "#40454d"
NOTE = {"size": 14, "color": INK, "ha": "right", "va": "center"}
BRIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue, as the eye has it


def draw(graph: nx.Graph, tree: sepool.CodingTree, path: str) -> None:
    """Writes the picture; the format goes by the file's suffix."""
    figure = plt.figure(figsize=(10, 4.6))
    left, right = (figure.add_axes((x, 0, width, 1)) for x, width in ((0, 0.58), (0.57, 0.43)))
    colours = colours_of(tree)
    draw_graph(left, graph, tree, colours)
    draw_tree(right, tree, colours)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    if path.endswith(".png"):  # a palette is enough, and makes a third of the size
        Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


def colours_of(tree: sepool.CodingTree) -> list[Array]:
    """The colours of every level's nodes: hues are handed out from the root down, by size."""
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
        strength = np.full((len(share), 2), (0.04 + 0.7 * depth**1.3, 0.99 - 0.2 * depth))
        colours.append(hsv_to_rgb(np.column_stack([(low + high) / 2 % 1, strength])))
    return colours[::-1]


def draw_graph(axes: Axes, graph: nx.Graph, tree: sepool.CodingTree, colours: list[Array]) -> None:
    """The graph, with a rounded hull around every cluster of every level."""
    place = layout(graph, tree)
    for level in range(1, tree.height):
        pen = 2 * (13 * level + 2)  # the convex hull, drawn with a pen as wide as the margin
        for cluster, colour in enumerate(colours[level]):
            corners = hull(place[tree.members(level, cluster)])
            blob = Polygon(corners, color=colour, lw=pen, joinstyle="round", zorder=-level)
            axes.add_patch(blob).set(capstyle="round", clip_on=False)
    for u, v in nx.convert_node_labels_to_integers(graph).edges:
        axes.plot(*place[[u, v]].T, color=INK, alpha=0.4, lw=0.8, zorder=1)
    axes.scatter(*place.T, s=205, color=colours[0], edgecolors="white", linewidths=1, zorder=2)
    for i, ((x, y), colour) in enumerate(zip(place, colours[0], strict=True)):
        ink = "black" if colour @ BRIGHTNESS > 0.45 else "white"
        axes.text(x, y, str(i), size=10, color=ink, ha="center", va="center", zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.16)
    axes.axis("off")


def hull(points: Array) -> Array:
    """The convex hull, corner by corner (Andrew's monotone chain)."""
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
    """Places whose distances follow the tree first and the graph second (stress by SMACOF)."""
    apart = np.zeros((tree.num_nodes, tree.num_nodes))
    for level in range(tree.height):
        labels = tree.labels(level)
        apart += (labels[:, None] != labels) * (1 + 0.55 * level)
    wanted = apart * (0.6 + 0.2 * nx.floyd_warshall_numpy(graph, weight=None))
    weight = np.divide(1, wanted**2, out=np.zeros_like(wanted), where=wanted > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)

    squares = wanted**2 - (wanted**2).mean(axis=0)
    place = np.linalg.eigh(squares.mean(axis=1, keepdims=True) - squares)[1][:, [-1, -2]]
    for _ in range(rounds):
        distance = np.linalg.norm(place[:, None] - place, axis=2)
        pull = np.divide(weight * wanted, distance, out=np.zeros_like(wanted), where=distance > 0)
        place = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ place

    first = place[tree.labels(tree.height - 1) == 0].mean(axis=0) - place.mean(axis=0)
    return place * np.where(first * (1, -1) > 0, -1, 1)  # the first cluster left, and rather high


def draw_tree(axes: Axes, tree: sepool.CodingTree, colours: list[Array]) -> None:
    """The root at the top, the leaves below it in an order in which no two branches cross."""
    order = np.lexsort([tree.labels(level) for level in range(tree.height)])
    x = np.argsort(order).astype(float)
    for level, colour in enumerate(colours):
        sizes = 15 + 65 * np.sqrt(tree.cluster_sizes(level) / tree.cluster_sizes(level).mean())
        sizes = sizes if level else 40  # or leaves cover each other
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
