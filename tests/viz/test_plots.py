"""Plots: edge cases, files that parse and repeat, labels without overlaps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import sepool
from sepool import viz
from sepool.viz.disk_layout import layout
from sepool.viz.drawing import single_line

Pair = tuple[sepool.CodingTree, sepool.Graph]
KINDS: dict[str, Callable[..., Figure]] = {
    "clusters": viz.plot_clusters,
    "dendrogram": lambda tree, graph, **options: viz.plot_dendrogram(tree, **options),
    "levels": viz.plot_levels,
}


@pytest.fixture(params=KINDS)
def draw(request: pytest.FixtureRequest) -> Callable[..., Figure]:
    return KINDS[request.param]


def _pixels(figure: Figure) -> np.ndarray:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def test_plot_of_edge_cases_has_content(edge_case: Pair, draw: Callable[..., Figure]) -> None:
    figure = draw(*edge_case)
    width, height = figure.get_size_inches()
    assert 3 <= width <= 18
    assert 1.5 <= height <= 18
    assert (_pixels(figure) != 255).any()


def test_save_figure_twice_writes_equal_files(draw: Callable[..., Figure], tmp_path: Path) -> None:
    graph = nx.les_miserables_graph()
    for suffix in ("png", "svg", "pdf"):
        files = [tmp_path / f"{i}.{suffix}" for i in range(2)]
        for file in files:
            viz.save_figure(draw(sepool.coding_tree(graph, 3), graph), file)
        assert files[0].read_bytes() == files[1].read_bytes()
    root = ElementTree.parse(tmp_path / "0.svg").getroot()
    assert root.tag.endswith("svg")
    assert (tmp_path / "0.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "0.pdf").read_bytes().startswith(b"%PDF")


def test_save_figure_with_hostile_names_escapes_them(
    hostile_graph: sepool.Graph, draw: Callable[..., Figure], tmp_path: Path
) -> None:
    path = tmp_path / "tree.svg"
    viz.save_figure(
        draw(sepool.coding_tree(hostile_graph, height=2), hostile_graph, title="<b>$x$"), path
    )
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
    assert not tags & {"script", "img", "b"}
    assert "&lt;b&gt;$x$" in path.read_text("utf-8")


def _texts(figure: Figure) -> list[Any]:
    return [text for axes in figure.axes for text in axes.texts if text.get_text()]


@pytest.mark.parametrize("kind", ["clusters", "levels"])
@pytest.mark.parametrize("name", ["small", "large"])
def test_plot_labels_do_not_overlap(kind: str, name: str) -> None:
    graph = nx.les_miserables_graph() if name == "small" else nx.grid_2d_graph(40, 75)
    figure = KINDS[kind](sepool.coding_tree(graph, 3), graph)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
        boxes = np.array([box.extents for box in boxes]).reshape(-1, 4)
        i, j = np.triu_indices(len(boxes), 1)
        a, b = boxes[i], boxes[j]
        across = (a[:, 0] < b[:, 2]) & (b[:, 0] < a[:, 2])
        assert not (across & (a[:, 1] < b[:, 3]) & (b[:, 1] < a[:, 3])).any()
    if name == "small":
        assert len(_texts(figure)) > 20


def _in_data(axes: Axes, text: Any) -> tuple[complex, complex]:
    """The corners of a label, low and left first."""
    box = text.get_window_extent().transformed(axes.transData.inverted())
    return complex(box.x0, box.y0), complex(box.x1, box.y1)


def test_plot_clusters_with_names_puts_each_at_its_node() -> None:
    graph = sepool.as_graph(nx.les_miserables_graph())
    tree = sepool.coding_tree(graph, 3)
    disks = layout(tree, graph)
    (axes,) = viz.plot_clusters(tree, graph).axes
    texts = {text.get_text(): text for text in axes.texts}
    assert set(texts) == set(tree.names)
    for i, name in enumerate(tree.names):
        low, high = _in_data(axes, texts[name])

        def distance(centre: np.ndarray, low: complex = low, high: complex = high) -> np.ndarray:
            x = np.clip(centre.real, low.real, high.real)
            return np.abs(x + 1j * np.clip(centre.imag, low.imag, high.imag) - centre)

        assert distance(disks.centre[0])[i] < max(1, disks.radius[0][i])
        others = np.arange(tree.num_clusters(1)) != tree.labels(1)[i]
        gap = distance(disks.centre[1]) - disks.radius[1]
        assert gap[others].min() > -1e-6, name


def test_plot_clusters_with_long_names_counts_those_shown() -> None:
    short = sepool.as_graph(nx.les_miserables_graph())
    names = [f"WWWWWWWWWWWWWW{i}" for i in range(short.num_nodes)]
    graph = sepool.Graph(short.indptr, short.indices, names=names)
    (axes,) = viz.plot_clusters(sepool.coding_tree(graph, 4), graph).axes
    *labels, note = (text.get_text() for text in axes.texts)
    assert 20 < len(labels) < 77
    assert note == f"{len(labels)} of 77 names shown; no space for the others"


def test_plot_names_inside_nodes_have_one_font_size() -> None:
    graph = nx.karate_club_graph()
    tree = sepool.coding_tree(graph, 3)
    for axes in (viz.plot_clusters(tree, graph).axes[0], viz.plot_levels(tree, graph).axes[0]):
        assert {text.get_text() for text in axes.texts} == set(map(str, range(34)))
        assert len({text.get_fontsize() for text in axes.texts}) == 1


def test_plot_of_large_graph_has_few_labels() -> None:
    graph = nx.grid_2d_graph(40, 75)
    tree = sepool.coding_tree(graph, 3)
    assert len(_texts(viz.plot_clusters(tree, graph))) < 40
    strip = viz.plot_dendrogram(tree).axes[1]
    assert strip.get_xlabel() == "3,000 nodes, in the order of the tree"
    assert not strip.get_xticks().size  # 69 clusters are too many to name


def test_plot_dendrogram_of_many_leaves_names_clusters() -> None:
    graph = nx.planted_partition_graph(6, 20, 0.5, 0.01, seed=2)
    tree = sepool.coding_tree(graph, 2)
    strip = viz.plot_dendrogram(tree).axes[1]
    names = [text.get_text() for text in strip.get_xticklabels()]
    assert names == tree.cluster_names(1, count=1)
    assert len(names) == 6


def test_plot_dendrogram_bars_are_the_bits_of_the_levels() -> None:
    tree = sepool.coding_tree(nx.karate_club_graph(), 3)
    bars = viz.plot_dendrogram(tree).axes[2].patches
    widths = [bar.get_width() for bar in bars]
    np.testing.assert_allclose(widths, [tree.contributions(i).sum() for i in range(3)])
    assert sum(widths) == pytest.approx(tree.entropy)


def test_plot_clusters_with_level_and_title_uses_them() -> None:
    graph = nx.karate_club_graph()
    tree = sepool.coding_tree(graph, 3)
    coarse, fine = (viz.plot_clusters(tree, graph, level=i, title="club") for i in (2, 1))
    assert coarse.axes[0].get_title() == "club"
    assert (_pixels(coarse) != _pixels(fine)).any()
    with pytest.raises(ValueError, match="level must be 1 to 3, got 0"):
        viz.plot_levels(tree, graph, level=0)


def test_save_figure_with_other_suffix_raises(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg or \.pdf"):
        viz.save_figure(Figure(), tmp_path / "tree.gif")


def test_single_line_replaces_line_breaks() -> None:
    assert single_line("two\nlines", 24) == "two lines"
    assert single_line("a\\b", 24) == "a\\b"


def test_viz_unknown_name_raises() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        viz.nothing  # noqa: B018
    assert "plot_levels" in dir(viz)


def test_plots_name_clusters_by_members_of_largest_degree() -> None:
    graph = nx.les_miserables_graph()
    tree = sepool.coding_tree(graph, 3)
    axes = viz.plot_levels(tree, graph).axes[2]
    names = {name.replace(", ", "\n") for name in tree.cluster_names(2)}
    firsts = set(tree.cluster_names(2, count=1)) | set(tree.cluster_names(2, count=2))
    shown = {text.get_text() for text in axes.texts}
    assert shown
    assert shown <= names | firsts | {name.replace(", ", "\n") for name in firsts}
    grid = nx.grid_2d_graph(30, 30)
    tree = sepool.coding_tree(grid, 3)
    note, *labels = (text.get_text() for text in viz.plot_clusters(tree, grid).axes[0].texts)
    assert note.startswith("names: nodes of the largest degree")
    level = int(note[-1])
    assert set(labels) <= {*tree.cluster_names(level), *tree.cluster_names(level, count=1)}


def test_plot_clusters_labels_of_clusters_cover_no_node() -> None:
    graph = sepool.as_graph(nx.planted_partition_graph(6, 20, 0.4, 0.02, seed=2))
    tree = sepool.coding_tree(graph, 3)
    disks = layout(tree, graph)
    (axes,) = viz.plot_clusters(tree, graph).axes
    assert len(axes.texts) > 3
    for text in axes.texts[1:]:
        low, high = _in_data(axes, text)
        x = np.clip(disks.centre[0].real, low.real, high.real)
        y = np.clip(disks.centre[0].imag, low.imag, high.imag)
        assert (np.abs(x + 1j * y - disks.centre[0]) > 0.8 * disks.radius[0]).all()
