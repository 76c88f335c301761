"""SEP-G: graph classification by pooling along a coding tree."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor, nn

from sepool_experiments.layers.conv_base import AggregatingConv, Conv
from sepool_experiments.layers.convs import CONVS
from sepool_experiments.layers.feature_table import Features
from sepool_experiments.layers.linear import Linear
from sepool_experiments.layers.linear_chain import linear_chain, pooled_linear_chain
from sepool_experiments.layers.norm import NodeNorm
from sepool_experiments.layers.pooling import members, pool, readout
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import pool_sum, rows_at
from sepool_experiments.models.graphs.model import GraphModel


class SEPG(GraphModel):
    """Wu et al., "Structural entropy guided graph hierarchical pooling", ICML 2022, Section 3.3.

    Blocks of a convolution and SEP; the readouts of all blocks side by side go through a perceptron
    of three layers (``hidden``, ``hidden / 2``, classes). ReLU throughout. The other arguments are
    those of `GraphModel`; the released code links the input on IMDB-BINARY, IMDB-MULTI, COLLAB and
    DD.

    Args:
        height: height of the trees.
        conv: key of `CONVS`.
        layers: number of convolutions.
        blocks: number of convolutions followed by SEP: 3 in the paper; 2 in the released code,
            where the last convolution is read out without pooling.
        reduce: reduction of SEP, "sum" (the paper), "mean" or "max".
        pooled: pooled adjacency, "weighted" (the paper) or "binary" (the released code).
        norm: ReLU and batch normalisation after every convolution (the released code, with GIN).
        init: "glorot", or "torch" for the linear layers that PyG does not draw as Glorot.
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        height: int = 3,
        *,
        conv: str = "GCN",
        layers: int = 3,
        blocks: int | None = None,
        reduce: str = "sum",
        pooled: str = "weighted",
        norm: bool = False,
        init: str = "glorot",
        **options: Any,
    ) -> None:
        highest = min(layers, height)
        blocks = highest if blocks is None else blocks
        if not 0 <= blocks <= highest:
            raise ValueError(f"blocks must be 0 to {highest} (layers, height), got {blocks}")
        self.layers = CONVS[conv], layers, norm
        self.blocks, self.reduce, self.binary = blocks, reduce, pooled == "binary"
        super().__init__(in_channels, hidden, out_channels, **options)
        if init == "torch":
            self._draw_as_torch()

    def make(self) -> int:
        """Make the convolutions and their normalisations."""
        conv, layers, norm = self.layers
        widths = [self.in_channels] + [self.hidden] * layers
        replicas = self.replicas
        self.convs = nn.ModuleList(
            conv(a, b, replicas=replicas) for a, b in itertools.pairwise(widths)
        )
        self.norms = nn.ModuleList(NodeNorm(self.hidden, replicas) for _ in range(layers * norm))
        return self.hidden * layers

    def _draw_as_torch(self) -> None:
        convs = [layer for layer in self.convs if isinstance(layer, Conv) and layer.torch_init]
        for layer in (*convs, self.first, self.second, self.last):
            for part in layer.modules():
                if isinstance(part, Linear):
                    part.init = "torch"
                    part.reset_parameters()

    def embed(self, batch: ReplicaBatch) -> Tensor:
        """Return the readouts of all blocks."""
        if batch.multiplicity is not None and self.reduce != "sum":
            raise ValueError(f"merged duplicate nodes need the reduction sum, got {self.reduce}")
        readouts = []
        x: Any = batch.x
        for i in range(len(self.convs)):
            # Convolutions beyond the last SEP stay on its level.
            x = self._block(i, x, batch, min(i, self.blocks))
            readouts.append(readout(x, batch.levels, min(i + 1, self.blocks), self.readout))
        return torch.cat(readouts, 1)

    def _block(self, i: int, x: Features, batch: ReplicaBatch, level: int) -> Tensor:
        """Convolve, normalise and pool; fused where no normalisation is in between."""
        conv: Any = self.convs[i]
        row_index, multiplicity = (batch.row_index, batch.multiplicity) if i == 0 else (None, None)
        num_valid = batch.num_valid[level] if batch.num_valid else None
        summed = i < self.blocks and self.reduce == "sum"
        if isinstance(conv, AggregatingConv):
            if i or not batch.aggregated:
                x, row_index = conv.aggregate(rows_at(x, row_index), batch.operators[level]), None
            if summed and batch.num_valid and not self.norms:
                ptr, assignment, order = members(batch.levels, level + 1)
                assert order is None, "nodes of replicas are sorted by cluster"
                args = batch.num_valid[level:], ptr, assignment, row_index, multiplicity
                return pooled_linear_chain(x, conv.layers(), *args)
            out = linear_chain(x, conv.layers(), num_valid, row_index)
        else:
            out = conv(x, batch.operators[level], num_valid, row_index).relu()
        row_weight = batch.node_multiplicity() if i == 0 else None
        if self.norms:
            if batch.num_valid:
                row_weight = batch.row_weights(level, out, row_weight)
            out = self.norms[i](out, row_weight).relu()
        if summed and row_weight is not None:
            return pool_sum(out, *members(batch.levels, level + 1), row_weight)
        return pool(out, batch.levels, level + 1, self.reduce) if i < self.blocks else out
