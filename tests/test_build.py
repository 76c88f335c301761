from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import sepool
from sepool import coding_tree, coding_trees

METHODS = ["best", "fast", "paper"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", METHODS)
def test_coding_tree_two_triangles_are_two_clusters(bridge, method, seed):
    tree = coding_tree(bridge, height=2, method=method, seed=seed)
    assert tree.labels(1).tolist() == [0, 0, 0, 1, 1, 1]
    assert tree.entropy == pytest.approx(1.6995, abs=5e-5)


@pytest.mark.parametrize("method", METHODS)
def test_coding_tree_components_are_separate_clusters(method):
    tree = coding_tree([(0, 1), (2, 3), (4, 5), (6, 7)], height=2, method=method)
    assert tree.entropy == 1
    assert tree.counts == (8, 4, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [1, 2, 5, 64])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_coding_tree_without_edges_has_entropy_zero(method, height, n):
    tree = coding_tree(sepool.as_graph([], num_nodes=n), height, method=method)
    assert (tree.height, tree.num_nodes, tree.entropy) == (height, n, 0)
    assert tree.labels(height).tolist() == [0] * n


@pytest.mark.parametrize("method", METHODS)
def test_coding_tree_isolated_nodes_keep_their_own_branch(bridge, method):
    tree = coding_tree(sepool.as_graph(bridge, num_nodes=8), height=2, method=method)
    assert tree.cluster_sizes(1).tolist() == [3, 3, 1, 1]
    assert tree.entropy == pytest.approx(1.6995, abs=5e-5)


def test_coding_tree_of_height_one_has_the_one_dimensional_entropy(bridge):
    tree = coding_tree(bridge, height=1)
    assert tree.counts == (6, 1)
    assert tree.entropy == pytest.approx(sepool.one_dimensional_entropy(bridge))


def test_coding_tree_options_of_graphs_are_passed_on():
    arcs = nx.DiGraph([(0, 0), (0, 1), (1, 2)])
    with pytest.raises(ValueError, match="symmetrise=True"):
        coding_tree(arcs)
    assert coding_tree(arcs, symmetrise=True).volume[-1] == 4
    assert coding_tree(arcs, symmetrise=True, self_loops=True).volume[-1] == 6
    assert coding_trees([arcs], symmetrise=True, self_loops=True)[0].volume[-1] == 6


def test_coding_tree_takes_integers_of_numpy(bridge):
    assert coding_tree(bridge, np.int32(3), seed=np.uint8(4)).height == 3
    assert coding_trees([bridge], np.int32(3), num_threads=np.int64(1)).height == 3


@pytest.fixture(scope="module")
def large() -> sepool.Graph:
    rng = np.random.default_rng(0)
    return sepool.as_graph(rng.integers(0, 50_000, (300_000, 2)))


class TestLongWork:
    def test_coding_tree_reports_progress(self, large):
        reports = []
        coding_tree(
            large, method="paper", progress=lambda done, stage: reports.append((done, stage))
        )
        assert reports
        assert all(0 <= done <= 1 and isinstance(stage, str) for done, stage in reports)

    def test_coding_tree_exception_in_progress_stops_the_work(self, large):
        def stop(done, stage):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            coding_tree(large, method="paper", progress=stop)


def test_coding_trees_of_no_graphs_are_empty():
    trees = coding_trees([], height=3)
    assert (len(trees), trees.height, trees.entropy.tolist()) == (0, 3, [])


@pytest.mark.parametrize("build", [coding_tree, coding_trees])
class TestBadArguments:
    @pytest.mark.parametrize("height", [0, -1, 65, 10**30])
    def test_height_out_of_range_is_refused(self, build, height):
        with pytest.raises(ValueError, match=f"height must be 1 to 64, got {height}"):
            build("never read", height)

    @pytest.mark.parametrize("height", [2.0, "2", True, np.True_, Fraction(2), [2]])
    def test_height_that_is_no_integer_is_refused(self, build, height):
        with pytest.raises(TypeError, match="height must be a whole number, got"):
            build("never read", height)

    @pytest.mark.parametrize("method", ["worst", "", None, 3])
    def test_unknown_method_is_refused(self, build, method):
        with pytest.raises(ValueError, match=f"one of best, fast, paper, got {method!r}"):
            build("never read", method=method)

    def test_other_options_out_of_range_are_refused(self, build):
        with pytest.raises(ValueError, match="seed must be 0 to"):
            build("never read", seed=-1)
        with pytest.raises(TypeError, match=r"seed must be a whole number, got 1\.5"):
            build("never read", seed=1.5)
        with pytest.raises(TypeError, match="progress must be a function"):
            build("never read", progress=3)


def test_coding_trees_height_of_none_is_refused():
    with pytest.raises(TypeError, match="height must be a whole number, got None"):
        coding_trees("never read", None)


def test_coding_trees_num_threads_out_of_range_is_refused():
    with pytest.raises(ValueError, match="num_threads must be 1 to 4096, got 0"):
        coding_trees("never read", num_threads=0)


def test_coding_tree_empty_graph_is_refused():
    with pytest.raises(ValueError, match="no nodes"):
        coding_tree([])
    with pytest.raises(ValueError, match="graph 1 has no nodes"):
        coding_trees([[(0, 1)], []])
