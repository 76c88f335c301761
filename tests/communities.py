"""A small graph of communities with word features, for node classifiers."""

from __future__ import annotations

import numpy as np

CLASSES, SIZE, WORDS = 3, 40, 30


def community_set(seed=0, size=SIZE, noise=0.3, mixing=0.4):
    """Return a `NodeSet` of three communities, most words of a node being those of its own."""
    from sepool.pyg.format import EdgeBlocks
    from sepool_experiments.data.nodes import NodeSet

    rng = np.random.default_rng(seed)
    count = CLASSES * size
    y = rng.permutation(np.repeat(np.arange(CLASSES), size))
    chance = np.where(y[:, None] == y, 6 / size, mixing / size)
    upper = np.triu(rng.random((count, count)) < chance, 1)
    row, col = np.nonzero(upper | upper.T)
    x = np.zeros((count, WORDS), np.float32)
    for node, label in enumerate(y):
        own = label * (WORDS // CLASSES) + rng.integers(0, WORDS // CLASSES, 4)
        other = rng.integers(0, WORDS, 4)
        x[node, np.where(rng.random(4) < noise, other, own)] = 1
    x /= x.sum(axis=1, keepdims=True)
    order = rng.permutation(count)
    train = np.concatenate([order[y[order] == label][:8] for label in range(CLASSES)])
    rest = order[~np.isin(order, train)]
    val, test = np.sort(rest[: len(rest) // 2]), np.sort(rest[len(rest) // 2 :])
    edges = EdgeBlocks(np.array([len(row)]), row, col)
    return NodeSet("COMMUNITIES", edges, x, y, np.sort(train), val, test)


def community_data(nodes=None, height=3):
    """Return the nodes as PyG data with their coding tree."""
    import sepool
    from sepool.pyg.format import Forest
    from sepool_experiments.data.nodes import node_data

    nodes = community_set() if nodes is None else nodes
    pairs = np.column_stack([nodes.edges.row, nodes.edges.col])
    graph = sepool.as_graph(pairs[pairs[:, 0] < pairs[:, 1]], num_nodes=nodes.num_nodes)
    return node_data(nodes, Forest.of(sepool.coding_trees([graph], height)))
