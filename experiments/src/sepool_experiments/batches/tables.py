"""Tables of a store for the kernels that slice batches, relative to the start of every graph."""

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
    """Tables of a store for the kernels."""

    counts: Tensor  # nodes of every graph by level, then entries by operator
    starts: Tensor  # first of them
    child: list[Tensor]  # first child of every node within its graph, from level 1 up
    parent: list[Tensor]  # parent of every node within its graph, from level 0 up
    entries: dict[int, tuple[int, Tensor, Tensor]]  # by level: row of counts, first entries, rows
    classes: Tensor  # of every graph

    @classmethod
    def of(cls, levels: Sequence[Level], classes: Tensor) -> Tables:
        """Make the tables of a store; may synchronise."""
        counts, starts = [level.counts for level in levels], [level.starts for level in levels]
        graph_of = [_each(level.counts[:-1]) for level in levels]
        child, parent, entries = [], [], {}
        for number, level in enumerate(levels[1:]):
            sizes = level.sizes[:-1]
            child.append(_with_zero(_ends(sizes)[:-1] - starts[number][graph_of[number + 1]]))
            parent.append(_with_zero(_each(sizes) - level.starts[graph_of[number]]))
        for number, level in enumerate(levels):
            if level.rows is not None:
                starts_by_graph = _ends(level.rows.by_graph[:-1])
                first = level.rows.starts[:-1] - starts_by_graph[graph_of[number]]
                row = _each(level.rows.counts[:-1])
                inner = row - level.starts[graph_of[number][row]]
                entries[number] = len(counts), _with_zero(first), _with_zero(inner)
                counts.append(level.rows.by_graph)
                starts.append(starts_by_graph)
        return cls(torch.stack(counts), torch.stack(starts), child, parent, entries, classes)


def _each(counts: Tensor) -> Tensor:
    return torch.arange(len(counts), device=counts.device).repeat_interleave(counts)


def _ends(counts: Tensor) -> Tensor:
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def _with_zero(values: Tensor) -> Tensor:
    """Append the value of the empty graph."""
    return torch.nn.functional.pad(values, (0, 1))
