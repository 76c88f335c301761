"""Autoencoder that pools along a coding tree."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.pyg.hierarchy import hierarchy, normal_tensors
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.convs import GCN
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.pooling import members, pool
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import unpool

LAYERS = 2


class SEPAutoencoder(nn.Module):
    """Reconstruction of node features from clusters (Wu et al., ICML 2022, Section 4.1).

    Two graph convolutions, SEP to a level of the tree, SEP-U back, two convolutions and a linear
    layer: ``X' = dec(S^T S enc(X))``.
    """

    def __init__(self, in_channels: int, hidden: int, level: int, replicas: int) -> None:
        super().__init__()
        self.level = level
        widths = [in_channels] + [hidden] * (2 * LAYERS - 1)
        self.convs = nn.ModuleList(GCN(width, hidden, replicas=replicas) for width in widths)
        self.last = Linear(hidden, in_channels, replicas=replicas)

    @normal_tensors()
    def prepare(self, data: Data) -> ReplicaBatch:
        """Return the batch of a graph with a tree."""
        levels = hierarchy(data)
        a = Adjacency.from_edges(data.edge_index, None, len(data.x), levels.edge_layout)
        return ReplicaBatch(data.x, False, levels, {0: GCN.prepare(a)})

    def forward(self, batch: ReplicaBatch) -> Tensor:
        """Return the reconstruction, ``(N, R, width)``."""
        assert isinstance(batch.x, Tensor)
        x, levels, operator = batch.x.unsqueeze(1), batch.levels, batch.operators[0]
        for conv in self.convs[:LAYERS]:
            x = conv(x, operator).relu()
        for level in range(1, self.level + 1):
            x = pool(x, levels, level, "sum")
        for level in range(self.level, 0, -1):
            x = unpool(x, *members(levels, level))
        for conv in self.convs[LAYERS:]:
            x = conv(x, operator).relu()
        out: Tensor = self.last(x)
        return out
