"""g-U-Nets: an encoder with top-k pooling and a decoder with unpooling."""

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

LOOP = 2.0  # weight of a loop


class Squared(NamedTuple):
    """A graph, and the pairs of nodes at a distance of one or two."""

    graph: NodeGraph
    pairs: Tensor


class GUNets(NodeModel):
    """Gao and Ji, "Graph U-Nets", 2019.

    A convolution; four times gPool (the nodes with the highest ``y = X p / |p|``, times
    ``sigmoid(y)``; nodes at a distance of two become neighbours) and a convolution; four times
    gUnpool (zero for dropped nodes), a skip connection from the encoder and a convolution; a last
    convolution predicts. Loops have weight 2. As published: 2,000, 1,000, 500 and 200 nodes, width
    48, dropout 0.92 on the features and 0.2 on the adjacency, weight decay 1e-3, learning rate
    0.01.

    Pooled graphs differ between replicas and are dense, one matrix a replica. Their density
    (`density`) explains the small effect of the pooling on Cora: 1 to 2 % of all pairs are
    neighbours among the first 2,000 nodes, 10 to 20 % among the next 1,000, but 60 to 70 % among
    500, and 25 to 100 % among 200, with a different graph after every few steps. A convolution on
    such a graph gives all nodes nearly the same features. The last skip connection leaves a GCN
    with little but noise added to it. Training is slow, with 8 % of the features in every step.

    Args:
        sizes: number of selected nodes of every pooling; below 1, their share.
        edge_dropout: dropout rate of the adjacency.
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
        """Return the graph with weighted loops, and its square."""
        graph = NodeGraph.of(data)
        a = graph.adjacency
        loops = torch.where(a.row == a.index, LOOP, 1.0)
        scale = a.weighted(loops).degree().rsqrt()
        weight = scale.index_select(0, a.row) * scale.index_select(0, a.index) * loops
        graph.adjacency = a.weighted(weight)
        return Squared(graph, two_steps(a))

    def forward(self, graph: Squared) -> Tensor:
        """Return the logits of all nodes."""
        base, sizes = graph.graph, self.counts(len(graph.graph.x))
        first_drop, last_drop = self.edge_drops
        assert isinstance(first_drop, Dropout)
        assert isinstance(last_drop, Dropout)
        x = spread(base, self.first.sparse_product(base.sparse), first_drop)
        x = self.first.shift(x).relu().transpose(0, 1)  # from here on (R, nodes, width)
        skips, indices, adjacency = [x], [], None
        graphs: list[Tensor] = []
        for i, size in enumerate(sizes):
            direction = self.directions[:, i]
            score = (x @ direction.unsqueeze(-1)).squeeze(-1) / direction.norm(dim=-1, keepdim=True)
            index = score.topk(size, dim=1).indices
            indices.append(index)
            x = take(x * score.sigmoid().unsqueeze(-1), index)
            with torch.no_grad():
                if adjacency is None:
                    adjacency = induced_adjacency(graph.pairs, index, len(base.x))
                else:
                    adjacency = square(adjacency, index)
            graphs.append(normalised(adjacency))
            x = dense_conv(self.downs[i], x, graphs[-1])
            skips.append(x)
        if not self.training:
            self.density = [(level > 0).float().mean((1, 2)) for level in graphs]
        skips.pop()
        for i in reversed(range(len(sizes))):
            x = unpool(x, indices[i], skips[-1].size(1)) + skips.pop()
            if i:
                x = dense_conv(self.ups[i], x, graphs[i - 1])
        x = x.transpose(0, 1).contiguous()
        up = self.ups[0]
        assert isinstance(up, Linear)
        x = up.shift(spread(base, up.product(x), first_drop)).relu()
        x = self.last.shift(spread(base, side_by_side(self.drop(x), self.last.weight), last_drop))
        return x if self.replicas is not None else x.squeeze(1)

    def counts(self, nodes: int) -> list[int]:
        """Return the number of selected nodes of every pooling."""
        counts: list[int] = []
        for size in self.sizes:
            previous = counts[-1] if counts else nodes
            counts.append(min(math.ceil(size * previous) if size < 1 else int(size), previous))
        return counts


def two_steps(a: Adjacency) -> Tensor:
    """Return the pairs of nodes at a distance of one or two, from an adjacency with loops."""
    counts = a.ptr.diff().index_select(0, a.index)  # neighbours of every neighbour
    before = a.ptr.index_select(0, a.index) - (counts.cumsum(0) - counts)
    entry = torch.arange(int(counts.sum()), device=a.index.device) + before.repeat_interleave(
        counts
    )
    keys = a.row.repeat_interleave(counts) * a.num_nodes + a.index.index_select(0, entry)
    keys = torch.unique(keys)
    pairs = torch.stack([keys // a.num_nodes, keys % a.num_nodes])
    return pairs[:, pairs[0] != pairs[1]]


def induced_adjacency(pairs: Tensor, index: Tensor, nodes: int) -> Tensor:
    """Return the dense adjacency between the selected nodes of every replica."""
    replicas, size = index.shape
    place = torch.full((replicas, nodes), size, device=index.device)
    place.scatter_(1, index, torch.arange(size, device=index.device).expand_as(index))
    # Dropped nodes share the last row and column.
    entry = place[:, pairs[0]] * (size + 1) + place[:, pairs[1]]
    dense = torch.zeros(replicas, (size + 1) ** 2, device=index.device).scatter_(1, entry, 1.0)
    return dense.view(replicas, size + 1, size + 1)[:, :size, :size]


def square(adjacency: Tensor, index: Tensor) -> Tensor:
    """Return the adjacency of selected nodes at a distance of one or two."""
    looped = adjacency + torch.eye(adjacency.size(1), device=adjacency.device)
    rows = take(looped, index)
    reached = (rows @ rows.transpose(1, 2) > 0).to(adjacency.dtype)
    return reached * (1 - torch.eye(index.size(1), device=index.device))


def normalised(adjacency: Tensor) -> Tensor:
    """Return ``D^-1/2 (A + 2 I) D^-1/2``."""
    looped = adjacency + LOOP * torch.eye(adjacency.size(1), device=adjacency.device)
    scale = looped.sum(-1).rsqrt()
    return looped * scale.unsqueeze(-1) * scale.unsqueeze(-2)


def take(x: Tensor, index: Tensor) -> Tensor:
    """Return the rows ``index`` of every replica."""
    return x.gather(1, index.unsqueeze(-1).expand(-1, -1, x.size(-1)))


def unpool(x: Tensor, index: Tensor, nodes: int) -> Tensor:
    """Return the rows of every replica at their positions before pooling; zero elsewhere."""
    out = x.new_zeros(len(x), nodes, x.size(-1))
    return out.scatter(1, index.unsqueeze(-1).expand_as(x), x)


def dense_conv(layer: nn.Module, x: Tensor, graph: Tensor) -> Tensor:
    """Return ``relu(G X W + b)`` of every replica."""
    assert isinstance(layer, Linear)
    assert layer.bias is not None
    return (graph @ (x @ layer.weight) + layer.bias.unsqueeze(1)).relu()
