"""The search on large graphs: one result for any threads, order of nodes and unit of weights."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import sepool

from .test_core_methods import first_nodes

NODES, SIZE = 12_000, 60


def planted(seed: int = 0, links: int = 90_000) -> np.ndarray:
    """Communities of 60 nodes in groups of ten; 13 links a node, each pair once."""
    rng = np.random.default_rng(seed)
    u = rng.integers(NODES, size=links)
    width = rng.choice([SIZE, 10 * SIZE, NODES], links, p=[0.65, 0.2, 0.15])
    v = u // width * width + rng.integers(width)
    pairs = np.unique(np.sort(np.column_stack([u, v]), axis=1), axis=0)
    return pairs[pairs[:, 0] != pairs[:, 1]]


@pytest.fixture(scope="module")
def edges() -> np.ndarray:
    pairs = planted()
    assert len(pairs) > 65_536
    return pairs


@pytest.fixture(scope="module")
def weights(edges) -> np.ndarray:
    return np.random.default_rng(1).integers(1, 50, len(edges)).astype(float)


@pytest.mark.parametrize("height", [2, 3, 4])
@pytest.mark.parametrize("method", ["best", "fast"])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_of_any_number_give_one_tree(edges, weights, height, method, weighted):
    graph = sepool.as_graph((edges, weights) if weighted else edges)
    trees = [
        sepool.coding_tree(graph, height, method=method, num_threads=threads)
        for threads in (1, 2, 3, 64)
    ]
    assert all(tree == trees[0] for tree in trees)
    assert trees[0].entropy == pytest.approx(sepool.structural_entropy(graph, trees[0]), abs=1e-9)


@pytest.mark.parametrize("method", ["best", "fast"])
def test_relabelled_nodes_give_the_same_tree(edges, weights, method):
    ids = np.random.default_rng(2).permutation(NODES)
    order = np.random.default_rng(3).permutation(len(edges))
    for weight in (None, weights):
        graph = sepool.as_graph(edges if weight is None else (edges, weight), num_nodes=NODES)
        other = ids[edges][order]
        moved = sepool.as_graph(
            other if weight is None else (other, weight[order]), num_nodes=NODES
        )
        tree, twin = (sepool.coding_tree(g, 3, method=method) for g in (graph, moved))
        for level in (1, 2):
            assert first_nodes(tree.labels(level)) == first_nodes(twin.labels(level)[ids])


@pytest.mark.parametrize("factor", [1000, 2.0**-20])
def test_scaled_weights_give_the_same_tree(edges, weights, factor):
    one, other = (sepool.as_graph((edges, w)) for w in (weights, factor * weights))
    tree, twin = sepool.coding_tree(one, 3), sepool.coding_tree(other, 3)
    assert all(np.array_equal(tree.labels(level), twin.labels(level)) for level in (1, 2))


def test_planted_levels_are_recovered(edges):
    """A few nodes have more edges elsewhere, so the tree is a little lower than the planted one."""
    graph = sepool.as_graph(edges, num_nodes=NODES)
    tree = sepool.coding_tree(graph, 3)
    nodes = np.arange(NODES)
    planted_levels = [nodes // SIZE, nodes // (10 * SIZE)]
    for truth, labels in zip(planted_levels, (tree.labels(1), tree.labels(2)), strict=True):
        assert labels.max() == truth.max()
        assert len(set(zip(truth.tolist(), labels.tolist(), strict=True))) < 1.1 * truth.max()
    assert tree.entropy < sepool.structural_entropy(graph, planted_levels)


def test_trials_return_the_lowest_of_the_seeds(edges):
    graph = sepool.as_graph(edges)
    trees = [sepool.coding_tree(graph, 3, seed=seed) for seed in (5, 6, 7)]
    assert len({tree.entropy for tree in trees}) > 1
    best = sepool.coding_tree(graph, 3, seed=5, trials=3)
    assert best == min(trees, key=lambda tree: tree.entropy)


def test_trials_report_progress_of_all(edges):
    graph = sepool.as_graph(edges)
    done: list[float] = []
    sepool.coding_tree(graph, 3, trials=4, progress=lambda part, _: done.append(part))
    assert done == sorted(done)
    assert max(done) > 0.5


@pytest.mark.parametrize("option", ["trials", "num_threads"])
def test_counts_out_of_range_are_refused(option):
    with pytest.raises(ValueError, match=f"{option} must be 1 to"):
        sepool.coding_tree([(0, 1)], **{option: 0})


STARVED = """
import resource
import numpy as np
import sepool

edges = np.random.default_rng(0).integers(0, 300_000, (3_000_000, 2))
graph = sepool.as_graph(edges)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 30_000_000, -1))
try:
    sepool.coding_tree(graph, 3, num_threads=1)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_search_without_memory_names_what_it_takes():
    done = subprocess.run([sys.executable, "-c", STARVED], capture_output=True, text=True)
    assert "not enough memory for the search: a graph of" in done.stdout, done.stderr
    assert done.stdout.rstrip().endswith("MiB besides its own arrays")


def test_region_that_all_threads_search_is_compared_with_its_own_cost():
    """A star has one cluster of most nodes beside many small ones: its cost was read elsewhere."""
    n = 1_000_000
    weights = 1 + 999 * np.random.default_rng(0).permutation(np.arange(n - 1) / n)
    pairs = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], axis=1)
    tree = sepool.coding_tree((pairs, weights), 3)
    assert tree.entropy == pytest.approx(sepool.structural_entropy((pairs, weights), tree))
