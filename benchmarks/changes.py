"""Changes of graphs, and the clusters that are the same after them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import sepool
from generators import Planted
from graphs import Edges


def changed(graph: Edges, share: float, region: bool, rng: np.random.Generator) -> Edges:
    """The graph with some edges replaced by others: everywhere, or at the nodes of one region."""
    count = max(1, round(share * graph.num_edges))
    if region:
        center = int(rng.integers(graph.num_nodes))
        order = np.argsort(np.abs(graph.pairs[:, 0] - center), kind="stable")
        out = order[:count]
    else:
        out = rng.choice(graph.num_edges, count, replace=False)
    kept = np.delete(graph.pairs, out, axis=0)
    gone = graph.pairs[out]
    added = np.stack([gone[:, 0], rng.permutation(gone[:, 1])], axis=1)
    added = added[added[:, 0] != added[:, 1]]
    return Edges(graph.name, graph.num_nodes, np.concatenate([kept, added]))


def replaced(
    planted: Planted, share: float, rng: np.random.Generator
) -> tuple[sepool.Graph, NDArray[np.bool_]]:
    """The graph with some nodes replaced by as many of other names; the planted clusters affected.

    A new node has the degree of the one it replaces, 70 % of the links into one cluster.
    """
    graph, labels = planted.graph, planted.levels[0]
    n = graph.num_nodes
    leaving = rng.choice(n, round(share * n), replace=False)
    stays = np.ones(n, np.bool_)
    stays[leaving] = False
    order = np.argsort(labels, kind="stable")
    size = np.bincount(labels)
    start = np.cumsum(size) - size
    homes = labels[rng.choice(np.flatnonzero(stays), len(leaving))]
    degree = np.bincount(graph.pairs.ravel(), minlength=n)[leaving]
    ends, home = np.repeat(n + np.arange(len(leaving)), degree), np.repeat(homes, degree)
    inside = order[start[home] + rng.integers(size[home])]
    others = np.where(rng.random(len(ends)) < 0.7, inside, rng.integers(n, size=len(ends)))
    pairs = np.concatenate([graph.pairs, np.stack([others, ends], axis=1)])
    stays = np.concatenate([stays, np.ones(len(leaving), np.bool_)])
    names = np.flatnonzero(stays)
    number = np.cumsum(stays) - 1
    pairs = np.unique(number[pairs[stays[pairs].all(axis=1)]], axis=0)
    affected = np.zeros(len(size), np.bool_)
    affected[labels[leaving]] = affected[homes] = True
    built = sepool.as_graph(pairs, num_nodes=len(names))
    return replace(built, names=tuple(names.tolist())), affected


def unchanged(tree: sepool.CodingTree, later: sepool.CodingTree) -> NDArray[np.bool_]:
    """For every cluster of the highest level before: True if one with its id has its members."""
    level = tree.height - 1
    before, after = tree.labels(level), later.matched(tree).earlier[-1][later.labels(level)]
    names = np.arange(len(after)) if later.names is None else np.array(later.names)
    old = names < len(before)
    same = np.bincount(before[names[old]], before[names[old]] == after[old], before.max() + 1)
    size = np.bincount(before)
    return (same == size) & (np.bincount(after[after >= 0], minlength=len(size)) == size)
