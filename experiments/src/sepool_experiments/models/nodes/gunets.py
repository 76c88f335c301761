"""g-U-Nets: an encoder that drops nodes and a decoder that brings them back."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.dropout import Dropout
from sepool_experiments.layers.linear import Linear, side_by_side
from sepool_experiments.models.nodes.appnp import spread
from sepool_experiments.models.nodes.model import InputLinear, NodeGraph, NodeModel

LOOP = 2.0  # a node counts itself twice


class Squared(NamedTuple):
    """A graph, and the pairs of nodes at most two steps apart."""

    graph: NodeGraph
    pairs: Tensor


class GUNets(NodeModel):
    """Gao and Ji, "Graph U-Nets", 2019.

    A convolution; four times gPool (the nodes of the highest ``y = X p / |p|`` stay, times
    ``sigmoid(y)``; nodes two steps apart become neighbours) and a convolution; four times gUnpool
    (nodes go back to their places, the others are zero), plus what the encoder had there, and a
    convolution; a last one predicts. Loops weigh 2. As published: 2,000, 1,000, 500 and 200 nodes,
    width 48, dropout 0.92 on the features and 0.2 on the adjacency, weight decay 1e-3, learning
    rate 0.01.

    What is left of the graph differs from replica to replica, so that it is a dense matrix each,
    above the first level. These matrices show why the pooling can do little on Cora: of all pairs
    1 to 2 % are neighbours among the 2,000 nodes that stay first, 10 to 20 % among the next 1,000,
    but 60 to 70 % among 500, and among 200 a quarter to all of them, another graph after every few
    steps (`density`). A convolution there gives all nodes nearly the same. What is left is the
    first convolution, which the last skip brings to the last two: a GCN beside a branch that adds
    little but noise. It learns slowly, too, with 8 % of the features in every step.

    Args:
        sizes: how many nodes stay, from pooling to pooling; below 1, which share of them.
        edge_dropout: the share dropped of the adjacency.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        *,
        sizes: str = "2000,1000,500,200",
        dropout: float = 0.0,
        edge_dropout: float = 0.0,
        replicas: int | None = None,
    ) -> None:
        super().__init__(replicas)
        self.sizes, many = [float(size) for size in str(sizes).split(",")], replicas or 1
        self.first = InputLinear(in_channels, hidden, dropout, replicas=many)
        self.directions = nn.Parameter(torch.empty(many, len(self.sizes), hidden))
        nn.init.uniform_(self.directions, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))
        self.downs = nn.ModuleList(Linear(hidden, hidden, replicas=many) for _ in self.sizes)
        self.ups = nn.ModuleList(Linear(hidden, hidden, replicas=many) for _ in self.sizes)
        self.last = Linear(hidden, out_channels, replicas=many)
        self.drop = Dropout(dropout, 1)
        self.edge_drops = nn.ModuleList(
            Dropout(edge_dropout, 2 + i, "edge_dropout") for i in (0, 1)
        )
        self.density: list[Tensor] = []

    def prepare(self, data: Data) -> Squared:
        """The graph with heavy loops, and its square."""
        graph = NodeGraph.of(data)
        a = graph.adjacency
        loops = torch.where(a.row == a.index, LOOP, 1.0)
        scale = a.weighted(loops).degree().rsqrt()
        weight = scale.index_select(0, a.row) * scale.index_select(0, a.index) * loops
        graph.adjacency = a.weighted(weight)
        return Squared(graph, two_steps(a))

    def forward(self, graph: Squared) -> Tensor:
        """The logits of all nodes."""
        base, sizes = graph.graph, self.counts(len(graph.graph.x))
        first_drop, last_drop = self.edge_drops
        assert isinstance(first_drop, Dropout)
        assert isinstance(last_drop, Dropout)
        x = spread(base, self.first.sparse_product(base.sparse), first_drop)
        x = self.first.shift(x).relu().transpose(0, 1)  # from here on (R, nodes, width)
        seen, places, adjacency = [x], [], None
        graphs: list[Tensor] = []
        for i, size in enumerate(sizes):
            direction = self.directions[:, i]
            score = (x @ direction.unsqueeze(-1)).squeeze(-1) / direction.norm(dim=-1, keepdim=True)
            kept = score.topk(size, dim=1).indices
            places.append(kept)
            x = take(x * score.sigmoid().unsqueeze(-1), kept)
            with torch.no_grad():
                if adjacency is None:
                    adjacency = between(graph.pairs, kept, len(base.x))
                else:
                    adjacency = square(adjacency, kept)
            graphs.append(normalised(adjacency))
            x = dense_conv(self.downs[i], x, graphs[-1])
            seen.append(x)
        if not self.training:
            self.density = [(level > 0).float().mean((1, 2)) for level in graphs]
        seen.pop()
        for i in reversed(range(len(sizes))):
            x = put_back(x, places[i], seen[-1].size(1)) + seen.pop()
            if i:
                x = dense_conv(self.ups[i], x, graphs[i - 1])
        x = x.transpose(0, 1).contiguous()
        up = self.ups[0]
        assert isinstance(up, Linear)
        x = up.shift(spread(base, up.product(x), first_drop)).relu()
        x = self.last.shift(spread(base, side_by_side(self.drop(x), self.last.weight), last_drop))
        return x if self.replicas is not None else x.squeeze(1)

    def counts(self, nodes: int) -> list[int]:
        """How many nodes stay, from pooling to pooling."""
        found: list[int] = []
        for size in self.sizes:
            before = found[-1] if found else nodes
            found.append(min(math.ceil(size * before) if size < 1 else int(size), before))
        return found


