"""How a batch is cut from the levels of a `sepool_experiments.batches.store`.

Either with PyTorch, which says what is meant, or on a GPU by the kernels of
`sepool_experiments.kernels.batches`: what is copied is so little that launches are all that takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from sepool.pyg.hierarchy import SORTED, Hierarchy, repeat_each
from sepool_experiments.batches.tables import Tables
from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.layers.conv_base import Prepared
from sepool_experiments.layers.gpu import load_kernels

store_kernels = load_kernels("sepool_experiments.kernels.batches")


class Shape(NamedTuple):
    """How much room a batch gets: nodes a replica on every level, edges of all replicas."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]


@dataclass
class Rows:
    """An adjacency over all graphs, everything relative, so that it holds wherever it is copied.

    Behind the entries of all graphs lies one of weight zero, which stands for nothing.
    """

    starts: Tensor  # where the entries of every node begin
    counts: Tensor  # how many they are
    ahead: Tensor  # how far ahead of a node its neighbour lies
    weight: Tensor
    node: Tensor | None
    by_graph: Tensor  # entries of every graph
    whole: Adjacency  # what this was made from, on the host

    @cached_property
    def twin(self) -> Tensor:
        """How far ahead the entry of the transpose lies."""
        _, _, order = self.whole.transpose()
        ahead = order - torch.arange(len(order))
        return torch.nn.functional.pad(ahead, (0, 1)).to(self.starts.device)


@dataclass
class Level:
    """The nodes of one level over all graphs, and an empty graph behind them."""

    counts: Tensor  # nodes of every graph
    starts: Tensor  # where they begin
    sizes: Tensor  # children of every node
    rows: Rows | None


class Cut(NamedTuple):
    """A batch without its features.

    Attributes:
        levels: its hierarchy.
        row_indices: index into the rows of the store of the nodes of every level.
        operators: the convolution operator of every level that has a convolution.
        y: the class of every graph, one row a replica.
        graph_mask: False for the padding among them.
        num_valid: number of nodes of every replica on every level, without padding.
    """

    levels: Hierarchy
    row_indices: list[Tensor]
    operators: dict[int, Prepared]
    y: Tensor
    graph_mask: Tensor
    num_valid: list[Tensor]


def tables_for_kernels(levels: Sequence[Level], y: Tensor) -> Tables | None:
    """What the kernels need of a store, where they can be used."""
    return Tables.of(levels, y) if store_kernels is not None and y.is_cuda else None


def cut(levels: Sequence[Level], classes: Tensor, ids: Tensor, shape: Shape) -> Cut:
    """Cuts a batch; ids and shape as in `sepool_experiments.batches.store.GraphStore.batch`."""
    sources = [_places(*pair, ids) for pair in zip(levels, shape.nodes, strict=True)]
    real = [level.counts[ids].sum(1) for level in levels]
    sizes = [
        _adopt_padding(
            level.sizes.index_select(0, source).view(len(ids), -1), nodes.unsqueeze(1), below
        )
        for level, source, nodes, below in zip(
            levels[1:], sources[1:], real[1:], shape.nodes[:-1], strict=True
        )
    ]
    prepared = {
        number: _cut_rows(rows, sources[number], room)
        for number, rows, room in _with_rows(levels, shape)
    }
    there = ids < len(classes) - 1
    return Cut(_hierarchy(sizes, shape, len(ids)), sources, prepared, classes[ids], there, real)


def cut_by_kernels(levels: Sequence[Level], tables: Tables, ids: Tensor, shape: Shape) -> Cut:
    """`cut` with one launch a level and adjacency; all that a hierarchy tells is worked out too."""
    places = store_kernels.places(tables, ids)
    nodes = store_kernels.nodes(tables, places, levels, shape.nodes)
    found = _hierarchy([level.sizes for level in nodes[1:]], shape, len(ids))
    for number, level in enumerate(nodes):
        found._cache["batch", number] = level.batch
        found._cache["graph_ptr", number] = level.graph_ptr
        if number > 0:
            found._cache["ptr", number] = level.ptr
            found._cache["assignment", number] = nodes[number - 1].assignment
    prepared = {}
    for number, rows, room in _with_rows(levels, shape):
        part = store_kernels.adjacency(tables, places, nodes[number], rows, number, room)
        prepared[number] = Prepared(_adjacency_of(part, rows), part.node)
    sources = [level.source for level in nodes]
    real = list(places.totals[: len(levels)])
    return Cut(found, sources, prepared, places.y, places.there, real)


