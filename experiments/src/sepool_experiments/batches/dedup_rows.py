"""Merging of duplicate nodes into one row with a multiplicity.

A first convolution maps nodes with equal neighbourhoods to equal features, and a sum over their
cluster cannot distinguish them. Ego networks consist of such nodes: authors of one paper, actors of
one film.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from sepool.pyg.hierarchy import SORTED, Hierarchy
from sepool_experiments.layers.adjacency import Adjacency

TOLERANCE = 1e-6  # rounding of equal sums in different orders


class Merged(NamedTuple):
    """Nodes without duplicates.

    Attributes:
        levels: hierarchy above them.
        first: first node of every class of duplicates.
        multiplicity: size of every class.
    """

    levels: Hierarchy
    first: Tensor
    multiplicity: Tensor


def merge_duplicates(levels: Hierarchy, node_class: Tensor) -> Merged:
    """Keep one node a class; classes are subsets of clusters, numbered in the clusters' order."""
    cluster, counts = levels.assignment(1), torch.bincount(node_class)
    first = torch.full_like(counts, len(node_class))
    first.scatter_reduce_(0, node_class, torch.arange(len(node_class)), "amin")
    sizes = torch.bincount(cluster[first], minlength=levels.num_clusters(1))
    above = replace(levels, order=None, sizes=[sizes, *levels.sizes[1:]], num_nodes=len(counts))
    return Merged(above, first, counts.to(torch.get_default_dtype()))


def classes_by_rows(levels: Hierarchy, x: Tensor) -> Tensor:
    """Return classes of nodes of one cluster with equal rows."""
    cluster = levels.assignment(1)
    generator = torch.Generator().manual_seed(0)
    weight = torch.rand(x.size(1), dtype=torch.float64, generator=generator)
    order = (x.double() @ weight).argsort(stable=True)  # equal rows become neighbours
    order = order[cluster[order].argsort(stable=True)]
    x, cluster = x[order], cluster[order]
    same = torch.isclose(x[1:], x[:-1], rtol=TOLERANCE, atol=TOLERANCE).all(1)
    same &= cluster[1:] == cluster[:-1]
    node_class = torch.empty_like(order)
    node_class[order] = torch.nn.functional.pad((~same).cumsum(0), (1, 0))
    return node_class


def classes_by_neighbours(levels: Hierarchy, x: Tensor, a: Adjacency) -> Tensor:
    """Return classes of adjacent nodes of one cluster with equal rows and equal neighbours."""
    generator = torch.Generator().manual_seed(0)
    name = torch.randint(2**40, (len(x),), generator=generator)
    neighbours = name.index_add(0, a.row, name[a.index])  # a hash of the closed neighbourhood
    weight = torch.randint(2**40, (x.size(1),), generator=generator).double()
    keys = torch.stack([levels.assignment(1), neighbours, (x.double() @ weight).long()])
    node_class: Tensor = torch.unique(keys, dim=1, return_inverse=True)[1]
    return node_class


def induced_adjacency(a: Adjacency, nodes: Tensor) -> Adjacency:
    """Return the subgraph of a symmetric adjacency without weights induced by some nodes."""
    rank = torch.full((a.num_nodes,), -1).index_copy_(0, nodes, torch.arange(len(nodes)))
    pairs = torch.stack([rank[a.row], rank[a.index]])
    pairs = pairs[:, (pairs >= 0).all(0)]
    pairs = pairs[:, (pairs[0] * len(nodes) + pairs[1]).argsort()]
    return Adjacency.from_edges(pairs, None, len(nodes), SORTED)
