"""GCN: three graph convolutions and the mean of the nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.models.graphs.model import FlatModel


class GCN(FlatModel):
    """Kipf and Welling, "Semi-supervised classification with graph convolutional networks", 2017.

    The mean of what all three layers found of the nodes: the baseline that pools by a mean in Baek
    et al., "Accurate learning of graph representations with graph multiset pooling", 2021, from
    which the paper takes its figures.
    """

    usual_readout = "mean"

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """The mean of the nodes."""
        return torch.cat([self.read(x, batch) for x in self.convolve(batch)], 1)