def two_steps(a: Adjacency) -> Tensor:
    """The pairs of nodes that are one or two steps apart, from an adjacency with loops."""
    counts = a.ptr.diff().index_select(0, a.index)  # neighbours of every neighbour
    before = a.ptr.index_select(0, a.index) - (counts.cumsum(0) - counts)
    entry = torch.arange(int(counts.sum()), device=a.index.device) + before.repeat_interleave(
        counts
    )
    keys = a.row.repeat_interleave(counts) * a.num_nodes + a.index.index_select(0, entry)
    keys = torch.unique(keys)
    pairs = torch.stack([keys // a.num_nodes, keys % a.num_nodes])
    return pairs[:, pairs[0] != pairs[1]]


def between(pairs: Tensor, kept: Tensor, nodes: int) -> Tensor:
    """The graph between the nodes that every replica keeps, dense."""
    size = kept.size(1)
    place = torch.full((len(kept), nodes), size, device=kept.device)
    place.scatter_(1, kept, torch.arange(size, device=kept.device).expand_as(kept))
    entry = place[:, pairs[0]] * (size + 1) + place[:, pairs[1]]  # what is dropped: the last ones
    dense = torch.zeros(len(kept), (size + 1) ** 2, device=kept.device).scatter_(1, entry, 1.0)
    return dense.view(len(kept), size + 1, size + 1)[:, :size, :size]


def square(adjacency: Tensor, kept: Tensor) -> Tensor:
    """The pairs at most two steps apart, between the nodes that are kept."""
    looped = adjacency + torch.eye(adjacency.size(1), device=adjacency.device)
    rows = take(looped, kept)
    reached = (rows @ rows.transpose(1, 2) > 0).to(adjacency.dtype)
    return reached * (1 - torch.eye(kept.size(1), device=kept.device))


def normalised(adjacency: Tensor) -> Tensor:
    """``D^-1/2 (A + 2 I) D^-1/2``."""
    looped = adjacency + LOOP * torch.eye(adjacency.size(1), device=adjacency.device)
    scale = looped.sum(-1).rsqrt()
    return looped * scale.unsqueeze(-1) * scale.unsqueeze(-2)


def take(x: Tensor, kept: Tensor) -> Tensor:
    """Some rows of every replica."""
    return x.gather(1, kept.unsqueeze(-1).expand(-1, -1, x.size(-1)))


def put_back(x: Tensor, kept: Tensor, nodes: int) -> Tensor:
    """The rows of every replica where they were; zero elsewhere."""
    out = x.new_zeros(len(x), nodes, x.size(-1))
    return out.scatter(1, kept.unsqueeze(-1).expand_as(x), x)


def dense_conv(layer: nn.Module, x: Tensor, graph: Tensor) -> Tensor:
    """``relu(G X W + b)`` of every replica."""
    assert isinstance(layer, Linear)
    assert layer.bias is not None
    return (graph @ (x @ layer.weight) + layer.bias.unsqueeze(1)).relu()
