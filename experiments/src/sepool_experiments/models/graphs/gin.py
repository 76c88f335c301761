"""GIN: three isomorphism layers with batch normalisation and the sum of the nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sepool_experiments.layers import convs
from sepool_experiments.layers.feature_table import Features
from sepool_experiments.layers.norm import NodeNorm
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import rows_at
from sepool_experiments.models.graphs.model import LAYERS, GraphModel, apply, padded_graph_mask


class GIN(GraphModel):
    """Xu et al., "How powerful are graph neural networks?", 2019.

    ``MLP(X + A X)`` with batch normalisation and ReLU after both layers of the perceptron; the sums
    over the nodes after every layer are concatenated.
    """

    def make(self) -> int:
        """Make three layers with two normalisations each."""
        widths = [self.in_channels] + [self.hidden] * (LAYERS - 1)
        replicas = self.replicas
        self.convs = nn.ModuleList(convs.GIN(w, self.hidden, replicas=replicas) for w in widths)
        self.norms = nn.ModuleList(NodeNorm(self.hidden, replicas) for _ in range(2 * LAYERS))
        return LAYERS * self.hidden

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all layers."""
        mask = padded_graph_mask(batch).flatten().to(torch.get_default_dtype())
        row_weight = mask.index_select(0, batch.levels.batch(0))
        x: Features = batch.x
        row_index, readouts = batch.row_index, []
        for i, conv in enumerate(self.convs):
            assert isinstance(conv, convs.GIN)
            if i or not batch.aggregated:
                x, row_index = conv.aggregate(rows_at(x, row_index), batch.operators[0]), None
            x, row_index = apply(conv.first, x, batch, row_index=row_index), None
            x = self.norms[2 * i](x, row_weight).relu()
            hidden = self.norms[2 * i + 1](apply(conv.second, x, batch), row_weight).relu()
            readouts.append(self.read(hidden, batch))
            x = hidden
        return torch.cat(readouts, 1)
