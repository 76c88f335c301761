"""Agreement between the trees of several seeds."""

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool.consensus import adjusted_rand


def test_stability_of_planted_clusters_is_one():
    graph = nx.planted_partition_graph(5, 30, 0.5, 0.02, seed=1)
    result = sepool.stability(graph, trials=4)
    assert result.heights == {2: 4}
    assert result.agreement.tolist() == [1.0]
    assert result.support[0].tolist() == [1.0] * 5
    assert result.consensus == sepool.coding_tree(graph)


def test_stability_of_a_random_graph_is_low():
    result = sepool.stability(nx.gnm_random_graph(300, 900, seed=2), height=2, trials=4)
    assert result.agreement[0] < 0.8
    assert result.support[0].min() < 0.8


def test_consensus_levels_are_nested():
    graph = nx.gnm_random_graph(100, 300, seed=3)
    result = sepool.stability(graph, height=4, trials=3)
    assert result.consensus.height == 4
    assert len(result.support) == len(result.agreement) == 3


def test_stability_without_clusters_is_of_no_level():
    result = sepool.stability(nx.complete_graph(6), trials=2)
    assert result.heights == {1: 2}
    assert result.agreement.tolist() == []


def test_stability_needs_two_trials():
    with pytest.raises(ValueError, match="trials must be 2 to"):
        sepool.stability(nx.path_graph(4), trials=1)


@pytest.mark.parametrize("seed", range(3))
def test_adjusted_rand_equals_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    a, b = rng.integers(4, size=50), rng.integers(6, size=50)
    assert adjusted_rand(a, b) == pytest.approx(metrics.adjusted_rand_score(a, b))


def test_adjusted_rand_of_single_clusters_is_one():
    assert adjusted_rand(np.zeros(5, int), np.zeros(5, int)) == 1.0
