"""GMT: the graph multiset transformer."""

from __future__ import annotations

from math import sqrt

import torch
from torch import Tensor, nn

from sepool_experiments.layers import convs
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.softmax import segment_softmax
from sepool_experiments.models.graphs.model import FlatModel, apply, rows, side_by_side
from sepool_experiments.models.parts.segments import Blocks, block_size

HEADS = 4


class GMT(FlatModel):
    """Baek et al., "Accurate learning of graph representations with graph multiset pooling", 2021.

    Attention from ``k`` learned seeds to the nodes, whose keys and values are graph convolutions;
    self-attention between the ``k`` results; attention from one more seed, whose result is the
    embedding of the graph. ``k`` is a quarter of the average number of nodes. The nodes have the
    outputs of three convolutions, reduced to ``hidden`` by a linear layer.
    """

    def make(self) -> int:
        """Make the seeds and three blocks of attention."""
        width, h, k = super().make(), self.hidden, self.clusters()
        self.narrow = self.linear(width, h)
        lead = (1,) if self.replicas is None else (self.replicas,)
        self.seeds = nn.ParameterList(
            nn.Parameter(nn.init.normal_(torch.empty(*lead, count, h), std=h**-0.5))
            for count in (k, 1)
        )
        self.pool = Attention(h, self.replicas, convs.GCN)
        self.between, self.join = (Attention(h, self.replicas) for _ in range(2))
        return h

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the result of the last seed."""
        ptr, graph = batch.levels.graph_ptr(0), batch.levels.batch(0)
        (seeds, last), pool = self.seeds, self.pool
        x = apply(self.narrow, side_by_side(self.convolve(batch)), batch, relu=True)
        assert isinstance(pool.key, convs.GCN)
        assert isinstance(pool.value, convs.GCN)
        aggregated = pool.key.aggregate(x, batch.operators[0])
        keys, values = (apply(conv.linear, aggregated, batch) for conv in (pool.key, pool.value))
        query = pool.query(seeds.flatten(0, 1)).view(*seeds.shape[:2], HEADS, -1)
        keys = keys.view(len(seeds), -1, HEADS, query.size(3))
        score = torch.einsum("rnhd,rkhd->rnhk", keys, query) / sqrt(query.size(3))
        share = segment_softmax(score.flatten(2).flatten(0, 1), ptr, graph)
        blocks = Blocks(ptr, graph, block_size(self.nodes))
        heads = blocks.product(share, values, HEADS).transpose(1, 2).flatten(2)
        x = pool.feed_forward(repeat_seeds(seeds, len(ptr) - 1), heads)
        x = self.between(x, x)
        joined: Tensor = self.join(repeat_seeds(last, len(ptr) - 1), x)
        return joined.squeeze(1)


def repeat_seeds(seeds: Tensor, graphs: int) -> Tensor:
    """Return the seeds of the replica of every graph."""
    each = graphs // len(seeds)
    return seeds.unsqueeze(1).expand(-1, each, -1, -1).flatten(0, 1)


class Attention(nn.Module):
    """Lee et al., "Set transformer", 2019: ``H + ReLU(H W + b)``, ``H = X + multihead(X, Y, Y)``.

    ``X`` and ``Y`` are ``(graphs, rows, width)``; ``layer_type`` maps ``Y`` to keys and values.
    """

    def __init__(
        self, width: int, replicas: int | None = None, layer_type: type[nn.Module] = Linear
    ) -> None:
        super().__init__()
        if width % HEADS:
            raise ValueError(f"the width must be a multiple of {HEADS} heads, got {width}")
        self.query, self.out, self.last = (
            Linear(width, width, replicas=replicas) for _ in range(3)
        )
        self.key, self.value = (layer_type(width, width, replicas=replicas) for _ in range(2))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Attend from the rows of ``x`` to those of ``y``, graph by graph."""
        q, k, v = (
            rows(layer, t).view(*t.shape[:2], HEADS, -1).transpose(1, 2)
            for layer, t in ((self.query, x), (self.key, y), (self.value, y))
        )
        share = (q @ k.transpose(2, 3) / sqrt(q.size(3))).softmax(3)
        return self.feed_forward(x, (share @ v).transpose(1, 2).flatten(2))

    def feed_forward(self, x: Tensor, heads: Tensor) -> Tensor:
        """Return ``H + ReLU(H W + b)`` from the input and the concatenated heads."""
        x = x + rows(self.out, heads)
        return x + rows(self.last, x).relu()
