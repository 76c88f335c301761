"""Tables of a store for the kernels that cut batches: everything is relative to its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from sepool_experiments.batches.slicing import Level


@dataclass
class Tables:
    """What the kernels need of a store, beside its levels."""

    counts: Tensor  # nodes of every graph, a line a level; entries, a line an adjacency
    starts: Tensor  # where they begin
    child: list[Tensor]  # the first child of every node, within its graph; from level 1 up
    parent: list[Tensor]  # the parent, likewise; from level 0 up
    entries: dict[int, tuple[int, Tensor, Tensor]]  # of a level: the line, first entries, rows
    classes: Tensor  # of the graphs

    @classmethod
    def of(cls, levels: Sequence[Level], classes: Tensor) -> Tables:
        """The tables of a store; this may wait for the device."""
        counts, starts = [level.counts for level in levels], [level.starts for level in levels]
        homes = [_each(level.counts[:-1]) for level in levels]
        child, parent, entries = [], [], {}
        for number, level in enumerate(levels[1:]):
            sizes = level.sizes[:-1]
            child.append(_with_zero(_ends(sizes)[:-1] - starts[number][homes[number + 1]]))
            parent.append(_with_zero(_each(sizes) - level.starts[homes[number]]))
        for number, level in enumerate(levels):
            if level.rows is not None:
                begins = _ends(level.rows.by_graph[:-1])
                first = level.rows.starts[:-1] - begins[homes[number]]
                row = _each(level.rows.counts[:-1])
                inner = row - level.starts[homes[number][row]]
                entries[number] = len(counts), _with_zero(first), _with_zero(inner)
                counts.append(level.rows.by_graph)
                starts.append(begins)
        return cls(torch.stack(counts), torch.stack(starts), child, parent, entries, classes)


def _each(counts: Tensor) -> Tensor:
    return torch.arange(len(counts), device=counts.device).repeat_interleave(counts)


def _ends(counts: Tensor) -> Tensor:
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def _with_zero(values: Tensor) -> Tensor:
    """The values, and one of the empty graph."""
    return torch.nn.functional.pad(values, (0, 1))
