"""Table of features whose rows many nodes share, ordered for kernels that skip zeros."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

ALIGNED = 16  # elements; Triton loads four at a time from rows of such lengths


class FeatureTable(NamedTuple):
    """Rows of features with their columns ordered by frequency, most frequent first.

    One-hot features of labels and degrees are mostly zeros and mostly equal: rows have a small
    extent, beyond which nothing is multiplied.

    Attributes:
        rows: features by column, padded with zeros to an aligned length.
        feature_of_column: feature in every column.
        column_of_feature: column of every feature.
        extent: number of columns up to the last nonzero of every row.

    Example:
        >>> x = torch.tensor([[5.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
        >>> table = FeatureTable.of(x, torch.tensor([0, 1]))
        >>> table.feature_of_column, table.extent
        (tensor([2, 0, 1]), tensor([2, 1], dtype=torch.int32))
        >>> bool((table.take(torch.tensor([1, 0])) == x.flip(0)).all())
        True
    """

    rows: Tensor
    feature_of_column: Tensor
    column_of_feature: Tensor
    extent: Tensor

    @classmethod
    def of(cls, x: Tensor, graph: Tensor) -> FeatureTable:
        """Make a table of features; ``graph`` is the graph of every row."""
        nonzero = x != 0
        graphs = torch.zeros(int(graph.max()) + 1, x.size(1), device=x.device)
        graphs.index_add_(0, graph, nonzero.to(graphs.dtype))
        feature = (graphs > 0).sum(0).argsort(descending=True, stable=True)
        nonzero = nonzero[:, feature]
        trailing_zeros = nonzero.flip(1).to(torch.uint8).argmax(1)
        extent = torch.where(nonzero.any(1), x.size(1) - trailing_zeros, 0)
        rows = F.pad(x[:, feature], (0, -x.size(1) % ALIGNED)).contiguous()
        return cls(rows, feature, feature.argsort(), extent.to(torch.int32))

    def take(self, row_index: Tensor) -> Tensor:
        """Return rows by feature."""
        return self.rows.index_select(0, row_index).index_select(1, self.column_of_feature)


Features = Tensor | FeatureTable