def _hierarchy(sizes: list[Tensor], shape: Shape, replicas: int) -> Hierarchy:
    graphs, nodes = (replicas * shape.nodes[end] for end in (-1, 0))
    return Hierarchy(len(sizes), graphs, None, sizes, [], [], SORTED, nodes)


def _with_rows(levels: Sequence[Level], shape: Shape) -> list[tuple[int, Rows, int]]:
    """The levels with an adjacency, and the room that its entries get."""
    found = [(number, level.rows) for number, level in enumerate(levels) if level.rows]
    return [(*pair, room) for pair, room in zip(found, shape.edges, strict=True)]


def _places(level: Level, room: int, ids: Tensor) -> Tensor:
    """Where the nodes of a batch lie in the store; padding lies at the empty graph, behind all."""
    counts = level.counts[ids]
    padding = room - counts.sum(1, keepdim=True)
    lengths = torch.cat([counts, padding], 1).flatten()
    padded = torch.nn.functional.pad(ids, (0, 1), value=len(level.starts) - 1).flatten()
    starts = level.starts[padded] - (lengths.cumsum(0) - lengths)
    source = starts.repeat_interleave(lengths, output_size=len(ids) * room)
    source += torch.arange(len(source), device=source.device)
    return source.clamp_(max=len(level.sizes) - 1)


def _adopt_padding(sizes: Tensor, real: Tensor, below: int) -> Tensor:
    """Deals the padding of the level below out to the padding of this level, evenly.

    ``real`` says how many nodes of every replica are no padding. One node with all the padding
    would be the longest sum of all, and everything would wait for it.
    """
    extra = below - sizes.sum(1, keepdim=True)
    ends = torch.arange(sizes.size(1) + 1, device=sizes.device) - real
    share = (ends * extra // (sizes.size(1) - real)).diff(dim=1)
    return torch.where(ends[:, :-1] < 0, sizes, share).flatten()


def _cut_rows(rows: Rows, source: Tensor, room: int) -> Prepared:
    """The adjacency of a batch.

    Room that is left over belongs to the last row, which is padding, with weight zero; no row
    gathers it, for it lies behind the end of all rows.
    """
    counts = rows.counts.index_select(0, source)
    ptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    counts[-1] += room - ptr[-1]
    starts = rows.starts.index_select(0, source) - ptr[:-1]
    row = repeat_each(counts, room)
    here = torch.arange(room, device=source.device)
    entry = (starts.index_select(0, row) + here).clamp_(max=len(rows.ahead) - 1)
    index = row + rows.ahead.index_select(0, entry)

    def turn() -> tuple[Tensor, Tensor, Tensor]:
        order = here + rows.twin.index_select(0, entry)
        return ptr, row.index_select(0, order), order

    adjacency = _adjacency(ptr, index, rows.weight.index_select(0, entry), row, turn)
    return Prepared(adjacency, None if rows.node is None else rows.node.index_select(0, source))


def _adjacency_of(part: Any, rows: Rows) -> Adjacency:
    """The same from what the kernel gave."""

    def turn() -> tuple[Tensor, Tensor, Tensor]:
        turned: tuple[Tensor, Tensor, Tensor] = store_kernels.turn(part, rows.twin)
        return turned

    return _adjacency(part.ptr, part.index, part.weight, part.row, turn)


def _adjacency(
    ptr: Tensor,
    index: Tensor,
    weight: Tensor,
    row: Tensor,
    turn: Callable[[], tuple[Tensor, Tensor, Tensor]],
) -> Adjacency:
    """A symmetric adjacency whose rows are known, and whose transpose needs no sorting."""
    adjacency = Adjacency(ptr, index, weight, True)
    adjacency._row, adjacency._turn = row, turn
    return adjacency
