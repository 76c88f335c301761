"""Graphs for the tests of the core: fixed shapes by name, random ones by Hypothesis."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import strategies as st

import sepool

Edges = list[tuple[int, int]]
Weighted = list[tuple[int, int, float]]
METHODS = ["best", "fast", "paper"]


def same(a: sepool.Graph, b: sepool.Graph) -> bool:
    """Equal rows, weights and loops, as the caller sees them."""
    return (
        a.num_nodes == b.num_nodes
        and all(np.allclose(x, y) for x, y in zip(a.edges(), b.edges(), strict=True))
        and np.allclose(a.degrees(), b.degrees())
    )


def path(n: int) -> Edges:
    return [(i, i + 1) for i in range(n - 1)]


def ring(n: int) -> Edges:
    return [*path(n), (n - 1, 0)]


def star(n: int) -> Edges:
    return [(0, i) for i in range(1, n)]


def wheel(n: int) -> Edges:
    return [*star(n), *((i, i + 1) for i in range(1, n - 1)), (n - 1, 1)]


def caterpillar(n: int) -> Edges:
    """A path with a leaf at every node."""
    return [*path(n // 2), *((i, n // 2 + i) for i in range(n // 2))]


def complete(n: int) -> Edges:
    return [(i, j) for j in range(n) for i in range(j)]


def bipartite(n: int) -> Edges:
    return [(i, j) for i in range(n // 3) for j in range(n // 3, n)]


def grid(n: int) -> Edges:
    side = round(n**0.5)
    at = np.arange(side * side).reshape(side, side)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], 1)
    return [tuple(row) for row in np.concatenate([across, down]).tolist()]


def random_tree(n: int, seed: int) -> Edges:
    random = Random(seed)
    return [(random.randrange(i), i) for i in range(1, n)]


def molecule(n: int, seed: int) -> Edges:
    """A random tree of small degree with a few rings closed, about what MUTAG holds."""
    random, degree, edges = Random(seed), [0] * n, []
    for i in range(1, n):
        at = random.choice([j for j in range(i) if degree[j] < 3])
        edges.append((at, i))
        degree[at] += 1
        degree[i] += 1
    for _ in range(n // 6):
        i, j = random.sample(range(n), 2)
        edges.append((i, j))
    return sorted({(min(e), max(e)) for e in edges})


def preferential(n: int, seed: int, links: int = 2) -> Edges:
    """Barabasi-Albert: hubs of all sizes."""
    random, ends, edges = Random(seed), [0], []
    for i in range(1, n):
        for j in {random.choice(ends) for _ in range(links)}:
            edges.append((j, i))
            ends += [i, j]
    return edges


def random_graph(n: int, m: int, seed: int) -> Edges:
    random = Random(seed)
    pairs = {tuple(sorted(random.sample(range(n), 2))) for _ in range(m)}
    return sorted(pairs)


def with_weights(edges: Edges, weight) -> Weighted:
    return [(u, v, weight(i)) for i, (u, v) in enumerate(edges)]


def distinct_weights(edges: Edges, seed: int = 0) -> Weighted:
    """Random weights: no two gains are equal."""
    random = Random(seed)
    return with_weights(edges, lambda _: random.uniform(0.5, 2))


def rows(edges, num_nodes: int) -> tuple:
    """indptr, indices, weights and loops, as the stages of the core take them."""
    graph = sepool.as_graph(edges, num_nodes=num_nodes)
    return graph.indptr, graph.indices, graph.weights, graph.loops


@st.composite
def graphs(draw, max_nodes: int = 14, weights: str = "any") -> tuple[int, Weighted]:
    """A number of nodes and a list of edges; loops, repeats, lone nodes and zero weights occur."""
    n = draw(st.integers(1, max_nodes))
    kinds = {
        "ones": st.just(1.0),
        "integers": st.integers(0, 9).map(float),
        "reals": st.floats(0.01, 9),
    }
    weight = draw(st.sampled_from(list(kinds.values()))) if weights == "any" else kinds[weights]
    node = st.integers(0, n - 1)
    base = draw(st.sampled_from([[], path(n), star(n), ring(n), complete(min(n, 7))]))
    more = draw(st.lists(st.tuples(node, node), max_size=2 * n))
    return n, [(u, v, draw(weight)) for u, v in [*base, *more]]
