"""Properties of the methods, and cases that other implementations get wrong."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sepool
from sepool import coding_tree

from . import shapes
from .reference import PlainGraph, paper_tree

METHODS = shapes.METHODS


def entropies(graph, height: int) -> dict[str, float]:
    return {method: coding_tree(graph, height, method=method).entropy for method in METHODS}


def first_nodes(labels: np.ndarray) -> list[int]:
    """Every node with the first node of its cluster: equal for equal clusterings."""
    first = {int(label): int(node) for node, label in reversed(list(enumerate(labels)))}
    return [first[int(label)] for label in labels]


@pytest.mark.parametrize("seed", range(12))
def test_paper_is_algorithm_1(seed):
    """Random weights leave no ties, so there is one answer."""
    random = Random(seed)
    n = random.randint(2, 10)
    edges = shapes.distinct_weights(shapes.random_graph(n, random.randint(1, 2 * n), seed), seed)
    graph, plain = sepool.as_graph(edges, num_nodes=n), PlainGraph(n, edges)
    for height in (2, 3, 4):
        tree = coding_tree(graph, height, method="paper")
        levels = [first_nodes(tree.labels(level)) for level in range(1, height)]
        assert levels == paper_tree(plain, height)


def test_paper_is_algorithm_1_on_the_bridge(bridge):
    plain = PlainGraph(6, [(u, v, 1) for u, v in bridge])
    assert paper_tree(plain, 2) == [first_nodes(coding_tree(bridge, 2, method="paper").labels(1))]


@given(shapes.graphs(max_nodes=25), st.integers(1, 5))
def test_best_is_the_best(graph, height):
    n, edges = graph
    found = entropies(sepool.as_graph(edges, num_nodes=n), height)
    assert found["best"] <= found["fast"] + 1e-12
    assert found["best"] <= found["paper"] + 1e-12


@pytest.mark.parametrize("height", [2, 3, 4])
@pytest.mark.parametrize(
    ("n", "edges"),
    [
        pytest.param(200, shapes.ring(200), id="ring"),
        pytest.param(900, shapes.grid(900), id="grid"),
        pytest.param(600, shapes.star(600), id="star"),
        pytest.param(600, shapes.distinct_weights(shapes.star(600)), id="weighted star"),
        pytest.param(500, shapes.wheel(500), id="wheel"),
        pytest.param(500, shapes.caterpillar(500), id="caterpillar"),
        pytest.param(500, shapes.path(500), id="path"),
        pytest.param(500, shapes.random_tree(500, 1), id="tree"),
        pytest.param(60, shapes.complete(60), id="complete"),
        pytest.param(90, shapes.bipartite(90), id="bipartite"),
        pytest.param(800, shapes.preferential(800, 1), id="preferential"),
        pytest.param(500, shapes.random_graph(500, 1500, 1), id="random"),
        pytest.param(500, shapes.distinct_weights(shapes.random_graph(500, 900, 2)), id="weighted"),
    ],
)
def test_best_is_the_best_on_larger_graphs(n, edges, height):
    found = entropies(sepool.as_graph(edges, num_nodes=n), height)
    assert found["best"] <= found["fast"] + 1e-12
    assert found["best"] <= found["paper"] + 1e-12


@pytest.mark.parametrize("n", [20, 40, 64])
def test_a_higher_tree_is_hardly_ever_worse(n):
    """Up to height 6 never, above by a percent at most, as the README says."""
    edges = shapes.random_graph(n, int(0.15 * n * n), n)
    found = [coding_tree(edges, height).entropy for height in range(1, 13)]
    for height, (lower, higher) in enumerate(pairwise(found), 2):
        assert higher <= lower * (1.01 if height > 6 else 1 + 1e-12), height


def planted(clusters: int, size: int, inside: float, links: int, seed: int = 0) -> np.ndarray:
    """Clusters of equal size, one after the other, and some edges between any two nodes."""
    rng = np.random.default_rng(seed)
    upper = np.column_stack(np.triu_indices(size, 1))
    blocks = [upper[rng.random(len(upper)) < inside] + size * c for c in range(clusters)]
    ends = rng.integers(0, clusters * size, (links, 2))
    return np.unique(np.sort(np.concatenate([*blocks, ends]), axis=1), axis=0)


@pytest.mark.parametrize("height", [2, 3])
@pytest.mark.parametrize(
    ("clusters", "size", "inside", "links"),
    [
        pytest.param(12, 30, 0.5, 600, id="dense"),
        pytest.param(50, 100, 0.5, 5_000, id="large"),
    ],
)
def test_best_finds_what_was_planted(clusters, size, inside, links, height):
    """Dense and large graphs are merged in rounds, large ones are shaken with less patience."""
    edges = planted(clusters, size, inside, links)
    assert len(edges) > 100_000 or clusters < 50  # large is what the core takes for large
    loops = np.repeat(np.arange(0, clusters * size, 7), 2).reshape(-1, 2)
    weight = np.random.default_rng(1).integers(1, 4, len(edges) + len(loops)).astype(float)
    for graph in (
        sepool.as_graph(edges, num_nodes=clusters * size),
        sepool.as_graph((np.concatenate([edges, loops]), weight), self_loops=True),
    ):
        tree = coding_tree(graph, height)
        truth = np.repeat(np.arange(clusters), size)
        if height == 2:
            assert first_nodes(tree.labels(1)) == first_nodes(truth)
        by_truth = sepool.CodingTree.from_levels(graph, [truth] * (height - 1))
        assert tree.entropy <= by_truth.entropy + 1e-12
        assert tree.entropy == pytest.approx(sepool.structural_entropy(graph, tree), abs=1e-9)
        assert tree.entropy <= coding_tree(graph, height, method="fast").entropy


@given(shapes.graphs(max_nodes=25), st.sampled_from(METHODS))
def test_more_levels_never_hurt(graph, method):
    n, edges = graph
    read = sepool.as_graph(edges, num_nodes=n)
    found = [coding_tree(read, height, method=method).entropy for height in (1, 2, 3, 4)]
    assert found[0] == pytest.approx(sepool.one_dimensional_entropy(read), abs=1e-9)
    assert all(h <= found[0] + 1e-12 for h in found)
    if method != "best":  # its refinement is not nested
        assert all(low <= high + 1e-12 for high, low in pairwise(found))


@given(
    shapes.graphs(weights="integers"),
    st.sampled_from([2, 3.0, 1000, 0.1, 0.3, 1e-9, 1e12]),
    st.sampled_from(METHODS),
    st.integers(2, 4),
)
def test_scaled_weights_give_the_same_tree(graph, scale, method, height):
    n, edges = graph
    tree, scaled = (
        coding_tree(sepool.as_graph(rows, num_nodes=n), height, method=method)
        for rows in (edges, [(u, v, w * scale) for u, v, w in edges])
    )
    assert scaled.parent.tolist() == tree.parent.tolist()
    assert scaled.entropy == pytest.approx(tree.entropy, abs=1e-12)
    assert scaled.volume == pytest.approx(tree.volume * scale, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [0.1, 7, 1e-9])
def test_scaled_weights_keep_ties(scale, method):
    """Three edges of 0.2 are two of 0.3: rounding may not decide between them."""
    for seed in range(60):
        edges = shapes.with_weights(shapes.random_graph(9, 16, seed), lambda i: float(2 + i % 2))
        tree = coding_tree(edges, method=method)
        scaled = coding_tree([(u, v, w * scale) for u, v, w in edges], method=method)
        assert scaled.parent.tolist() == tree.parent.tolist()


@given(shapes.graphs(), st.sampled_from(METHODS), st.integers(0, 2**63 - 1))
def test_the_same_call_gives_the_same_tree(graph, method, seed):
    n, edges = graph
    read = sepool.as_graph(edges, num_nodes=n)
    one, two = (coding_tree(read, 3, method=method, seed=seed) for _ in range(2))
    assert (one.counts, one.entropy) == (two.counts, two.entropy)
    assert one.parent.tolist() == two.parent.tolist()


@given(graph=shapes.graphs(), height=st.integers(1, 4), suffix=st.sampled_from([".json", ".npz"]))
def test_saved_trees_come_back(tmp_path_factory, graph, height, suffix):
    n, edges = graph
    tree = coding_tree(sepool.as_graph(edges, num_nodes=n), height)
    path = tmp_path_factory.mktemp("trees") / f"tree{suffix}"
    tree.save(path)
    again = sepool.CodingTree.load(path)
    assert (again.counts, again.entropy, again.names) == (tree.counts, tree.entropy, tree.names)
    for name in ("parent", "volume", "boundary"):
        assert getattr(again, name).tolist() == getattr(tree, name).tolist()


@pytest.mark.parametrize("method", METHODS)
class TestWhatGoesWrongElsewhere:
    def test_a_single_node(self, method):
        for edges in ([], [(0, 0)]):
            tree = coding_tree(sepool.as_graph(edges, num_nodes=1), 3, method=method)
            assert (tree.counts, tree.entropy) == ((1, 1, 1, 1), 0)

    def test_a_single_node_with_a_loop_that_counts(self, method):
        tree = coding_tree([(0, 0)], 2, method=method, self_loops=True)
        assert (tree.counts, tree.entropy, tree.volume.tolist()) == ((1, 1, 1), 0, [2, 2, 2])

    def test_a_single_edge(self, method):
        assert coding_tree([(0, 1)], 2, method=method).entropy == 1

    def test_self_loops_are_dropped_or_counted(self, method):
        loops = [(0, 1), (1, 2), (0, 0), (2, 2), (2, 2)]
        without = coding_tree([(0, 1), (1, 2)], 1, method=method)
        assert coding_tree(loops, 1, method=method).entropy == without.entropy
        counted = coding_tree(loops, 1, method=method, self_loops=True)
        assert counted.volumes(0).tolist() == [3, 2, 5]
        assert counted.boundaries(0).tolist() == [1, 2, 1]
        expected = sum(g / 10 * np.log2(10 / v) for v, g in ((3, 1), (2, 2), (5, 1)))
        assert counted.entropy == pytest.approx(expected)

    def test_parts_are_never_joined(self, method, bridge):
        parts = [*bridge, *((u + 6, v + 6) for u, v in bridge), (12, 13)]
        tree = coding_tree(sepool.as_graph(parts, num_nodes=15), 2, method=method)
        part = np.repeat([0, 1, 2, 3], [6, 6, 2, 1])
        assert all(len(set(part[tree.members(1, c)])) == 1 for c in range(tree.num_clusters(1)))

    def test_one_way_weighted_edges(self, method):
        sparse = pytest.importorskip("scipy.sparse")
        one_way = sparse.coo_array(([2.0, 3.0], ([0, 1], [1, 2])), (3, 3))
        with pytest.raises(ValueError, match=r"from node 0 to 1 weighs 2, back weighs 0"):
            coding_tree(one_way, method=method)
        tree = coding_tree(one_way, method=method, symmetrise=True)
        same = coding_tree([(0, 1, 2.0), (1, 2, 3.0)], method=method)
        assert tree.volume.tolist() == same.volume.tolist()
        assert tree.entropy == same.entropy
