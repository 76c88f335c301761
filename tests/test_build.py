from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import sepool
from sepool import coding_tree, coding_trees

METHODS = ["best", "fast", "paper"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", METHODS)
def test_two_triangles_and_a_bridge(bridge, method, seed):
    tree = coding_tree(bridge, height=2, method=method, seed=seed)
    assert tree.labels(1).tolist() == [0, 0, 0, 1, 1, 1]
    assert tree.entropy == pytest.approx(1.6995, abs=5e-5)


@pytest.mark.parametrize("method", METHODS)
def test_every_component_is_a_cluster_of_its_own(method):
    tree = coding_tree([(0, 1), (2, 3), (4, 5), (6, 7)], height=2, method=method)
    assert tree.entropy == 1
    assert tree.counts == (8, 4, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("height", [1, 2, 5, 64])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_graphs_without_edges(method, height, n):
    tree = coding_tree(sepool.as_graph([], num_nodes=n), height, method=method)
    assert (tree.height, tree.num_nodes, tree.entropy) == (height, n, 0)
    assert tree.labels(height).tolist() == [0] * n


@pytest.mark.parametrize("method", METHODS)
def test_isolated_nodes_keep_their_own_branch(bridge, method):
    tree = coding_tree(sepool.as_graph(bridge, num_nodes=8), height=2, method=method)
    assert tree.cluster_sizes(1).tolist() == [3, 3, 1, 1]
    assert tree.entropy == pytest.approx(1.6995, abs=5e-5)


def test_height_one_is_the_one_dimensional_entropy(bridge):
    tree = coding_tree(bridge, height=1)
    assert tree.counts == (6, 1)
    assert tree.entropy == pytest.approx(sepool.one_dimensional_entropy(bridge))


def test_self_loops_and_direction_are_passed_on():
    nx = pytest.importorskip("networkx")
    arcs = nx.DiGraph([(0, 0), (0, 1), (1, 2)])
    with pytest.raises(ValueError, match="symmetrise=True"):
        coding_tree(arcs)
    assert coding_tree(arcs, symmetrise=True).volume[-1] == 4
    assert coding_tree(arcs, symmetrise=True, self_loops=True).volume[-1] == 6
    assert coding_trees([arcs], symmetrise=True, self_loops=True)[0].volume[-1] == 6


def test_numpy_integers_are_integers(bridge):
    assert coding_tree(bridge, np.int32(3), seed=np.uint8(4)).height == 3
    assert coding_trees([bridge], np.int32(3), num_threads=np.int64(1)).height == 3


@pytest.fixture(scope="module")
def large() -> sepool.Graph:
    rng = np.random.default_rng(0)
    return sepool.as_graph(rng.integers(0, 50_000, (300_000, 2)))


class TestLongWork:
    def test_progress_is_reported(self, large):
        heard = []
        coding_tree(large, method="paper", progress=lambda done, stage: heard.append((done, stage)))
        assert heard
        assert all(0 <= done <= 1 and isinstance(stage, str) for done, stage in heard)

    def test_an_exception_from_progress_stops_the_work(self, large):
        def stop(done, stage):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            coding_tree(large, method="paper", progress=stop)


def test_no_graphs():
    trees = coding_trees([], height=3)
    assert (len(trees), trees.height, trees.entropy.tolist()) == (0, 3, [])


@pytest.mark.parametrize("build", [coding_tree, coding_trees])
class TestBadArguments:
    @pytest.mark.parametrize("height", [0, -1, 65, 10**30])
    def test_height_out_of_range(self, build, height):
        with pytest.raises(ValueError, match=f"height must be 1 to 64, got {height}"):
            build("never read", height)

    @pytest.mark.parametrize("height", [2.0, "2", None, True, np.True_, Fraction(2), [2]])
    def test_height_that_is_no_integer(self, build, height):
        with pytest.raises(TypeError, match="height must be a whole number, got"):
            build("never read", height)

    @pytest.mark.parametrize("method", ["worst", "", None, 3])
    def test_unknown_method(self, build, method):
        with pytest.raises(ValueError, match=f"one of best, fast, paper, got {method!r}"):
            build("never read", method=method)

    def test_other_options(self, build):
        with pytest.raises(ValueError, match="seed must be 0 to"):
            build("never read", seed=-1)
        with pytest.raises(TypeError, match=r"seed must be a whole number, got 1\.5"):
            build("never read", seed=1.5)
        with pytest.raises(TypeError, match="progress must be a function"):
            build("never read", progress=3)


def test_num_threads_out_of_range_is_refused():
    with pytest.raises(ValueError, match="num_threads must be 1 to 4096, got 0"):
        coding_trees("never read", num_threads=0)


def test_an_empty_graph_has_no_tree():
    with pytest.raises(ValueError, match="no nodes"):
        coding_tree([])
    with pytest.raises(ValueError, match="graph 1 has no nodes"):
        coding_trees([[(0, 1)], []])


def test_importing_sepool_imports_numpy_alone():
    code = """
import sys
import numpy
before = set(sys.modules)
import sepool
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names) - {"numpy"}), "sepool._core" in sys.modules)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "['sepool'] False\n"
