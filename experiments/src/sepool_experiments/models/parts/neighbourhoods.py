"""The pooling of ASAP: neighbourhoods as clusters, on sparse graphs and on dense pooled graphs.

Pooled graphs are padded to a quarter of the largest graph of the dataset: no shape depends on the
data.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sepool_experiments.layers.adjacency import Adjacency, weighted_propagate
from sepool_experiments.layers.attention import NEGATIVE_SLOPE
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import unpool
from sepool_experiments.layers.softmax import segment_softmax
from sepool_experiments.models.graphs.model import RATIO, rows
from sepool_experiments.models.parts.neighbor_max import dense_max, sparse_max
from sepool_experiments.models.parts.segments import (
    Blocks,
    block_size,
    permute_rows,
    rank_in_graph,
)


class Pooled(NamedTuple):
    """Pooled graphs, padded to an equal number of clusters.

    Attributes:
        x: features of the clusters of every graph.
        adjacency: weights between them.
        mask: False for padding, the last clusters of a graph.
        max_total: upper bound of the number of clusters of all graphs.
    """

    x: Tensor
    adjacency: Tensor
    mask: Tensor
    max_total: int


class Fitness(nn.Module):
    """Parameters of one pooling: attention within a neighbourhood, and the fitness of a cluster."""

    def __init__(self, width: int, replicas: int | None = None) -> None:
        super().__init__()
        self.query = Linear(width, width, replicas=replicas)
        self.att_dst, self.near, self.own = (Linear(width, 1, replicas=replicas) for _ in range(3))
        self.att_src, self.centre = (
            Linear(width, 1, bias=False, replicas=replicas) for _ in range(2)
        )


def pool_nodes(pool: Fitness, x: Tensor, batch: ReplicaBatch, nodes: int) -> Pooled:
    """Pool the nodes of a batch, with a sparse adjacency and a loop at every node."""
    a, ptr, graph = batch.operators[0].adjacency, batch.levels.graph_ptr(0), batch.levels.batch(0)
    assert a.weight is not None
    ones = a.weighted((a.weight != 0).to(x.dtype))
    x, share, fitness = neighbourhood_attention(pool, x, ones)
    padded_size, graphs = ceil(RATIO * batch.max_nodes), len(ptr) - 1
    order, rank = rank_in_graph(fitness, ptr, graph)
    counts = (ptr.diff() * RATIO).ceil().long().clamp(max=padded_size)
    place = torch.arange(padded_size, device=x.device)
    mask = place < counts.unsqueeze(1)
    index = F.pad(order, (0, padded_size), value=len(x))[ptr[:-1, None] + place]
    column = rank.masked_fill(rank >= counts.index_select(0, graph), padded_size)
    pooled = permute_rows(
        x * fitness.sigmoid().unsqueeze(1),
        index.masked_fill(~mask, len(x)).flatten(),
        (graph * padded_size + rank).masked_fill(column == padded_size, graphs * padded_size),
    )
    s = dense_assignment(share, column, ones, padded_size)
    adjacency = Blocks(ptr, graph, block_size(nodes)).product(s, ones.propagate(s))
    pooled = pooled.view(graphs, padded_size, -1)
    return Pooled(pooled, _without_loops(adjacency), mask, _max_selected(len(x), graphs))


def neighbourhood_attention(
    pool: Fitness, x: Tensor, a: Adjacency
) -> tuple[Tensor, Tensor, Tensor]:
    """Return features of every neighbourhood, the share of every entry, and the fitness."""
    assert a.weight is not None
    mask, (col_ptr, _, order) = a.weight, a.transpose()
    best = sparse_max(a, x)
    target_score = unpool(pool.att_dst(pool.query(best)), a.ptr, a.row)
    source_score = unpool(pool.att_src(x), col_ptr, a.index, order)
    score = F.leaky_relu(target_score + source_score, NEGATIVE_SLOPE)
    score = score * mask.unsqueeze(1)  # bounds the scores of padding
    share = segment_softmax(score, a.ptr, a.row).squeeze(1) * mask
    x = weighted_propagate(a, x, share)
    fitness = a.propagate(pool.near(x)) - a.degree().unsqueeze(1) * pool.centre(x) + pool.own(x)
    return x, share, fitness.squeeze(1)


def dense_assignment(share: Tensor, column: Tensor, a: Adjacency, padded_size: int) -> Tensor:
    """Return ``S``, one row a node: its shares in the selected clusters of its graph.

    ``column`` is the column of the cluster of every node, ``padded_size`` if it is dropped.
    """
    assert a.weight is not None
    nodes, entries, target = len(column), len(share), column.index_select(0, a.row)
    dropped = (a.weight == 0) | (target == padded_size)
    cells = nodes * padded_size
    cell = (a.index * padded_size + target).masked_fill(dropped, cells)
    entry = torch.full((cells + 1,), entries, device=share.device)
    entry = entry.index_copy_(0, cell, torch.arange(entries, device=share.device))
    return permute_rows(share.unsqueeze(1), entry[:-1], cell).view(nodes, padded_size)


def pool_dense(pool: Fitness, graphs: Pooled) -> Pooled:
    """Pool dense graphs."""
    x, a, mask, max_total = graphs
    looped = a + torch.eye(a.size(1), device=a.device)
    near = looped > 0
    target_score = rows(pool.att_dst, rows(pool.query, dense_max(x, near, mask, max_total)))
    source_score = rows(pool.att_src, x).transpose(1, 2)
    score = F.leaky_relu(target_score + source_score, NEGATIVE_SLOPE)
    share = score.masked_fill(~near, -torch.inf).softmax(2)
    x, ones = share @ x, near.to(x.dtype)
    fitness = ones @ rows(pool.near, x) - ones.sum(2, keepdim=True) * rows(pool.centre, x)
    fitness = fitness + rows(pool.own, x)
    x = x * fitness.sigmoid()
    key = fitness.detach().squeeze(2).masked_fill(~mask, -torch.inf)
    order = key.argsort(dim=1, descending=True, stable=True)
    counts = (mask.sum(1, keepdim=True) * RATIO).ceil()
    padded_size = ceil(RATIO * a.size(1))
    mask = torch.arange(padded_size, device=x.device) < counts
    index = order[:, :padded_size].unsqueeze(2)
    x = x.gather(1, index.expand(-1, -1, x.size(2))) * mask.unsqueeze(2)
    s = share.gather(1, index.expand(-1, -1, share.size(2))) * mask.unsqueeze(2)
    adjacency = _without_loops(s @ looped @ s.transpose(1, 2))
    return Pooled(x, adjacency, mask, _max_selected(max_total, len(x)))


def _without_loops(a: Tensor) -> Tensor:
    return a * (1 - torch.eye(a.size(1), device=a.device))


def _max_selected(nodes: int, graphs: int) -> int:
    return int(RATIO * nodes) + graphs  # rounded up in every graph
