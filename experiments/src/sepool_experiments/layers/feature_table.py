"""Table of features whose rows many nodes share, ordered for kernels that skip zeros."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

LOW_BITS = (1 << 13) - 1  # of a float32, absent in TensorFloat-32
MAX_UNIQUE = 1024  # distinct rows that stay in a cache
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
        exact: TensorFloat-32 represents all values.
        unique: distinct rows by feature, if requested and few.
        inverse: index of every row among them.

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
    exact: bool = False
    unique: Tensor | None = None
    inverse: Tensor | None = None

    @classmethod
    def of(cls, x: Tensor, graph: Tensor, unique: bool = False) -> FeatureTable:
        """Make a table of features; ``graph`` is the graph of every row."""
        nonzero = x != 0
        graphs = torch.zeros(int(graph.max()) + 1, x.size(1), device=x.device)
        graphs.index_add_(0, graph, nonzero.to(graphs.dtype))
        feature = (graphs > 0).sum(0).argsort(descending=True, stable=True)
        nonzero = nonzero[:, feature]
        trailing_zeros = nonzero.flip(1).to(torch.uint8).argmax(1)
        extent = torch.where(nonzero.any(1), x.size(1) - trailing_zeros, 0)
        rows = F.pad(x[:, feature], (0, -x.size(1) % ALIGNED)).contiguous()
        exact = x.dtype == torch.float32 and bool(
            (x.isfinite() & (x.view(torch.int32) & LOW_BITS == 0)).all()
        )
        distinct = _unique_rows(x) if unique else ()
        return cls(rows, feature, feature.argsort(), extent.to(torch.int32), exact, *distinct)

    def take(self, row_index: Tensor) -> Tensor:
        """Return rows by feature."""
        return self.rows.index_select(0, row_index).index_select(1, self.column_of_feature)

    def unique_linear(self, weight: Tensor, bias: Tensor) -> Tensor:
        """Return ``x W + b`` of the distinct rows, replica after replica."""
        assert self.unique is not None
        rows = self.unique.expand(len(weight), -1, -1)
        return torch.baddbmm(bias.unsqueeze(1), rows, weight).flatten(0, 1)

    def unique_index(self, row_index: Tensor, replicas: int) -> Tensor:
        """Return the row of `unique_linear` of every node, given its row in the table."""
        assert self.unique is not None
        assert self.inverse is not None
        start = len(self.unique) * torch.arange(replicas, device=row_index.device)
        inverse = self.inverse.index_select(0, row_index).view(replicas, -1)
        return (inverse + start.to(torch.int32).unsqueeze(1)).flatten()


def row_hashes(x: Tensor) -> Tensor:
    """Return a float64 hash of every row: nearly equal for equal rows, rarely for others."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.rand(x.size(1), dtype=torch.float64, generator=generator)
    return x.double() @ weight.to(x.device)


def _unique_rows(x: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Distinct rows and the index of every row among them; None if they are many."""
    _, inverse = torch.unique(row_hashes(x), return_inverse=True)
    count = int(inverse.max()) + 1
    if count > MAX_UNIQUE:
        return None, None
    unique = x.new_empty(count, x.size(1)).index_copy_(0, inverse, x)
    if not torch.equal(unique.index_select(0, inverse), x):
        return None, None
    return unique, inverse.to(torch.int32)


Features = Tensor | FeatureTable
