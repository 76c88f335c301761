"""Colourings of a graph with one or two red components."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from sepool_experiments.data.tasks.colours import (
    balanced_colourings,
    colour_task,
    colourings,
    grid_edges,
    grid_squares,
    red_components,
)
from sepool_experiments.data.tasks.task import edge_blocks

SIZES = (12, 6, 8)
GRAPHS = {
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6)),
    "lollipop": nx.lollipop_graph(5, 12),
    "tree": nx.random_labeled_tree(30, seed=1),
}


def rows_of(graph):
    blocks = edge_blocks([np.array(graph.edges)])
    return len(graph), blocks.row, blocks.col


@pytest.mark.parametrize("side", [1, 2, 7])
def test_grid_edges_are_those_of_networkx(side):
    expected = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side), ordering="sorted")
    assert set(map(tuple, grid_edges(side).tolist())) == set(expected.edges)


@pytest.mark.parametrize("name", GRAPHS)
def test_colourings_half_of_the_nodes_in_two_components_at_most(name):
    graph = GRAPHS[name]
    red = colourings(*rows_of(graph), 40, np.random.default_rng(0))
    assert (red.sum(axis=1) == len(graph) // 2).all()
    parts = [
        nx.number_connected_components(graph.subgraph(np.flatnonzero(row).tolist())) for row in red
    ]
    assert set(parts) <= {1, 2}
    _, row, col = rows_of(graph)
    np.testing.assert_array_equal(red_components(row, col, red), parts)


def test_red_components_of_any_colouring_are_those_of_networkx():
    graph = GRAPHS["grid"]
    _, row, col = rows_of(graph)
    red = np.random.default_rng(0).random((30, len(graph))) < 0.4
    red[0], red[1] = False, True
    expected = [
        nx.number_connected_components(graph.subgraph(np.flatnonzero(line).tolist()))
        for line in red
    ]
    np.testing.assert_array_equal(red_components(row, col, red), expected)


def test_balanced_colourings_are_balanced_and_different():
    red, y = balanced_colourings(*rows_of(GRAPHS["grid"]), 61, np.random.default_rng(3))
    assert len(red) == len(y) == len(np.unique(red, axis=0)) == 61
    assert np.bincount(y).tolist() == [31, 30]
    _, row, col = rows_of(GRAPHS["grid"])
    np.testing.assert_array_equal(red_components(row, col, red), y + 1)


def test_colour_task_features_are_colours_and_parts_are_balanced():
    task = colour_task("colours", grid_edges(6), SIZES, seed=1)
    assert task.shared
    assert (task.x.sum(axis=1) == 1).all()
    assert (task.metric, task.target, task.outputs) == ("accuracy", "graph", 2)
    assert [task.targets(part).mean() for part in (task.train, task.val, task.test)] == [0.5] * 3
    red = task.x[:, 1].reshape(len(task.y), -1) > 0
    np.testing.assert_array_equal(red_components(*task.edges[1:3], red), task.y + 1)


def test_colour_task_same_seed_is_equal_and_another_differs():
    first, second, other = (colour_task("c", grid_edges(6), SIZES, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.x, second.x)
    assert (first.x != other.x).any()


def test_grid_squares_are_the_cycles_of_four_nodes():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5), ordering="sorted")
    cycles = {frozenset(cycle) for cycle in nx.simple_cycles(graph, length_bound=4)}
    assert {frozenset(nodes) for nodes in grid_squares(5).tolist()} == cycles


def test_colour_task_matched_counts_are_equal_in_both_classes():
    sets = grid_edges(6), grid_squares(6)
    task = colour_task("matched", sets[0], (20, 4, 4), matched=sets)
    red = task.x[:, 1].reshape(len(task.y), -1) > 0
    np.testing.assert_array_equal(red_components(*task.edges[1:3], red), task.y + 1)
    for nodes in sets:
        counts = red[:, nodes].all(axis=2).sum(axis=1)
        np.testing.assert_array_equal(counts[task.y == 0], counts[task.y == 1])
