"""Features of which many nodes take the same rows, put in order for kernels that skip zeros."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

LAST_BITS = (1 << 13) - 1  # of a float32, which TensorFloat-32 does not have
FEW = 1024  # kinds of rows, which one has at hand
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
        exact: whether TensorFloat-32 can hold all numbers; small whole ones it can.
        kinds: the rows that are different, feature by feature, where they are asked for and few.
        kind: which of them every row is.

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
    exact: bool = False
    kinds: Tensor | None = None
    kind: Tensor | None = None

    @classmethod
    def of(cls, x: Tensor, graph: Tensor, kinds: bool = False) -> FeatureTable:
        """The table of some features, the rows of which are of these graphs."""
        there = x != 0
        have = torch.zeros(int(graph.max()) + 1, x.size(1), device=x.device)
        have.index_add_(0, graph, there.to(have.dtype))
        feature = (have > 0).sum(0).argsort(descending=True, stable=True)
        there = there[:, feature]
        behind = there.flip(1).to(torch.uint8).argmax(1)  # zeros
        reach = torch.where(there.any(1), x.size(1) - behind, 0)
        rows = F.pad(x[:, feature], (0, -x.size(1) % ALIGNED)).contiguous()
        exact = x.dtype == torch.float32 and bool(
            (x.isfinite() & (x.view(torch.int32) & LAST_BITS == 0)).all()
        )
        return cls(
            rows,
            feature,
            feature.argsort(),
            reach.to(torch.int32),
            exact,
            *(_kinds(x) if kinds else ()),
        )

    def take(self, source: Tensor) -> Tensor:
        """These rows, feature by feature."""
        return self.rows.index_select(0, source).index_select(1, self.column)

    def lines(self, weight: Tensor, bias: Tensor) -> Tensor:
        """``x W + b`` of all kinds of rows, in every replica; as exact as PyTorch multiplies."""
        assert self.kinds is not None
        rows = self.kinds.expand(len(weight), -1, -1)
        return torch.baddbmm(bias.unsqueeze(1), rows, weight).flatten(0, 1)

    def places(self, source: Tensor, replicas: int) -> Tensor:
        """Which of the `lines` nodes have, equally many in every replica, given their rows."""
        assert self.kinds is not None
        assert self.kind is not None
        first = len(self.kinds) * torch.arange(replicas, device=source.device, dtype=torch.int32)
        kind = self.kind.index_select(0, source).view(replicas, -1)
        return (kind + first.unsqueeze(1)).flatten()


def row_marks(x: Tensor) -> Tensor:
    """A number for every row: about the same for rows that are equal, and rarely for others."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.rand(x.size(1), dtype=torch.float64, generator=generator)
    return x.double() @ weight.to(x.device)


def _kinds(x: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The rows that are different, and which of them every row is; None where they are many."""
    _, kind = torch.unique(row_marks(x), return_inverse=True)
    count = int(kind.max()) + 1
    if count > FEW:
        return None, None
    kinds = x.new_empty(count, x.size(1)).index_copy_(0, kind, x)
    if not torch.equal(kinds.index_select(0, kind), x):
        return None, None
    return kinds, kind.to(torch.int32)


Features = Tensor | FeatureTable
