"""Generators in plain NumPy: four families of up to tens of millions of edges, and hard shapes.

``m`` is the number of edges asked for; a few per cent fewer survive the removal of repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphs import Edges, IntArray, grid, simple_pairs


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


def _pairs(u: IntArray | int, v: IntArray) -> IntArray:
    return np.stack(np.broadcast_arrays(u, v), axis=1).astype(np.int64)


def caterpillar(n: int, legs: int = 3) -> IntArray:
    """A path whose nodes carry ``legs`` leaves each."""
    nodes, spine = np.arange(1, n), n // (legs + 1)
    return _pairs(np.where(nodes < spine, nodes - 1, (nodes - spine) % spine), nodes)


def wheel(n: int) -> IntArray:
    rim = np.arange(1, n)
    return np.concatenate([_pairs(0, rim), _pairs(rim, np.roll(rim, -1))])


def bipartite(a: int, b: int) -> IntArray:
    u, v = np.divmod(np.arange(a * b), b)
    return _pairs(u, a + v)


def deep_tree(n: int) -> IntArray:
    """A tree whose nodes hang at one of the ten before them: a sixth of the nodes high."""
    rng = np.random.default_rng(0)
    nodes = np.arange(1, n)
    return _pairs(np.maximum(nodes - rng.integers(1, 11, n - 1), 0), nodes)


def regular(n: int) -> IntArray:
    """A random graph of degree four: two cycles through all nodes in random order."""
    rng = np.random.default_rng(0)
    cycles = [rng.permutation(n) for _ in range(2)]
    return np.concatenate([_pairs(cycle, np.roll(cycle, 1)) for cycle in cycles])


SHAPES: dict[str, Callable[[int], IntArray]] = {  # by number of nodes
    "star": lambda n: _pairs(0, np.arange(1, n)),
    "path": lambda n: _pairs(np.arange(n - 1), np.arange(1, n)),
    "caterpillar": caterpillar,
    "deep tree": deep_tree,
    "random regular": regular,
    "wheel": wheel,
    "star, spread weights": lambda n: _pairs(0, np.arange(1, n)),
    "star, nearly equal weights": lambda n: _pairs(0, np.arange(1, n)),
    "complete bipartite, 3 against n": lambda n: bipartite(3, n - 3),
    "complete": lambda n: _pairs(*np.triu_indices(n, 1)),
    "complete bipartite": lambda n: bipartite(n // 2, n // 2),
}


def shape(name: str, n: int) -> Edges:
    """A shape of ``n`` nodes; weights are spread over 1..1000, or 1 + i * 1e-9."""
    pairs, weights = SHAPES[name](n), None
    i = np.arange(len(pairs), dtype=np.float64)
    if name.endswith("spread weights"):
        weights = 1 + 999 * np.random.default_rng(0).permutation(i / n)
    elif name.endswith("nearly equal weights"):
        weights = 1 + i * 1e-9
    return Edges(name, n, pairs, weights)


# ---------------------------------------------------------------------------------------------
# graphs with known communities, finest level first


@dataclass(frozen=True)
class Planted:
    """A graph and the clusters that it was made of."""

    graph: Edges
    levels: list[IntArray]


def power_law(
    rng: np.random.Generator, size: int, low: int, high: int, exponent: float
) -> IntArray:
    """Whole numbers between ``low`` and ``high`` whose density falls as x^-exponent."""
    u = rng.random(size)
    if exponent == 1:
        return (low * (high / low) ** u).astype(np.int64)
    power = 1 - exponent
    return ((low**power + u * (high**power - low**power)) ** (1 / power)).astype(np.int64)


def lfr(
    n: int,
    mixing: float,
    seed: int,
    mean: float = 15,
    highest: int = 50,
    small: int = 50,
    large: int = 1000,
) -> Planted:
    """LFR benchmark (Lancichinetti, Fortunato, Radicchi 2008) by two configuration models.

    Degrees fall as k^-2 up to ``highest``, sizes of communities as s^-1 between the given ones. A
    node has a share ``mixing`` of its edges to other communities, rounded at random. Repeated
    pairs, and pairs of the second model inside a community, are dropped: a few per cent.
    """
    rng = np.random.default_rng(seed)
    low = next(k for k in range(1, highest) if power_law_mean(k, highest) >= mean)
    degree = power_law(rng, n, low, highest + 1, 2)
    largest = min(large, max(n // 4, small + 1))
    sizes = power_law(rng, n // small + 2, small, largest, 1)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n) + 1]
    community = np.repeat(np.arange(len(sizes)), sizes)[:n]
    inside = np.floor((1 - mixing) * degree + rng.random(n)).astype(np.int64)
    inside = np.minimum(inside, np.bincount(community)[community] - 1)
    ends = np.repeat(np.arange(n, dtype=np.int64), inside)
    ends = rng.permutation(ends)
    ends = ends[np.argsort(community[ends], kind="stable")]
    near = ends[: len(ends) // 2 * 2].reshape(-1, 2)
    near = near[community[near[:, 0]] == community[near[:, 1]]]
    ends = rng.permutation(np.repeat(np.arange(n, dtype=np.int64), degree - inside))
    far = ends[: len(ends) // 2 * 2].reshape(-1, 2)
    far = far[community[far[:, 0]] != community[far[:, 1]]]
    pairs = np.concatenate([near, far])
    return Planted(Edges(f"LFR, mixing {mixing:g}", n, simple_pairs(*pairs.T)), [community])


def directed_lfr(n: int, mixing: float, seed: int, **options: int) -> Planted:
    """LFR graph whose edges have random directions; a tenth of them leads both ways."""
    planted = lfr(n, mixing, seed, **options)
    rng = np.random.default_rng(seed + 1)
    pairs = planted.graph.pairs
    turned = np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])
    back = turned[rng.random(len(pairs)) < 0.1][:, ::-1]
    arcs = np.concatenate([turned, back])
    return Planted(Edges(f"directed LFR, mixing {mixing:g}", n, arcs), planted.levels)


def power_law_mean(low: int, high: int) -> float:
    """The mean of integers between ``low`` and ``high`` whose density falls as k^-2."""
    k = np.arange(low, high + 1, dtype=np.float64)
    return float((k * k**-2.0).sum() / (k**-2.0).sum())


def hierarchy(counts: tuple[int, ...], size: int, shares: tuple[float, ...], seed: int) -> Planted:
    """Clusters in clusters: ``counts`` of them on every level, the fewest last.

    ``shares`` of the 16 links a node stay inside a cluster of each level, the rest goes anywhere.
    """
    rng = np.random.default_rng(seed)
    n = counts[0] * size
    widths = [n // count for count in counts] + [n]
    u = rng.integers(n, size=8 * n)
    width = rng.choice(widths, len(u), p=[*shares, 1 - sum(shares)])
    v = u // width * width + rng.integers(width)
    levels = [np.arange(n) // width for width in widths[:-1]]
    name = f"planted hierarchy {'/'.join(map(str, counts))}"
    return Planted(Edges(name, n, simple_pairs(u, v)), levels)


def neighbours(n: int, clusters: int, seed: int, k: int = 15) -> Planted:
    """Weighted graph of ``k`` nearest neighbours of points from Gaussian clusters, as scanpy's.

    Weights fall with the distance relative to that of the k-th neighbour, and are real numbers.
    """
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(seed)
    label = rng.integers(clusters, size=n)
    centre = rng.normal(scale=1.2, size=(clusters, 10))
    points = centre[label] + rng.normal(size=(n, 10))
    distance, index = NearestNeighbors(n_neighbors=k + 1).fit(points).kneighbors(points)
    u = np.repeat(np.arange(n), k)
    v, d = index[:, 1:].ravel(), distance[:, 1:].ravel()
    weight = np.exp(-((d / np.repeat(distance[:, -1], k)) ** 2))
    low, high = np.minimum(u, v), np.maximum(u, v)
    keys, slot = np.unique(low * np.int64(n) + high, return_inverse=True)
    pairs = np.stack([keys // n, keys % n], axis=1)
    weights = np.bincount(slot, weight)
    return Planted(Edges(f"kNN graph of {clusters} clusters", n, pairs, weights), [label])
