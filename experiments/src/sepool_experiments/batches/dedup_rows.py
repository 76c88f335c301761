"""Nodes that are alike as one row, which counts as often as there are nodes.

A first convolution makes the same of nodes that see the same, and a sum over their cluster cannot
tell them apart. Ego networks are made of such nodes: authors of one paper, actors of one film.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from sepool.pyg.hierarchy import SORTED, Hierarchy
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.feature_table import row_marks

EQUAL = 1e-6  # features that differ by less were summed in another order, and are the same


class Merged(NamedTuple):
    """What is left of the nodes.

    Attributes:
        levels: the hierarchy above them.
        first: the node that stands for all that are like it.
        multiplicity: how many these are.
    """

    levels: Hierarchy
    first: Tensor
    multiplicity: Tensor


def merge(levels: Hierarchy, kind: Tensor) -> Merged:
    """One node of every kind; kinds are parts of clusters and numbered in the clusters' order."""
    cluster, copies = levels.assignment(1), torch.bincount(kind)
    first = torch.full_like(copies, len(kind))
    first.scatter_reduce_(0, kind, torch.arange(len(kind)), "amin")
    sizes = torch.bincount(cluster[first], minlength=levels.num_clusters(1))
    above = replace(levels, order=None, sizes=[sizes, *levels.sizes[1:]], num_nodes=len(copies))
    return Merged(above, first, copies.to(torch.get_default_dtype()))


def kinds_by_rows(levels: Hierarchy, x: Tensor) -> Tensor:
    """The kind of every node, where nodes of one cluster with equal rows are alike."""
    cluster = levels.assignment(1)
    order = row_marks(x).argsort(stable=True)  # equal rows become neighbours
    order = order[cluster[order].argsort(stable=True)]
    x, cluster = x[order], cluster[order]
    same = torch.isclose(x[1:], x[:-1], rtol=EQUAL, atol=EQUAL).all(1)
    same &= cluster[1:] == cluster[:-1]
    kind = torch.empty_like(order)
    kind[order] = torch.nn.functional.pad((~same).cumsum(0), (1, 0))
    return kind


def kinds_by_neighbours(levels: Hierarchy, x: Tensor, a: Adjacency) -> Tensor:
    """The kind of every node, where nodes of one cluster are alike that have equal rows, know each
    other and know the same others."""
    generator = torch.Generator().manual_seed(0)
    name = torch.randint(2**40, (len(x),), generator=generator)
    around = name.index_add(0, a.row, name[a.index])  # for other sets equal by rare chance alone
    weight = torch.randint(2**40, (x.size(1),), generator=generator).double()
    keys = torch.stack([levels.assignment(1), around, (x.double() @ weight).long()])
    kind: Tensor = torch.unique(keys, dim=1, return_inverse=True)[1]
    return kind


def adjacency_among(a: Adjacency, nodes: Tensor) -> Adjacency:
    """The part of a symmetric adjacency without weights that lies between some nodes."""
    rank = torch.full((a.num_nodes,), -1).index_copy_(0, nodes, torch.arange(len(nodes)))
    pairs = torch.stack([rank[a.row], rank[a.index]])
    pairs = pairs[:, (pairs >= 0).all(0)]
    pairs = pairs[:, (pairs[0] * len(nodes) + pairs[1]).argsort()]
    return Adjacency.from_edges(pairs, None, len(nodes), SORTED)
