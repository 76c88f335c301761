"""Features of which many nodes take the same rows, put in order for kernels that skip zeros."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

ALIGNED = 16  # numbers; Triton loads four at a time where it knows that rows are multiples of this


class FeatureTable(NamedTuple):
    """Rows whose columns are in the order of how many graphs have them, most first.

    Of features that say which kind a node is of, and how many neighbours it has, most are 0, and
    most nodes are of few kinds: their rows end early, and nothing is multiplied behind their ends.

    Attributes:
        rows: the features, column by column; zeros follow, so that rows begin where four numbers
            can be loaded at once.
        feature: the feature in every column.
        column: the column of every feature.
        reach: how many columns every row has up to the last that is not 0.

    Example:
        >>> x = torch.tensor([[5.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
        >>> table = FeatureTable.of(x, torch.tensor([0, 1]))
        >>> table.feature, table.reach
        (tensor([2, 0, 1]), tensor([2, 1], dtype=torch.int32))
        >>> bool((table.take(torch.tensor([1, 0])) == x.flip(0)).all())
        True
    """

    rows: Tensor
    feature: Tensor
    column: Tensor
    reach: Tensor

    @classmethod
    def of(cls, x: Tensor, graph: Tensor) -> FeatureTable:
        """The table of some features, the rows of which are of these graphs."""
        there = x != 0
        have = torch.zeros(int(graph.max()) + 1, x.size(1), device=x.device)
        have.index_add_(0, graph, there.to(have.dtype))
        feature = (have > 0).sum(0).argsort(descending=True, stable=True)
        there = there[:, feature]
        behind = there.flip(1).to(torch.uint8).argmax(1)  # zeros
        reach = torch.where(there.any(1), x.size(1) - behind, 0)
        rows = F.pad(x[:, feature], (0, -x.size(1) % ALIGNED)).contiguous()
        return cls(rows, feature, feature.argsort(), reach.to(torch.int32))

    def take(self, source: Tensor) -> Tensor:
        """These rows, feature by feature."""
        return self.rows.index_select(0, source).index_select(1, self.column)


Features = Tensor | FeatureTable
