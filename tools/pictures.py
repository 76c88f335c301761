"""Draws the pictures of README and docs: `python tools/pictures.py`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Hashable
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "examples"))

import hierarchy
import picture
import sepool
from sepool import _core, viz
from sepool.viz.colours import text_on
from sepool.viz.drawing import new_figure

INK, SOFT = "#2b3038", "#9aa3ad"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
PROGRAMS = ("#0072b2", "#56b4e9", "#e69f00", "#d55e00", "#009e73", "#9aa3ad", "#cc79a7")
# Two triangles joined by a bridge.
BRIDGE = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
PLACES = np.array([(0, 1), (0, -1), (1.3, 0), (3, 0), (4.3, 1), (4.3, -1)], dtype=float)
# A complete graph of four nodes, and three nodes attached to one of them.
EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6)]


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    club = nx.karate_club_graph()
    picture.draw(club, sepool.coding_tree(club, height=4), str(IMAGES / "karate.png"))
    tree, graph = sepool.coding_tree(club, height=3), sepool.as_graph(club)
    viz.save_figure(viz.plot_levels(tree, graph), IMAGES / "levels.png")
    viz.save_figure(viz.plot_dendrogram(tree), IMAGES / "dendrogram.png")
    draw_bits()
    draw_stages()
    draw_communities()
    hierarchy.draw(IMAGES / "hierarchy.svg")
    draw_gallery()
    print(f"drew {len(list(IMAGES.rglob('*.*')))} pictures into {IMAGES.relative_to(ROOT)}")


def draw_gallery() -> None:
    """The pictures of the page of the gallery, by its own code."""
    folder = IMAGES / "gallery"
    folder.mkdir(exist_ok=True)
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    with TemporaryDirectory() as work, contextlib.chdir(work):
        names: dict[str, object] = {}
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(block, names)
        for path in Path(work).iterdir():
            if path.suffix != ".html":
                shutil.copy(path, folder / path.name)
            else:
                draw_page(path, folder / "explorer.png")


def draw_page(page: Path, picture_file: Path) -> None:
    """An explorer page in the browser, light and dark side by side; skipped without a browser."""
    browser = os.environ.get("CHROME_BIN") or shutil.which("chromium")
    if browser is None:
        print(f"no browser: {picture_file.name} stays as it is")
        return
    from matplotlib import image
    from playwright.sync_api import sync_playwright

    shots = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = chromium.new_page(viewport={"width": 760, "height": 640}, color_scheme=scheme)
            tab.goto(page.as_uri())
            tab.locator("canvas").first.wait_for()
            tab.evaluate("window.explorer?.settled?.()")
            tab.wait_for_timeout(1_000)  # fonts and the last paint of Bokeh
            shots.append(image.imread(io.BytesIO(tab.screenshot()))[..., :3])
        chromium.close()
    image.imsave(picture_file, np.concatenate(shots, axis=1))


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


def stages() -> list[nx.DiGraph]:
    """The trees after MERGE, REMOVE and FILL, with edges from parents to children."""
    graph = sepool.as_graph(EDGES)
    rows = graph.indptr, graph.indices, graph.weights, graph.loops
    parent, volume, cut = _core.merge_tree(*rows, "gain")
    merged = nx.DiGraph((int(up), node) for node, up in enumerate(parent) if up >= 0)
    removed = merged.copy()
    stays = _core.compress(graph.num_nodes, parent, volume, cut, 2, False)
    for node in range(graph.num_nodes, len(parent)):
        if not stays[node]:
            (above,) = removed.predecessors(node)
            removed.add_edges_from([(above, child) for child in removed.successors(node)])
            removed.remove_node(node)
    filled = sepool.coding_tree(graph, height=2, method="paper").to_networkx()
    leaves = {(0, i): i for i in range(graph.num_nodes)}
    return [merged, removed, nx.relabel_nodes(filled, leaves)]


def draw_stages() -> None:
    """MERGE, REMOVE and FILL on a small graph."""
    figure = new_figure(9, 2.9)
    titles = (
        "1. merge: a binary tree",
        "2. remove: down to height 2",
        "3. fill: all leaves at depth 2",
    )
    trees = stages()
    top = nx.dag_longest_path_length(trees[0])
    for i, (tree, title) in enumerate(zip(trees, titles, strict=True)):
        axes = figure.add_axes((0.01 + 0.335 * i, 0.02, 0.31, 0.84))
        root, height = next(nx.topological_sort(tree)), nx.dag_longest_path_length(tree)
        draw_node(axes, tree, root, leaves(tree, root), height, bottom=i == 0)
        axes.set(xlim=(-0.7, 6.7), ylim=(-0.6, top + 0.5))
        axes.axis("off")
        axes.set_title(title, size=10, color=INK)
    viz.save_figure(figure, IMAGES / "stages.svg")


def draw_communities() -> None:
    """Agreement with planted communities by their mixing, and the time by the number of edges."""
    file = json.loads((ROOT / "benchmarks" / "results" / "communities.json").read_text())
    rows = [row for row in file["rows"] if row["part"] == "lfr"]
    programs = list(dict.fromkeys(name for row in rows for name in row["seconds"]))
    figure = new_figure(9, 3.6)
    quality, time = (
        figure.add_axes((0.07, 0.16, 0.36, 0.74)),
        figure.add_axes((0.53, 0.16, 0.3, 0.74)),
    )
    for program, colour in zip(programs, PROGRAMS, strict=False):
        ours = program in ("best", "fast")
        style = {"color": colour, "lw": 2.2 if ours else 1.2, "marker": "o", "ms": 4 if ours else 3}
        by_mixing = [
            (row["mixing"], row["nmi"][program]) for row in rows if row["nodes"] == 100_000
        ]
        quality.plot(*zip(*sorted(by_mixing), strict=True), **style)
        by_size = [
            (row["edges"], row["seconds"][program])
            for row in rows
            if row["mixing"] == 0.3 and program in row["seconds"]
        ]
        name = f"sepool {program}" if ours else program
        time.plot(*zip(*sorted(by_size), strict=True), label=name, **style)
    quality.set(xlabel="mixing", ylabel="NMI with the planted communities")
    quality.set_title("LFR, 100,000 nodes", size=10, color=INK)
    time.set(xscale="log", yscale="log", xlabel="edges", ylabel="seconds, one thread")
    time.set_title("LFR, mixing 0.3", size=10, color=INK)
    time.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=8)
    for axes in (quality, time):
        axes.spines[["top", "right"]].set_visible(False)
    viz.save_figure(figure, IMAGES / "communities.png")


def leaves(tree: nx.DiGraph, node: Hashable) -> list[int]:
    """The leaves from left to right: the branch with the lowest node first."""
    below = sorted((leaves(tree, child) for child in tree.successors(node)), key=min)
    return [leaf for part in below for leaf in part] or [node]


def draw_node(
    axes: Axes, tree: nx.DiGraph, node: Hashable, order: list[int], level: int, bottom: bool
) -> float:
    """A subtree with its top on a level, the leaves at the bottom or wherever they hang.

    Returns:
        Where the top is, from left to right.
    """
    children = list(tree.successors(node))
    if not children:
        x = float(order.index(node))
        axes.scatter(x, level, s=150, color=COLOURS[0], ec="white", zorder=3)
        axes.text(x, level, str(node), color="white", size=7.5, ha="center", va="center", zorder=4)
        return x
    below = []
    for child in children:
        drop = level - 1 if tree.out_degree(child) or not bottom else 0
        below.append((draw_node(axes, tree, child, order, drop, bottom), drop))
    x = float(np.mean([place for place, _ in below]))
    for place, drop in below:
        axes.plot([x, place], [level, drop], color=SOFT, lw=1.3, zorder=1)
    axes.scatter(
        x, level, s=60, color=COLOURS[2] if len(children) == 1 else INK, ec="white", zorder=3
    )
    return x


if __name__ == "__main__":
    main()
