"""SAGPool(G): global top-k pooling, scored by a convolution after all others."""

from __future__ import annotations

from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import FlatModel, side_by_side
from sepool_experiments.models.parts.selection import gate, read_selected, top_nodes


class SAGPoolG(FlatModel):
    """Lee et al., "Self-attention graph pooling", 2019, the global architecture.

    ``y = GCN(X, A)`` of the concatenated outputs of three convolutions; the readout is over the
    quarter of the nodes with the highest ``y``, multiplied by ``tanh(y)``.
    """

    def make(self) -> int:
        """Make the convolutions, and one for the scores."""
        width = super().make()
        self.score = self.gcn(width, 1)
        return width

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readout of the selected nodes."""
        x = side_by_side(self.convolve(batch))
        score = self.score(x, batch.operators[0]).squeeze(1)
        selection = top_nodes(score, None, batch.levels.graph_ptr(0), batch.levels.batch(0))
        return read_selected(gate(x, score, selection.mask), selection, self, batch)
