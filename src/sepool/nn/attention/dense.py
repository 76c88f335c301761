"""Rows of a level in a dense batch, one block a graph, laid out as by ``to_dense_batch``."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sepool.arguments import whole_number
from sepool.pyg.hierarchy import Hierarchy


class DenseRows(NamedTuple):
    """Places of the rows of a level in a dense batch.

    Attributes:
        place: of every row, in the flattened batch.
        mask: shape (graphs, rows), False on the padding.
    """

    place: Tensor
    mask: Tensor

    @classmethod
    def of_level(
        cls, levels: Hierarchy, level: int, max_rows: int | None = None, name: str = "max_nodes"
    ) -> DenseRows:
        """Layout of a level; ``max_rows`` a graph, called ``name``, are counted where left out."""
        ptr, graph = levels.graph_ptr(level), levels.batch(level)
        counts = ptr.diff()
        if max_rows is None or not torch.compiler.is_compiling():
            largest = int(counts.max())
            width = whole_number(name, largest if max_rows is None else max_rows, largest)
        else:
            width = max_rows
        rank = torch.arange(graph.size(0), device=graph.device) - ptr[graph]
        mask = torch.arange(width, device=graph.device) < counts.view(-1, 1)
        return cls(graph * width + rank, mask)

    def pack(self, x: Tensor) -> Tensor:
        """Dense batch of rows; the padding is 0."""
        flat = x.new_zeros(self.mask.numel(), *x.shape[1:]).index_copy(0, self.place, x)
        return flat.view(*self.mask.shape, *x.shape[1:])

    def unpack(self, x: Tensor) -> Tensor:
        """Rows of a dense batch."""
        return x.flatten(0, 1).index_select(0, self.place)
