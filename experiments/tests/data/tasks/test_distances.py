"""Targets of distances against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from sepool.segments import pointers
from sepool_experiments.data.tasks.distances import FAMILIES, MEASURES, distance_task, random_graph

SIZES = (12, 6, 6)


def graphs_of(task):
    node, edge = pointers(task.nodes), pointers(task.edges.counts)
    for i, count in enumerate(task.nodes):
        graph = nx.empty_graph(int(count))
        part = slice(edge[i], edge[i + 1])
        graph.add_edges_from(zip(task.edges.row[part], task.edges.col[part], strict=True))
        yield graph, task.x[node[i] : node[i + 1]]


@pytest.mark.parametrize("family", FAMILIES)
def test_random_graph_every_family_is_connected_and_simple(family):
    rng = np.random.default_rng(0)
    for _ in range(10):
        nodes, edges = random_graph(family, rng)
        graph = nx.Graph(edges.tolist())
        assert 20 <= nodes == len(graph) <= 200
        assert nx.is_connected(graph)
        assert graph.number_of_edges() == len(edges)
        assert nx.number_of_selfloops(graph) == 0


def test_diameter_is_that_of_networkx():
    task = distance_task("diameter", "diameter", SIZES)
    assert (task.metric, task.target, task.outputs) == ("mae", "graph", 1)
    assert task.y.tolist() == [nx.diameter(graph) for graph, _ in graphs_of(task)]


def test_eccentricity_is_that_of_networkx():
    task = distance_task("eccentricity", "eccentricity", SIZES)
    expected = [value for graph, _ in graphs_of(task) for value in _sorted(nx.eccentricity(graph))]
    assert task.target == "node"
    assert task.y.tolist() == expected


def test_shortest_path_is_that_of_networkx_from_the_marked_node():
    task = distance_task("shortest-path", "shortest-path", SIZES)
    expected = []
    for graph, x in graphs_of(task):
        (source,) = np.flatnonzero(x[:, -1])
        expected += _sorted(nx.single_source_shortest_path_length(graph, int(source)))
    assert task.y.tolist() == expected


@pytest.mark.parametrize("measure", MEASURES)
def test_distance_task_features_are_degrees(measure):
    task = distance_task(measure, measure, SIZES)
    for graph, x in graphs_of(task):
        degrees = [min(graph.degree[node], 8) - 1 for node in range(len(graph))]
        assert x[:, :8].argmax(axis=1).tolist() == degrees
        assert (x[:, :8].sum(axis=1) == 1).all()


def _sorted(values):
    return [values[node] for node in sorted(values)]
