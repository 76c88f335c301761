"""Flows of a random walk on directed graphs, and trees of directed graphs."""

import networkx as nx
import numpy as np
import pytest

import sepool


def flow_graph(arcs, **options):
    return sepool.as_graph(np.array(arcs), directed="flow", **options)


def plain_flows(arcs, weights, n, teleport):
    """Flows of the walk by a linear system, teleports left out."""
    walk = np.zeros((n, n))
    np.add.at(walk, tuple(np.array(arcs).T), weights)
    out = walk.sum(axis=1)
    start = out / out.sum()
    jump = np.where(out[:, None] > 0, teleport * start, start)
    full = (1 - teleport) * walk / np.where(out, out, 1)[:, None] + jump
    rate = np.linalg.lstsq(
        np.vstack([full.T - np.eye(n), np.ones(n)]), np.append(np.zeros(n), 1), rcond=None
    )[0]
    flows = rate[:, None] * walk / np.where(out, out, 1)[:, None]
    return flows / flows.sum()


def random_arcs(seed, n=12, m=40):
    rng = np.random.default_rng(seed)
    arcs = rng.integers(n, size=(m, 2))
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    return arcs, rng.integers(1, 9, len(arcs)).astype(float)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("teleport", [0.05, 0.15, 1.0])
def test_weights_are_the_flows_in_both_directions(seed, teleport):
    arcs, weights = random_arcs(seed)
    graph = flow_graph_weighted(arcs, weights, teleport)
    flows = plain_flows(arcs, weights, 12, teleport)
    expected = flows + flows.T
    u, v, w = graph.edges()
    got = np.zeros((12, 12))
    got[u, v] = w
    got += got.T
    np.testing.assert_allclose(got / w.sum(), expected, atol=1e-9)


def flow_graph_weighted(arcs, weights, teleport):
    return sepool.as_graph((arcs, weights), num_nodes=12, directed="flow", teleport=teleport)


@pytest.mark.parametrize("seed", range(3))
def test_entropy_is_that_of_the_walk_on_the_directed_graph(seed):
    """H = sum of f_ij log vol(lca(i, j)) - sum of p_j log p_j, where rates are stationary."""
    rng = np.random.default_rng(seed)
    arcs = np.concatenate(
        [np.stack([np.arange(20), np.roll(np.arange(20), -1)], 1), rng.integers(20, size=(40, 2))]
    )
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    flows = plain_flows(arcs, np.ones(len(arcs)), 20, 0.0)
    rate = flows.sum(axis=1)
    labels = rng.integers(4, size=20)
    graph = flow_graph(arcs, teleport=0.0)
    volume = np.bincount(labels, rate)
    same = labels[:, None] == labels
    inside = flows * np.where(same, np.log2(volume)[labels][:, None], 0.0)
    expected = inside.sum() - (rate * np.log2(rate)).sum()
    assert sepool.structural_entropy(graph, labels) == pytest.approx(expected, abs=1e-7)


def test_symmetric_arcs_give_the_undirected_graph():
    graph = nx.gnm_random_graph(40, 120, seed=1)
    arcs = list(graph.to_directed().edges)
    tree = sepool.coding_tree(flow_graph(arcs, num_nodes=40), height=3)
    assert tree == sepool.coding_tree(graph, height=3) or (
        tree.labels(2).tolist() == sepool.coding_tree(graph, height=3).labels(2).tolist()
    )


@pytest.mark.parametrize("kind", ["networkx", "scipy", "igraph"])
def test_directed_graphs_of_libraries_give_the_same_flows(kind):
    digraph = nx.gnm_random_graph(20, 60, seed=2, directed=True)
    if kind == "networkx":
        other = digraph
    elif kind == "scipy":
        other = nx.to_scipy_sparse_array(digraph)
    else:
        other = pytest.importorskip("igraph").Graph(20, list(digraph.edges), directed=True)
    expected = flow_graph(list(digraph.edges), num_nodes=20)
    got = sepool.as_graph(other, directed="flow")
    np.testing.assert_array_equal(got.indices, expected.indices)
    np.testing.assert_array_equal(got.weights, expected.weights)


def test_undirected_networkx_graph_is_walked_both_ways():
    graph = nx.path_graph(4)
    degrees = sepool.as_graph(graph, directed="flow").degrees()
    np.testing.assert_array_equal(degrees, sepool.as_graph(graph).degrees())


def test_dangling_nodes_are_left_by_a_jump():
    graph = flow_graph([(0, 1), (1, 2), (0, 2)])
    assert graph.num_edges == 3
    assert (graph.degrees() > 0).all()


def test_communities_of_a_directed_graph_are_found():
    rng = np.random.default_rng(3)
    ends = rng.integers(100, size=(2500, 2))
    arcs = ends[(ends[:, 0] // 25 == ends[:, 1] // 25) | (rng.random(2500) < 0.05)]
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    tree = sepool.coding_tree(flow_graph(arcs, num_nodes=100))
    assert tree.counts == (100, 4, 1)


@pytest.mark.parametrize("teleport", [-0.1, 1.5, float("nan")])
def test_teleport_outside_0_to_1_is_refused(teleport):
    with pytest.raises(ValueError, match="teleport must be a probability"):
        flow_graph([(0, 1)], teleport=teleport)


def test_other_words_for_directed_are_refused():
    with pytest.raises(ValueError, match="directed must be None or 'flow'"):
        sepool.as_graph([(0, 1)], directed="yes")


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_flow_of_impossible_weights_is_refused(weight):
    with pytest.raises(ValueError, match="edge 0 has weight"):
        sepool.as_graph([(0, 1, weight), (1, 2, 1.0), (2, 0, 1.0)], directed="flow")


@pytest.mark.parametrize("scale", [1e308, 1e-320, 1e-310])
def test_flow_does_not_depend_on_the_scale_of_weights(scale):
    arcs = np.array([(0, 1), (1, 2), (2, 0), (0, 2)])
    plain = sepool.as_graph(arcs, directed="flow")
    scaled = sepool.as_graph((arcs, np.full(4, scale)), directed="flow")
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-6)


def test_flow_without_weights_is_a_graph_without_edges():
    graph = sepool.as_graph((np.array([(0, 1), (1, 2)]), np.zeros(2)), directed="flow")
    assert graph.degrees().sum() == 0


def test_flow_of_a_periodic_walk_is_stationary():
    arcs = [(0, 2), (1, 2), (2, 3), (3, 0), (3, 1)]
    graph = sepool.as_graph(arcs, directed="flow", teleport=0.0)
    degrees = graph.degrees()
    np.testing.assert_allclose(degrees / degrees.sum(), [1 / 6, 1 / 6, 1 / 3, 1 / 3], rtol=1e-6)


def test_flow_with_symmetrise_is_refused():
    with pytest.raises(ValueError, match="symmetrise=True cannot be combined"):
        sepool.as_graph([(0, 1)], directed="flow", symmetrise=True)


def test_flow_takes_no_self_loops_unless_asked():
    arcs = [(0, 1), (1, 2), (2, 0), (0, 2)]
    plain = sepool.as_graph(arcs, directed="flow")
    with_loop = sepool.as_graph([*arcs, (2, 2)], directed="flow")
    np.testing.assert_array_equal(plain.weights, with_loop.weights)


def test_flow_of_all_arcs_is_their_number():
    graph = sepool.as_graph([(0, 1), (1, 2), (2, 0), (0, 2)], directed="flow")
    assert graph.degrees().sum() / 2 == pytest.approx(4)
