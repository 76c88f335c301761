"""A batch whose convolutions are worked out as far as they depend on no weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from sepool.nn.conv_base import Prepared
from sepool.nn.feature_table import Features
from sepool.pyg.hierarchy import Hierarchy


@dataclass
class PreparedBatch:
    """What a model needs of a batch, and nothing that changes while it is trained.

    Attributes:
        x: the features of every node, or what the first convolution gathers of them; or a table
            of either, from which nodes have their rows by ``source``.
        gathered: whether it is what is gathered.
        levels: the hierarchy of the batch.
        prepared: what a convolution needs of a level, by level.
        link: the summed input features of every graph, where a model wants them.
        source: the rows of ``x`` that the nodes have; None where ``x`` has one row a node.
        largest: how many nodes the largest graph of the dataset has; 0 where nobody asks.
        there: which graphs count, one row a replica; empty where there is no padding.
        real: how many nodes every replica has on a level, by level, before its padding begins;
            empty where there is none.
        copies: how many nodes each row of ``x`` stands for: nodes of one cluster that see the same
            are one row. None where all rows are nodes.
    """

    x: Features
    gathered: bool
    levels: Hierarchy
    prepared: Mapping[int, Prepared]
    link: Tensor | None = None
    source: Tensor | None = None
    largest: int = 0
    there: Tensor = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.bool))
    real: Sequence[Tensor] = ()
    copies: Tensor | None = None

    def copies_of_nodes(self) -> Tensor | None:
        """How many nodes every row of the lowest level stands for; None where it is one."""
        if self.copies is None or self.source is None:
            return self.copies
        return self.copies.index_select(0, self.source)

    def times(self, level: int, rows: Tensor, copies: Tensor | None) -> Tensor:
        """How often the ``rows`` of a level count: ``copies`` times, and not at all as padding."""
        real = self.real[level]
        places = torch.arange(len(rows) // len(real), device=real.device)
        times = (places < real.unsqueeze(1)).flatten().to(rows.dtype)
        return times if copies is None else times * copies
