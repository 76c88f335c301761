"""A batch of many replicas with everything that depends on no weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from sepool.pyg.hierarchy import Hierarchy
from sepool_experiments.layers.conv_base import Operator
from sepool_experiments.layers.feature_table import Features


@dataclass
class ReplicaBatch:
    """The input of a model: features, hierarchy and convolution operators, fixed during training.

    Attributes:
        x: node features, or their aggregation by the first convolution; or a table of either with
            the rows ``row_index``.
        aggregated: ``x`` is the input's aggregation by the first convolution.
        levels: hierarchy of the batch.
        operators: convolution operator of every level that has a convolution.
        input_sums: sum of the input features of every graph, for models that use it.
        row_index: row of ``x`` of every node; None if ``x`` has one row a node.
        max_nodes: number of nodes of the largest graph of the dataset; 0 if unused.
        graph_mask: False for padding, one row a replica; empty without padding.
        num_valid: number of nodes of every replica on every level, without padding; empty without
            padding.
        multiplicity: number of duplicate nodes merged into each row of ``x``; None without merging.
    """

    x: Features
    aggregated: bool
    levels: Hierarchy
    operators: Mapping[int, Operator]
    input_sums: Tensor | None = None
    row_index: Tensor | None = None
    max_nodes: int = 0
    graph_mask: Tensor = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.bool))
    num_valid: Sequence[Tensor] = ()
    multiplicity: Tensor | None = None

    def node_multiplicity(self) -> Tensor | None:
        """Return the multiplicity of every row of the lowest level; None if all are 1."""
        if self.multiplicity is None or self.row_index is None:
            return self.multiplicity
        return self.multiplicity.index_select(0, self.row_index)

    def row_weights(self, level: int, rows: Tensor, multiplicity: Tensor | None) -> Tensor:
        """Return the weight of every row of a level: its multiplicity, 0 for padding."""
        num_valid = self.num_valid[level]
        position = torch.arange(len(rows) // len(num_valid), device=num_valid.device)
        weight = (position < num_valid.unsqueeze(1)).flatten().to(rows.dtype)
        return weight if multiplicity is None else weight * multiplicity
