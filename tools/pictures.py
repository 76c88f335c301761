"""Draws the pictures of README and docs: `python tools/pictures.py`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import combinations
from math import log2
from pathlib import Path

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "examples"))

import picture
import sepool
from sepool import viz
from sepool.viz.colours import text_on
from sepool.viz.drawing import new_figure

INK, SOFT = "#2b3038", "#9aa3ad"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
# Two triangles joined by a bridge.
BRIDGE = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
PLACES = np.array([(0, 1), (0, -1), (1.3, 0), (3, 0), (4.3, 1), (4.3, -1)], dtype=float)
# A complete graph of four nodes, and three nodes attached to one of them.
EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6)]
NODES = 7


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    club = nx.karate_club_graph()
    picture.draw(club, sepool.coding_tree(club, height=4), str(IMAGES / "karate.png"))
    tree, graph = sepool.coding_tree(club, height=3), sepool.as_graph(club)
    viz.save_figure(viz.plot_levels(tree, graph), IMAGES / "levels.png")
    viz.save_figure(viz.plot_dendrogram(tree), IMAGES / "dendrogram.png")
    draw_bits()
    draw_stages()
    print(f"drew {len(list(IMAGES.iterdir()))} pictures into {IMAGES.relative_to(ROOT)}")


def draw_bits() -> None:
    """What a cluster saves: the same graph without and with clusters, and the bits of both."""
    tree = sepool.coding_tree(BRIDGE, height=2)
    figure = new_figure(8, 2.7)
    flat = sepool.one_dimensional_entropy(BRIDGE)
    shown = (
        (None, f"no clusters: {flat:.3f} bits a step"),
        (tree.labels(1), f"{tree.num_clusters(1)} clusters: {tree.entropy:.3f} bits a step"),
    )
    for i, (labels, title) in enumerate(shown):
        axes = figure.add_axes((0.02 + 0.5 * i, 0.02, 0.46, 0.82))
        if labels is not None:
            for cluster in range(labels.max() + 1):
                corners = picture.hull(PLACES[labels == cluster])
                # A pale colour, not a thin one: the outline lies over the area.
                pale = [0.75 + 0.25 * part for part in to_rgb(COLOURS[cluster])]
                axes.fill(*corners.T, fc=pale, ec=pale, lw=34, joinstyle="round")
        for u, v in BRIDGE:
            axes.plot(*PLACES[[u, v]].T, color=INK, lw=1.5, zorder=2)
        fills = [SOFT] * len(PLACES) if labels is None else [COLOURS[label] for label in labels]
        axes.scatter(*PLACES.T, s=210, color=fills, ec="white", lw=1.5, zorder=3)
        for node, ((x, y), fill) in enumerate(zip(PLACES, fills, strict=True)):
            style = {"color": text_on(fill), "size": 10, "ha": "center", "va": "center"}
            axes.text(x, y, str(node), zorder=4, **style)
        axes.set(xlim=(-1, 5.3), ylim=(-1.9, 1.9), aspect="equal")
        axes.axis("off")
        axes.set_title(title, size=12, color=INK)
    viz.save_figure(figure, IMAGES / "bits.svg")


@dataclass
class Node:
    """A node of a tree that stage after stage is drawn of."""

    members: frozenset[int]
    children: list[Node] = field(default_factory=list)
    new: bool = False

    @property
    def height(self) -> int:
        return 1 + max(child.height for child in self.children) if self.children else 0

    def inner(self) -> list[tuple[Node, Node]]:
        """All inner nodes below this one, each with its parent."""
        found = []
        for child in self.children:
            if child.children:
                found += [(self, child), *child.inner()]
        return found


def volume(nodes: frozenset[int]) -> int:
    return sum((u in nodes) + (v in nodes) for u, v in EDGES)


def between(one: frozenset[int], other: frozenset[int]) -> int:
    return sum((u in one and v in other) or (v in one and u in other) for u, v in EDGES)


def merged() -> Node:
    """Stage 1 by the paper's gain, 2c/V log(V / (v_i + v_j))."""
    parts = [Node(frozenset([node])) for node in range(NODES)]
    whole = volume(frozenset(range(NODES)))
    while len(parts) > 1:

        def gain(pair: tuple[Node, Node]) -> float:
            one, other = pair
            total = volume(one.members) + volume(other.members)
            return between(one.members, other.members) * log2(whole / total)

        one, other = max(combinations(parts, 2), key=gain)
        joined = Node(one.members | other.members, [one, other])
        parts = [part for part in parts if part is not one and part is not other] + [joined]
    return parts[0]


