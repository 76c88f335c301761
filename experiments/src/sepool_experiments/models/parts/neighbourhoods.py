"""The pooling of ASAP: neighbourhoods as clusters, on sparse graphs and on what is pooled of them.

What is pooled is dense and has room for a quarter of the largest graph of the dataset, so that no
shape depends on the data.
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
from sepool_experiments.models.parts.segments import Blocks, block_size, rank_in_graph, spread


class Kept(NamedTuple):
    """Pooled graphs with room for equally many clusters each.

    Attributes:
        x: the features of the clusters of every graph.
        adjacency: the weights between them.
        there: which of them exist, the first ones of every graph.
        most: how many exist at most, over all graphs.
    """

    x: Tensor
    adjacency: Tensor
    there: Tensor
    most: int


class Fitness(nn.Module):
    """What one pooling learns: who attends to whom, and how fit a cluster is."""

    def __init__(self, width: int, replicas: int | None = None) -> None:
        super().__init__()
        self.query = Linear(width, width, replicas=replicas)
        self.target, self.near, self.own = (Linear(width, 1, replicas=replicas) for _ in range(3))
        self.source, self.centre = (
            Linear(width, 1, bias=False, replicas=replicas) for _ in range(2)
        )


def pool_nodes(pool: Fitness, x: Tensor, batch: ReplicaBatch, nodes: int) -> Kept:
    """Pools the nodes of a batch, whose adjacency is sparse and has a loop at every node."""
    a, ptr, graph = batch.operators[0].adjacency, batch.levels.graph_ptr(0), batch.levels.batch(0)
    assert a.weight is not None
    ones = a.weighted((a.weight != 0).to(x.dtype))
    x, share, fit = look_around(pool, x, ones)
    room, graphs = ceil(RATIO * batch.max_nodes), len(ptr) - 1
    order, rank = rank_in_graph(fit, ptr, graph)
    counts = (ptr.diff() * RATIO).ceil().long().clamp(max=room)
    place = torch.arange(room, device=x.device)
    there = place < counts.unsqueeze(1)
    source = F.pad(order, (0, room), value=len(x))[ptr[:-1, None] + place]
    column = rank.masked_fill(rank >= counts.index_select(0, graph), room)
    pooled = spread(
        x * fit.sigmoid().unsqueeze(1),
        source.masked_fill(~there, len(x)).flatten(),
        (graph * room + rank).masked_fill(column == room, graphs * room),
    )
    s = dense_rows(share, column, ones, room)
    joined = Blocks(ptr, graph, block_size(nodes)).product(s, ones.propagate(s))
    pooled = pooled.view(graphs, room, -1)
    return Kept(pooled, _apart(joined), there, _at_most(len(x), graphs))


def look_around(pool: Fitness, x: Tensor, a: Adjacency) -> tuple[Tensor, Tensor, Tensor]:
    """What every neighbourhood is, the share of every entry in it, and how fit it is."""
    assert a.weight is not None
    there, (turned, _, twin) = a.weight, a.transpose()
    best = sparse_max(a, x)
    asked = unpool(pool.target(pool.query(best)), a.ptr, a.row)
    score = F.leaky_relu(asked + unpool(pool.source(x), turned, a.index, twin), NEGATIVE_SLOPE)
    score = score * there.unsqueeze(1)  # what is no entry must not grow beyond all bounds
    share = segment_softmax(score, a.ptr, a.row).squeeze(1) * there
    x = weighted_propagate(a, x, share)
    fit = a.propagate(pool.near(x)) - a.degree().unsqueeze(1) * pool.centre(x) + pool.own(x)
    return x, share, fit.squeeze(1)


def dense_rows(share: Tensor, column: Tensor, a: Adjacency, room: int) -> Tensor:
    """``S``, one row a node: its shares in the clusters of its graph that are kept.

    ``column`` is the place of every node's cluster among these, ``room`` if it is dropped.
    """
    assert a.weight is not None
    nodes, entries, target = len(column), len(share), column.index_select(0, a.row)
    no_cell = (a.weight == 0) | (target == room)
    cell = (a.index * room + target).masked_fill(no_cell, nodes * room)
    entry = torch.full((nodes * room + 1,), entries, device=share.device)
    entry = entry.index_copy_(0, cell, torch.arange(entries, device=share.device))
    return spread(share.unsqueeze(1), entry[:-1], cell).view(nodes, room)


def pool_dense(pool: Fitness, before: Kept) -> Kept:
    """Pools graphs that are dense already."""
    x, a, there, most = before
    looped = a + torch.eye(a.size(1), device=a.device)
    near = looped > 0
    asked = rows(pool.target, rows(pool.query, dense_max(x, near, there, most)))
    score = F.leaky_relu(asked + rows(pool.source, x).transpose(1, 2), NEGATIVE_SLOPE)
    share = score.masked_fill(~near, -torch.inf).softmax(2)
    x, ones = share @ x, near.to(x.dtype)
    fit = ones @ rows(pool.near, x) - ones.sum(2, keepdim=True) * rows(pool.centre, x)
    fit = fit + rows(pool.own, x)
    x = x * fit.sigmoid()
    key = fit.detach().squeeze(2).masked_fill(~there, -torch.inf)
    order = key.argsort(dim=1, descending=True, stable=True)
    counts = (there.sum(1, keepdim=True) * RATIO).ceil()
    room = ceil(RATIO * a.size(1))
    there = torch.arange(room, device=x.device) < counts
    chosen = order[:, :room].unsqueeze(2)
    x = x.gather(1, chosen.expand(-1, -1, x.size(2))) * there.unsqueeze(2)
    s = share.gather(1, chosen.expand(-1, -1, share.size(2))) * there.unsqueeze(2)
    joined = _apart(s @ looped @ s.transpose(1, 2))
    return Kept(x, joined, there, _at_most(most, len(x)))


def _apart(a: Tensor) -> Tensor:
    return a * (1 - torch.eye(a.size(1), device=a.device))


def _at_most(nodes: int, graphs: int) -> int:
    return int(RATIO * nodes) + graphs  # every graph may round up
