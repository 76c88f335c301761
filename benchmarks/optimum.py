"""How far every method is from the true optimum, on all graphs of at most ten nodes.

The optimum is found by dynamic programming over all subsets of nodes. Let e(B) be the number of
edges inside a set B and vol(B) its volume. The least cost of B as a tree node with j levels below
is F_1(B) = e(B) log vol(B) and

    F_j(B) = e(B) log vol(B) + min over partitions of B of the sum of F_{j-1}(b) - e(b) log vol(B),

because an edge pays the log volume of the lowest tree node that holds both ends. Then
H = (2 F_k(all nodes) - sum of d log d) / V. Graphs of one size share their subsets, so all of them
are solved together, one NumPy operation for each pair (B, S of B). `--check` compares this with a
recursion over all trees that evaluates the definition of H.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from entropy import dataset_scores
from graphs import Edges, FloatArray, IntArray, tu_datasets
from peers import INFOMAP, LEIDEN, LOUVAIN, OURS, TGP, available
from results import Recorder, parser, root_of
from score import Levels, entropy

LARGEST = 10
JUDGED = ("MUTAG", "NCI1", "PROTEINS", "IMDB-BINARY")
EXTRA = ("PTC_MR", "ENZYMES", "IMDB-MULTI")


def optimal(graphs: list[Edges], height: int) -> FloatArray:
    """The least H of every graph over all trees of the height."""
    result = np.zeros(len(graphs))
    sizes = np.array([graph.num_nodes for graph in graphs])
    for n in np.unique(sizes):
        which = np.flatnonzero(sizes == n)
        result[which] = _same_size([graphs[i] for i in which], int(n), height)
    return result


def _same_size(graphs: list[Edges], n: int, height: int) -> FloatArray:
    inside, volume = _subset_sums(graphs, n)  # (subsets, graphs)
    log = np.log2(np.maximum(volume, 1.0))  # a set without volume has no edges to pay for
    flat = inside * log
    cost = flat
    everything = (1 << n) - 1
    for level in range(2, height + 1):
        top = level == height
        cost = np.stack(
            [
                flat[block] + _best_partition(block, cost - inside * log[block])
                if not top or block == everything
                else flat[block]
                for block in range(1 << n)
            ]
        )
    degrees = volume[[1 << i for i in range(n)]]
    plain = (degrees * np.log2(np.maximum(degrees, 1.0))).sum(axis=0)
    least: FloatArray = (2 * cost[everything] - plain) / volume[everything]
    return least


def _best_partition(block: int, price: FloatArray) -> FloatArray:
    """Least total price of a partition of ``block``; ``price`` has a row for each subset.

    The cheapest partition of S is the cheapest choice of the part that holds S's lowest node.
    """
    best = np.zeros_like(price)
    for subset in _subsets(block):
        if subset == 0:
            continue
        lowest = subset & -subset
        parts = np.array(list(_subsets(subset ^ lowest))) | lowest
        best[subset] = (price[parts] + best[subset ^ parts]).min(axis=0)
    least: FloatArray = best[block]
    return least


def _subsets(mask: int) -> Iterator[int]:
    """All subsets of a bit mask in increasing order."""
    subset = 0
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask


def _subset_sums(graphs: list[Edges], n: int) -> tuple[FloatArray, FloatArray]:
    """Edge weight inside every subset and its volume, for every graph."""
    member = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    inside = np.zeros((1 << n, len(graphs)))
    volume = np.zeros((1 << n, len(graphs)))
    for i, graph in enumerate(graphs):
        u, v = graph.pairs.T
        degree = np.bincount(graph.pairs.ravel(), minlength=n)
        inside[:, i] = (member[:, u] & member[:, v]).sum(axis=1)
        volume[:, i] = member @ degree
    return inside, volume


# ---------------------------------------------------------------------------------------------
# the check: all trees, one by one, scored by the definition


def by_enumeration(graph: Edges, height: int) -> float:
    return min(entropy(graph, levels) for levels in _hierarchies(graph.num_nodes, height - 1))


def _hierarchies(n: int, depth: int) -> Iterator[Levels]:
    """All nested clusterings of n things with ``depth`` levels, finest first."""
    if depth == 0:
        yield []
        return
    for labels in _partitions(n):
        for above in _hierarchies(int(labels.max()) + 1, depth - 1):
            yield [labels, *(level[labels] for level in above)]


def _partitions(n: int) -> Iterator[IntArray]:
    """All set partitions of 0..n-1 as labels, each once (restricted growth strings)."""

    def grow(labels: list[int]) -> Iterator[IntArray]:
        if len(labels) == n:
            yield np.array(labels, np.int64)
            return
        for label in range(max(labels, default=-1) + 2):
            yield from grow([*labels, label])

    yield from grow([])


def check(count: int, seed: int = 0) -> float:
    """The largest difference between the two ways on random graphs of two to five nodes."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(count):
        n = int(rng.integers(2, 6))
        u, v = np.triu_indices(n, 1)
        keep = rng.random(len(u)) < rng.uniform(0.2, 1.0)
        keep[rng.integers(len(u))] = True
        graph = Edges("random", n, np.stack([u[keep], v[keep]], axis=1).astype(np.int64))
        for height in (2, 3):
            exact = float(optimal([graph], height)[0])
            worst = max(worst, abs(exact - by_enumeration(graph, height)))
    return worst


# ---------------------------------------------------------------------------------------------


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--check", action="store_true", help="only compare with enumeration")
    arguments = options.parse_args()
    quick = arguments.quick
    trials = 20 if quick else 200
    worst = check(trials)
    print(f"subset programming against enumeration of all trees, {trials} graphs: {worst:.1e}")
    if worst > 1e-9:
        raise SystemExit("the optimum is wrong; nothing measured")
    if arguments.check:
        return
    root = root_of(arguments)
    out = Recorder(__file__, quick)
    out.add(kind="check", graphs=trials, worst=worst)
    methods = available((*OURS, TGP, INFOMAP, LEIDEN, LOUVAIN))
    for name, dataset in tu_datasets(JUDGED + EXTRA, root):
        graphs = [graph for graph in dataset if graph.num_nodes <= LARGEST]
        graphs = graphs[:20] if quick else graphs
        for height in (2, 3):
            if not graphs:
                out.add(kind="gap", dataset=name, judged=name in JUDGED, height=height, graphs=0)
                continue
            least = optimal(graphs, height)
            for method in methods:
                gap = dataset_scores(graphs, height, method) / least - 1
                if np.nanmin(gap, initial=0) < -1e-9:
                    raise SystemExit(f"{method.name} is below the optimum on {name}: a bug")
                out.add(
                    kind="gap",
                    dataset=name,
                    judged=name in JUDGED,
                    height=height,
                    graphs=len(graphs),
                    method=method.name,
                    mean_gap=float(np.nanmean(np.maximum(gap, 0.0))),
                    max_gap=float(max(np.nanmax(gap), 0.0)),
                    optimal=int((gap < 1e-9).sum()),
                )


if __name__ == "__main__":
    main()
