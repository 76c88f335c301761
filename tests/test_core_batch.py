"""Many graphs in one call: the same trees whatever the threads, and arrays that are checked."""

from __future__ import annotations

import threading
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sepool
from sepool import _core, coding_tree, coding_trees

from . import shapes
from .test_core_merge import BAD_ROWS, bad_rows

FIELDS = ("counts", "parent", "volume", "boundary", "entropy")


def mixed_graphs(count: int) -> list[np.ndarray]:
    """Molecules, trees and graphs with hubs, of 2 to 60 nodes."""
    random = Random(0)
    kinds = [shapes.molecule, shapes.random_tree, shapes.preferential]
    return [np.array(random.choice(kinds)(random.randint(2, 60), seed)) for seed in range(count)]


def arrays(trees: sepool.TreeBatch) -> list[list]:
    return [getattr(trees, name).tolist() for name in FIELDS]


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("height", [1, 2, 4])
def test_thread_counts_make_no_difference(height, method):
    graphs = mixed_graphs(40 if method == "best" else 300)
    one = arrays(coding_trees(graphs, height, method=method, num_threads=1))
    for num_threads in (2, 3, 64, None):
        trees = coding_trees(graphs, height, method=method, num_threads=num_threads)
        assert arrays(trees) == one


@pytest.mark.parametrize("method", ["fast", "paper"])
def test_a_large_graph_among_small_ones(method):
    """Long work can be interrupted, on a code path of its own."""
    large = np.random.default_rng(0).integers(0, 30_000, (110_000, 2))
    graphs = [*mixed_graphs(5), large, *mixed_graphs(5)]
    trees = [coding_trees(graphs, 3, method=method, num_threads=n) for n in (1, 2)]
    assert arrays(trees[0]) == arrays(trees[1])
    alone = coding_tree(large, 3, method=method)
    assert alone.parent.tolist() == trees[0][5].parent.tolist()
    assert alone.entropy == trees[0][5].entropy


@given(st.lists(shapes.graphs(), max_size=6), st.integers(1, 4), st.sampled_from(shapes.METHODS))
def test_a_batch_is_what_its_graphs_give_alone(listed, height, method):
    graphs = [sepool.as_graph(edges, num_nodes=n) for n, edges in listed]
    trees = coding_trees(graphs, height, method=method)
    assert len(trees) == len(graphs)
    for tree, graph in zip(trees, graphs, strict=True):
        alone = coding_tree(graph, height, method=method)
        assert (tree.counts, tree.entropy) == (alone.counts, alone.entropy)
        assert tree.parent.tolist() == alone.parent.tolist()
        assert tree.volume.tolist() == alone.volume.tolist()
        assert tree.boundary.tolist() == alone.boundary.tolist()


def test_loops_and_weights_stay_with_their_graph():
    plain, loops = [(0, 1), (1, 2)], [(0, 1), (0, 0)]
    heavy = [(0, 1, 0.5), (1, 1, 2.0), (1, 2, 1 / 3)]
    trees = coding_trees([plain, loops, heavy, plain], 2, self_loops=True)
    assert trees[0].volumes(0).tolist() == trees[3].volumes(0).tolist() == [1, 2, 1]
    assert trees[1].volumes(0).tolist() == [3, 1]
    assert trees[2].volumes(0) == pytest.approx([0.5, 4.5 + 1 / 3, 1 / 3])


def test_calls_from_several_threads_at_once():
    graphs = mixed_graphs(30)
    expected, results = arrays(coding_trees(graphs, 3)), []
    threads = [
        threading.Thread(target=lambda: results.append(arrays(coding_trees(graphs, 3))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def trees(node_ptr, indptr, indices, weights, loops, **options):
    options = {
        "height": 2,
        "method": "best",
        "seed": 0,
        "num_threads": 1,
        "progress": None,
    } | options
    return _core.trees(node_ptr, indptr, indices, weights, loops, **options)


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("method", shapes.METHODS)
def test_bad_rows(name, method):
    rows = bad_rows(name)
    node_ptr = np.array([0, max(0, len(rows[0]) - 1)])
    with pytest.raises(ValueError, match=r"\w"):
        trees(node_ptr, *rows, method=method)


@pytest.mark.parametrize(
    "node_ptr", [[], [0, 3], [0, 1], [1, 2], [0, -1, 2], [0, 3, 2], [-1, 2], [0, 2**40], [0, 0, 2]]
)
def test_bad_pointers(node_ptr):
    with pytest.raises(ValueError, match=r"\w"):
        trees(np.array(node_ptr, np.int64), *shapes.rows([(0, 1)], 2))


def test_a_neighbour_in_another_graph_of_the_batch():
    """Ids count from 0 in every graph: node 1 of a graph of one node does not exist."""
    rows = np.array([0, 1, 2]), np.array([1, 0], np.int32), None, None
    with pytest.raises(ValueError, match=r"\w"):
        trees(np.array([0, 1, 2]), *rows)


def test_sums_that_overflow():
    rows = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([2**62, 2**62]), None
    with pytest.raises(ValueError, match=r"\w"):
        trees(np.array([0, 2]), *rows)


def test_a_graph_put_together_by_hand():
    """`Graph` takes any arrays, so what is wrong with them must come out as an error."""
    one_way = sepool.Graph(np.array([0, 1, 1]), np.array([1], np.int32))
    beyond = sepool.Graph(np.array([0, 1, 2]), np.array([1, 70_000_000], np.int32))
    for graph in (one_way, beyond):
        for method in shapes.METHODS:
            with pytest.raises(ValueError, match=r"\w"):
                coding_tree(graph, method=method)


@pytest.mark.parametrize("n", [10, 300])  # small graphs are checked in another way
@pytest.mark.parametrize("text", ["twice", "names itself", "not sorted"])
def test_rows_that_are_not_in_order(n, text):
    """A SciPy matrix may have such rows; trusted, they would be merged beyond the room they get."""
    u = np.arange(n)
    ring = np.sort(np.column_stack([(u - 1) % n, (u + 1) % n]), 1)
    rows = {
        "twice": np.sort(np.column_stack([ring, u ^ 1]), 1),
        "names itself": np.sort(np.column_stack([ring, u]), 1),
        "not sorted": ring[:, ::-1],
    }[text]
    graph = sepool.Graph(
        np.arange(n + 1, dtype=np.int64) * rows.shape[1], rows.ravel().astype(np.int32)
    )
    for method in shapes.METHODS:
        with pytest.raises(ValueError, match=text):
            coding_tree(graph, 2, method=method)


def test_other_options():
    rows = np.array([0, 2]), *shapes.rows([(0, 1)], 2)
    with pytest.raises(ValueError, match="method must be paper, fast or best, got 'worst'"):
        trees(*rows, method="worst")
    for num_threads in (0, -1, 10_000, 2**29, 2**31 - 1):
        assert trees(*rows, num_threads=num_threads)[4].tolist() == [1]
    with pytest.raises(TypeError):
        trees(*rows, seed=-1)
