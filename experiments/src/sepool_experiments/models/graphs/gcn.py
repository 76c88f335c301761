"""GCN: three graph convolutions and the mean of the nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import FlatModel


class GCN(FlatModel):
    """Kipf and Welling, "Semi-supervised classification with graph convolutional networks", 2017.

    The mean over the nodes of the outputs of all three layers: the baseline with mean pooling of
    Baek et al., "Accurate learning of graph representations with graph multiset pooling", 2021,
    the source of the paper's figures.
    """

    usual_readout = "mean"

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the mean of the nodes."""
        return torch.cat([self.read(x, batch) for x in self.convolve(batch)], 1)