def removed(root: Node, height: int) -> Node:
    """Stage 2: takes out the inner node that costs least, until the tree is low enough."""
    while root.height > height:

        def cost(pair: tuple[Node, Node]) -> float:
            parent, node = pair
            cut = sum(between(a.members, b.members) for a, b in combinations(node.children, 2))
            return cut * log2(volume(parent.members) / volume(node.members))

        parent, node = min(root.inner(), key=cost)
        parent.children = [c for c in parent.children if c is not node] + node.children
    return root


def filled(root: Node, height: int) -> Node:
    """Stage 3: chains that bring every leaf to the same depth."""
    for i, child in enumerate(root.children):
        if child.children:
            filled(child, height - 1)
        else:
            for _ in range(height - 1):
                child = Node(child.members, [child], new=True)
            root.children[i] = child
    return root


def draw_stages() -> None:
    """MERGE, REMOVE and FILL on a small graph."""
    figure = new_figure(9, 2.9)
    titles = (
        "1. merge: a binary tree",
        "2. remove: down to height 2",
        "3. fill: all leaves at depth 2",
    )
    stages = (merged(), removed(merged(), 2), filled(removed(merged(), 2), 2))
    found = sepool.coding_tree(EDGES, height=2, method="paper")
    groups = {child.members for child in stages[2].children}
    members = {frozenset(found.members(1, c).tolist()) for c in range(found.num_clusters(1))}
    assert groups == members, "the picture and the core disagree"
    for i, (root, title) in enumerate(zip(stages, titles, strict=True)):
        axes = figure.add_axes((0.01 + 0.335 * i, 0.02, 0.31, 0.84))
        draw_node(axes, root, leaves(root), root.height, bottom=i == 0)
        axes.set(xlim=(-0.7, 6.7), ylim=(-0.6, stages[0].height + 0.5))
        axes.axis("off")
        axes.set_title(title, size=10, color=INK)
    viz.save_figure(figure, IMAGES / "stages.svg")


def leaves(node: Node) -> list[int]:
    """The leaves from left to right: the branch with the lowest node first."""
    if not node.children:
        return list(node.members)
    ordered = sorted(node.children, key=lambda child: min(child.members))
    return [leaf for child in ordered for leaf in leaves(child)]


def draw_node(axes: Axes, node: Node, order: list[int], level: int, bottom: bool) -> float:
    """A subtree with its top on a level, the leaves at the bottom or wherever they hang.

    Returns:
        Where the top is, from left to right.
    """
    if not node.children:
        (leaf,) = node.members
        x = float(order.index(leaf))
        axes.scatter(x, level, s=150, color=COLOURS[0], ec="white", zorder=3)
        axes.text(x, level, str(leaf), color="white", size=7.5, ha="center", va="center", zorder=4)
        return x
    below = []
    for child in node.children:
        drop = level - 1 if child.children or not bottom else 0
        below.append((draw_node(axes, child, order, drop, bottom), drop))
    x = float(np.mean([place for place, _ in below]))
    for place, drop in below:
        axes.plot([x, place], [level, drop], color=SOFT, lw=1.3, zorder=1)
    axes.scatter(x, level, s=60, color=COLOURS[2] if node.new else INK, ec="white", zorder=3)
    return x


if __name__ == "__main__":
    main()
