"""Canonical order: equal results for relabelled graphs."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sepool
from sepool import _core

from . import shapes
from .test_core_merge import BAD_ROWS, bad_rows


def relabelled(n: int, edges, seed: int):
    """The same graph with shuffled node ids, shuffled edges and swapped ends."""
    random = Random(seed)
    name = random.sample(range(n), n)
    edges = [(name[u], name[v], *w) for u, v, *w in edges]
    edges = [(e[1], e[0], *e[2:]) if random.random() < 0.5 else e for e in edges]
    return random.sample(edges, len(edges))


def shape_of(tree: sepool.CodingTree):
    """The tree without its labels: equal for isomorphic trees with the same volumes and cuts."""
    below = [[] for _ in range(tree.num_nodes)]
    for level in range(tree.height + 1):
        here = [
            (round(v, 9), round(g, 9), tuple(sorted(b)))
            for v, g, b in zip(tree.volumes(level), tree.boundaries(level), below, strict=True)
        ]
        if level < tree.height:
            below = [[] for _ in range(tree.num_clusters(level + 1))]
            for node, p in zip(here, tree.assignment(level + 1), strict=True):
                below[p].append(node)
    return here[0]


@given(shapes.graphs(max_nodes=30))
def test_it_is_a_permutation(graph):
    n, edges = graph
    assert sorted(_core.canonical_order(*shapes.rows(edges, n)).tolist()) == list(range(n))


def arcs_in_order(n: int, edges) -> list[tuple[int, int, int]]:
    """The graph as numbered by its canonical order."""
    indptr, indices, weights, loops = shapes.rows(edges, n)
    position = np.argsort(_core.canonical_order(indptr, indices, weights, loops))
    u = np.repeat(np.arange(n), np.diff(indptr))
    w = np.ones(len(u), int) if weights is None else weights
    return sorted(zip(position[u].tolist(), position[indices].tolist(), w.tolist(), strict=True))


RINGS = [*shapes.ring(6), *((u + 6, v + 6) for u, v in shapes.ring(9))]
CASES = {
    "star": (30, shapes.star(30)),
    "ring": (30, shapes.ring(30)),
    "complete": (9, shapes.complete(9)),
    "bipartite": (12, shapes.bipartite(12)),
    "wheel": (20, shapes.wheel(20)),
    "grid": (36, shapes.grid(36)),
    "caterpillar": (30, shapes.caterpillar(30)),
    "path": (31, shapes.path(31)),
    "four edges": (8, [(0, 1), (2, 3), (4, 5), (6, 7)]),
    "two rings and lone nodes": (20, RINGS),
    "weighted": (20, [(u, v, u % 3 + 1) for u, v in shapes.random_graph(20, 50, 9)]),
    **{f"tree {seed}": (40, shapes.random_tree(40, seed)) for seed in range(8)},
    **{f"molecule {seed}": (24, shapes.molecule(24, seed)) for seed in range(8)},
    **{f"random {seed}": (20, shapes.random_graph(20, 40, seed)) for seed in range(8)},
    **{f"preferential {seed}": (60, shapes.preferential(60, seed)) for seed in range(8)},
}


@pytest.mark.parametrize("name", CASES)
def test_isomorphic_graphs_become_one_graph(name):
    n, edges = CASES[name]
    first = arcs_in_order(n, edges)
    for seed in range(5):
        assert arcs_in_order(n, relabelled(n, edges, seed)) == first


def test_rings_of_different_length_are_told_apart():
    """Refinement cannot do it, and which ring comes first must not depend on the labels."""
    first = arcs_in_order(15, RINGS)
    for seed in range(30):
        assert arcs_in_order(15, relabelled(15, RINGS, seed)) == first


@pytest.mark.parametrize("method", shapes.METHODS)
@pytest.mark.parametrize("name", CASES)
def test_isomorphic_graphs_have_isomorphic_trees(name, method):
    """Proposition 2, as far as it can be kept."""
    n, edges = CASES[name]
    for height in (2, 3):
        tree = sepool.coding_tree(sepool.as_graph(edges, num_nodes=n), height, method=method)
        for seed in range(3):
            graph = sepool.as_graph(relabelled(n, edges, seed), num_nodes=n)
            other = sepool.coding_tree(graph, height, method=method)
            assert other.entropy == pytest.approx(tree.entropy, abs=1e-9)
            assert shape_of(other) == shape_of(tree)


@given(shapes.graphs(max_nodes=10), st.integers(0, 99), st.sampled_from(shapes.METHODS))
def test_any_small_graph_has_an_entropy_of_its_own(graph, seed, method):
    """Real weights too: they are rounded alike in any order of the edges."""
    n, edges = graph
    trees = [
        sepool.coding_tree(sepool.as_graph(e, num_nodes=n), 3, method=method)
        for e in (edges, relabelled(n, edges, seed))
    ]
    assert trees[0].entropy == pytest.approx(trees[1].entropy, abs=1e-9)


def test_loops_tell_nodes_apart():
    """A ring in which one node has a loop: its two neighbours are alike, the rest is not."""
    ring = [*shapes.ring(6), (4, 4)]
    graph = sepool.as_graph(ring, self_loops=True)
    order = _core.canonical_order(graph.indptr, graph.indices, graph.weights, graph.loops)
    other = sepool.as_graph(relabelled(6, ring, 1), self_loops=True)
    again = _core.canonical_order(other.indptr, other.indices, other.weights, other.loops)
    assert graph.loops[order].tolist() == other.loops[again].tolist()


def coloured_form(n: int, edges, colours: list[int], arcs: dict) -> tuple:
    """The graph and its colours as numbered by the canonical order."""
    indptr, indices, weights, loops = shapes.rows(edges, n)
    u = np.repeat(np.arange(n), np.diff(indptr))
    of_arcs = np.array([arcs[pair] for pair in zip(u.tolist(), indices.tolist(), strict=True)])
    order = _core.canonical_order(
        indptr, indices, weights, loops, np.array(colours), of_arcs.astype(np.int64)
    )
    position = np.argsort(order)
    links = zip(position[u].tolist(), position[indices].tolist(), of_arcs.tolist(), strict=True)
    return sorted(links), [colours[u] for u in order]


@pytest.mark.parametrize("name", [name for name in CASES if name != "weighted"])
def test_isomorphic_graphs_with_colours_become_one_graph(name):
    n, edges = CASES[name]
    for seed in range(5):
        random = Random(seed)
        colours = random.choices(range(3), k=n)
        arcs = {}
        for u, v in edges:  # some edges with one colour, some with one for each direction
            arcs[u, v] = random.randrange(2)
            arcs[v, u] = arcs[u, v] if seed % 2 else random.randrange(2)
        first = coloured_form(n, edges, colours, arcs)
        number = random.sample(range(n), n)
        other = coloured_form(
            n,
            [(number[u], number[v]) for u, v in edges],
            [colours[number.index(u)] for u in range(n)],
            {(number[u], number[v]): colour for (u, v), colour in arcs.items()},
        )
        assert other == first


@pytest.mark.parametrize("name", CASES)
def test_colours_change_no_shape_of_a_tree(name):
    n, edges = CASES[name]
    graph = sepool.as_graph(edges, num_nodes=n)
    [plain] = sepool.coding_trees([graph], 3)
    for seed in range(3):
        colours = np.random.default_rng(seed).integers(0, 3, n)
        [tree] = sepool.coding_trees([graph], 3, colours=[colours])
        assert shape_of(tree) == shape_of(plain)
        assert tree.entropy == plain.entropy


def test_equal_colours_are_none():
    n, edges = CASES["grid"]
    graph = sepool.as_graph(edges, num_nodes=n)
    plain, equal = (
        sepool.coding_trees([graph], 3, colours=colours)[0] for colours in (None, [np.ones(n)])
    )
    assert equal.parent.tolist() == plain.parent.tolist()


def test_colours_of_a_large_graph_are_independent_of_its_order():
    """Colours are hashed where there are more than 200,000 arcs."""
    rng = np.random.default_rng(0)
    n, length = 72_000, 6  # rings of six with their diagonals
    start = length * (np.arange(n) // length)
    ring = np.column_stack([np.arange(n), start + (np.arange(n) + 1 - start) % length])
    across = np.column_stack([np.arange(n), start + (np.arange(n) + 3 - start) % length])
    edges = np.concatenate([ring, across[np.arange(n) % length < 3]])
    colours = (rng.random(n) < 0.3).astype(np.int64)
    forms = []
    for number in (np.arange(n), rng.permutation(n)):
        graph = sepool.as_graph(number[edges])
        moved = np.empty_like(colours)
        moved[number] = colours
        order = _core.canonical_order(graph.indptr, graph.indices, None, None, moved)
        position = np.argsort(order)
        links = position[np.column_stack(graph.edges()[:2])]
        links.sort(axis=1)
        forms.append((links[np.lexsort(links.T)].tolist(), moved[order].tolist()))
    assert len(graph.indices) > 200_000
    assert forms[0] == forms[1]


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows(name):
    with pytest.raises(ValueError, match=r"\w"):
        _core.canonical_order(*bad_rows(name))
