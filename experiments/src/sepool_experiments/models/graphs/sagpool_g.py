"""SAGPool(G): a convolution scores the nodes once, after all others."""

from __future__ import annotations

from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import FlatModel, side_by_side
from sepool_experiments.models.parts.selection import gate, read_kept, top_nodes


class SAGPoolG(FlatModel):
    """Lee et al., "Self-attention graph pooling", 2019, the global architecture.

    ``y = GCN(X, A)`` of what three convolutions found, side by side; a quarter of the nodes stays,
    multiplied by ``tanh(y)``, and is read out.
    """

    def make(self) -> int:
        """The convolution that scores."""
        width = super().make()
        self.score = self.gcn(width, 1)
        return width

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """The readout of what stays."""
        x = side_by_side(self.convolve(batch))
        score = self.score(x, batch.operators[0]).squeeze(1)
        kept = top_nodes(score, None, batch.levels.graph_ptr(0), batch.levels.batch(0))
        return read_kept(gate(x, score, kept.nodes), kept, self, batch)
