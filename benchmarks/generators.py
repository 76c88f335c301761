"""Generators in plain NumPy: four families of up to tens of millions of edges, and hard shapes.

``m`` is the number of edges asked for; a few per cent fewer survive the removal of repeats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphs import Edges, grid, simple_pairs


def barabasi_albert(m: int, seed: int, per_node: int = 5) -> Edges:
    """Preferential attachment: an edge's end is the end of a uniformly drawn earlier edge."""
    rng = np.random.default_rng(seed)
    edge = np.arange(m)
    source = edge // per_node + 1
    # Slot 2i holds the source of edge i, slot 2i+1 its target, which copies an earlier slot.
    copied = (rng.random(m) * (2 * (source - 1) * per_node + 1)).astype(np.int64)
    copied[source == 1] = 0
    slot = copied.copy()
    chained = np.flatnonzero(slot % 2)
    while len(chained):
        slot[chained] = copied[slot[chained] // 2]
        chained = chained[slot[chained] % 2 == 1]
    target = np.where(slot == 0, 0, source[slot // 2])
    return Edges("Barabasi-Albert", int(source[-1]) + 1, simple_pairs(source, target))


def planted_partition(m: int, seed: int, degree: int = 16, size: int = 200) -> Edges:
    """Communities of ``size`` nodes; four links of five stay inside."""
    rng = np.random.default_rng(seed)
    n = max(2 * m // degree // size, 2) * size
    u = rng.integers(n, size=m)
    inside = rng.random(m) < 0.8
    v = np.where(inside, u // size * size + rng.integers(size, size=m), rng.integers(n, size=m))
    return Edges("planted partition", n, simple_pairs(u, v))


def square_grid(m: int, seed: int = 0) -> Edges:
    side = max(round((m / 2) ** 0.5), 2)
    return Edges("grid", side * side, grid(side, side).pairs)


def rmat(m: int, seed: int) -> Edges:
    """R-MAT with the Graph500 probabilities (.57, .19, .19, .05), isolated nodes dropped."""
    rng = np.random.default_rng(seed)
    scale = max(round(np.log2(m / 8)), 2)
    u, v = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for _ in range(scale):
        draw = rng.random(m, dtype=np.float32)
        u = 2 * u + (draw >= 0.76)
        v = 2 * v + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    used, ids = np.unique(simple_pairs(u, v), return_inverse=True)
    return Edges("R-MAT", len(used), ids.reshape(-1, 2))


FAMILIES: dict[str, Callable[[int, int], Edges]] = {
    "Barabasi-Albert": barabasi_albert,
    "planted partition": planted_partition,
    "grid": square_grid,
    "R-MAT": rmat,
}


def shuffled(graph: Edges, seed: int) -> Edges:
    """The same graph under random node ids and with its edges in random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(graph.num_edges)
    pairs = rng.permutation(graph.num_nodes)[graph.pairs[order]]
    weights = None if graph.weights is None else graph.weights[order]
    return Edges(graph.name, graph.num_nodes, pairs, weights)


# ---------------------------------------------------------------------------------------------
# shapes that turn careless algorithms quadratic; n is the number of nodes


def star(n: int) -> Edges:
    leaves = np.arange(1, n)
    return Edges("star", n, np.stack([np.zeros_like(leaves), leaves], axis=1))


def path(n: int) -> Edges:
    nodes = np.arange(n - 1)
    return Edges("path", n, np.stack([nodes, nodes + 1], axis=1))


def caterpillar(n: int, legs: int = 3) -> Edges:
    """A path whose nodes carry ``legs`` leaves each."""
    spine = n // (legs + 1)
    leaves = np.arange(spine, n)
    leg = np.stack([(leaves - spine) % spine, leaves], axis=1)
    return Edges("caterpillar", n, np.concatenate([path(spine).pairs, leg]))


def wheel(n: int) -> Edges:
    rim = np.roll(np.arange(1, n), -1)
    rim_pairs = np.stack([np.arange(1, n), rim], axis=1)
    return Edges("wheel", n, np.concatenate([star(n).pairs, rim_pairs]))


def complete(n: int) -> Edges:
    u, v = np.triu_indices(n, 1)
    return Edges("complete", n, np.stack([u, v], axis=1).astype(np.int64))


def bipartite(a: int, b: int) -> Edges:
    u, v = np.divmod(np.arange(a * b), b)
    name = "complete bipartite" if a == b else f"complete bipartite, {a} against n"
    return Edges(name, a + b, np.stack([u, a + v], axis=1))


def weighted_star(n: int, *, close: bool) -> Edges:
    """A star whose weights all differ: spread over 1..1000 (shuffled), or 1 + i * 1e-9."""
    i = np.arange(n - 1, dtype=np.float64)
    if close:
        weights, kind = 1 + i * 1e-9, "nearly equal weights"
    else:
        weights, kind = 1 + 999 * np.random.default_rng(0).permutation(i / n), "spread weights"
    return Edges(f"star, {kind}", n, star(n).pairs, weights)
