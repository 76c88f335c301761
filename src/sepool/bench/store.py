"""A dataset on a device, from which the batches of many replicas are cut without waiting for it.

All graphs lie one after the other on every level. A batch of ``R`` replicas is one disjoint graph:
replica after replica, each with its own graphs and then graphs of padding, so that all replicas
have equally many nodes on every level and weights can be multiplied as one batched product. The
padding is made of graphs like any other; only their class is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch_geometric.data import Data

from sepool.bench.graphs import GraphSet
from sepool.data import ROW_BY_ROW, Hierarchy, hierarchy, repeat_each
from sepool.nn.adjacency import Adjacency, pooled_adjacency
from sepool.nn.convs import Conv, GatheringConv, Prepared
from sepool.nn.ops import segment_sum, take_rows
from sepool.nn.prepared import PreparedBatch
from sepool.packing import Forest, pack_blocks


@dataclass
class Batch(PreparedBatch):
    """Graphs of many replicas as one disjoint graph, and their classes.

    The graphs of ``levels`` are those of the first replica, its padding, those of the second, ...

    Attributes:
        y: the class of every graph, one row a replica; the padding has none.
    """

    y: Tensor = field(kw_only=True)

    def by_replica(self, out: Tensor) -> Tensor:
        """What a model gave for every graph, one row a replica, without the padding."""
        return out.view(len(self.y), -1, out.size(-1))[:, : self.y.size(1)]


class Shape(NamedTuple):
    """How much room a batch gets: nodes a replica on every level, edges of all replicas."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]


@dataclass
class _Rows:
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
class _Level:
    """The nodes of one level over all graphs, and an empty graph behind them."""

    counts: Tensor  # nodes of every graph
    starts: Tensor  # where they begin
    sizes: Tensor  # children of every node
    rows: _Rows | None


@dataclass
class GraphStore:
    """A dataset and its trees on a device, for one kind of convolution.

    Args:
        graphs: the dataset.
        forest: its trees.
        conv: the convolution; what it needs of a level is worked out once, here.
        conv_levels: the level of every convolution of the model, in order.
        binary: whether pooled edges lose their weights and loops.
        input_link: whether the summed input features are wanted.
        device: where all this lies.
        by_source: leave it to the model to take the rows of its nodes (`PreparedBatch.source`).
    """

    graphs: GraphSet
    forest: Forest
    conv: type[Conv]
    conv_levels: tuple[int, ...] = (0, 1, 2)
    binary: bool = False
    input_link: bool = False
    device: torch.device | str = "cpu"
    by_source: bool = False
    x: Tensor = field(init=False)
    y: Tensor = field(init=False)

    def __post_init__(self) -> None:
        edges = self.graphs.edges
        blocks = pack_blocks(self.forest, edges)
        nodes = int(self.graphs.nodes.sum())
        whole = hierarchy(Data(tree=torch.from_numpy(blocks.numbers), num_nodes=nodes))
        start = torch.from_numpy(self.graphs.nodes).cumsum(0) - torch.from_numpy(self.graphs.nodes)
        shift = start.repeat_interleave(torch.from_numpy(edges.counts))
        pairs = torch.stack([torch.from_numpy(edges.row), torch.from_numpy(edges.col)]) + shift
        # Nodes are put in the order of their clusters, so that level 1 needs no permutation either.
        order = torch.arange(nodes) if whole.order is None else whole.order
        rank = torch.empty_like(order)
        rank[order] = torch.arange(nodes)
        pairs = rank[pairs]
        pairs = pairs[:, (pairs[0] * nodes + pairs[1]).argsort()]
        raw = torch.from_numpy(self.graphs.features())[order]
        bottom = Adjacency.from_edges(pairs, None, nodes, ROW_BY_ROW)

        self.height, self.num_graphs = whole.height, whole.num_graphs
        self.num_features, self.num_classes = raw.size(1), self.graphs.num_classes
        self.link = None
        if self.input_link:
            self.link = self._with_empty(segment_sum(raw, whole.graph_ptr(0)))
        self.gathered = issubclass(self.conv, GatheringConv)
        self.x = self._gather(raw, bottom).to(self.device)
        self.y = torch.cat([torch.from_numpy(self.graphs.y), torch.zeros(1, dtype=torch.int64)])
        self.y = self.y.to(self.device)
        self.levels = [self._level(whole, level, bottom) for level in range(self.height + 1)]

    def shape(self, ids: Tensor, spare: float = 0.0) -> Shape:
        """The room that batches of these graphs need; ids as in `batch`, with any axes before."""
        room = []
        for level in self.levels[:-1]:
            room.append(level.counts[ids].sum(-1).max() + 1)
        for rows in self._rows_of_levels().values():
            room.append(rows.by_graph[ids].sum((-1, -2)).max())
        sizes = [int(size * (1 + spare)) + 1 for size in torch.stack(room).tolist()]
        cut = len(self.levels) - 1
        graphs = ids.size(-1)
        return Shape((*sizes[:cut], graphs + graphs // 8 + 1), tuple(sizes[cut:]))

    def batch(self, ids: Tensor, shape: Shape) -> Batch:
        """Cuts a batch.

        Args:
            ids: the graphs of every replica, one row a replica; ``num_graphs`` stands for nothing.
            shape: the room it gets (see `shape`); the same for all batches of a run, so that no
                step waits for the device.
        """
        sources = [_places(*pair, ids) for pair in zip(self.levels, shape.nodes, strict=True)]
        sizes = [
            _adopt_padding(
                level.sizes.index_select(0, source).view(len(ids), -1),
                level.counts[ids].sum(1, keepdim=True),
                below,
            )
            for level, source, below in zip(self.levels[1:], sources[1:], shape.nodes, strict=False)
        ]
        graphs, nodes = (len(ids) * shape.nodes[end] for end in (-1, 0))
        levels = Hierarchy(self.height, graphs, None, sizes, [], [], ROW_BY_ROW, nodes)
        adjacencies = zip(self._rows_of_levels().items(), shape.edges, strict=True)
        prepared = {level: _cut(rows, sources[level], room) for (level, rows), room in adjacencies}
        x, source = (
            (self.x, sources[0]) if self.by_source else (take_rows(self.x, sources[0]), None)
        )
        link = None
        if self.link is not None:
            spare = shape.nodes[-1] - ids.size(1)
            link = self.link.index_select(0, _padded(ids, self.num_graphs, spare))
        y, there = self.y[ids], ids < self.num_graphs
        most = int(self.graphs.nodes.max())
        return Batch(x, self.gathered, levels, prepared, link, source, most, there, y=y)

    def _conv_numbers(self) -> list[int]:
        """The levels whose adjacency is needed; what the first layer gathers is known already."""
        return sorted(set(self.conv_levels[1:] if self.gathered else self.conv_levels))

    def _rows_of_levels(self) -> dict[int, _Rows]:
        return {number: level.rows for number, level in enumerate(self.levels) if level.rows}

    def _gather(self, raw: Tensor, bottom: Adjacency) -> Tensor:
        conv = self.conv(1, 1)
        if isinstance(conv, GatheringConv):
            raw = conv.gather(raw, conv.prepare(bottom))
        return self._with_empty(raw)

    def _with_empty(self, rows: Tensor) -> Tensor:
        return torch.cat([rows, rows.new_zeros(1, *rows.shape[1:])]).to(self.device)

    def _level(self, whole: Hierarchy, number: int, bottom: Adjacency) -> _Level:
        ptr = whole.graph_ptr(number)
        none = torch.zeros(whole.num_nodes, dtype=torch.int64)
        sizes = whole.sizes[number - 1] if number else none
        counts = torch.cat([ptr.diff(), torch.tensor([int(number == self.height)])])
        rows = None
        if number in self._conv_numbers():
            a = pooled_adjacency(whole, number, self.binary) if number else bottom
            prepared = self.conv.prepare(a)
            if self.conv.node_is_loop and prepared.node is not None:
                prepared = Prepared(_with_loops(prepared.adjacency, prepared.node))
            rows = _rows(prepared, ptr, self.device)
        return _Level(counts.to(self.device), ptr.to(self.device), self._with_empty(sizes), rows)


def _weights(a: Adjacency) -> Tensor:
    return torch.ones(len(a.index)) if a.weight is None else a.weight


def _with_loops(a: Adjacency, loop: Tensor) -> Adjacency:
    """The adjacency with a loop of this weight at every node: one sum in place of three passes."""
    nodes = torch.arange(a.num_nodes)
    row, order = torch.cat([a.row, nodes]).sort(stable=True)
    index = torch.cat([a.index, nodes])[order]
    weight = torch.cat([_weights(a), loop[:, 0]])[order]
    ptr = torch._convert_indices_from_coo_to_csr(row, a.num_nodes)
    return Adjacency(ptr, index, weight, a.symmetric)


def _rows(prepared: Prepared, graph_ptr: Tensor, device: torch.device | str) -> _Rows:
    """What batches need of an adjacency."""
    (a, node), zero = prepared, torch.zeros(1, dtype=torch.int64)
    return _Rows(
        starts=torch.cat([a.ptr[:-1], a.ptr[-1:]]).to(device),
        counts=torch.cat([a.ptr.diff(), zero]).to(device),
        ahead=torch.cat([a.index - a.row, zero]).to(device),
        weight=torch.cat([_weights(a), torch.zeros(1)]).to(device),
        node=None if node is None else torch.cat([node, torch.zeros(1, 1)]).to(device),
        by_graph=torch.cat([a.ptr[graph_ptr].diff(), zero]).to(device),
        whole=a,
    )


def _places(level: _Level, room: int, ids: Tensor) -> Tensor:
    """Where the nodes of a batch lie in the store; padding lies at the empty graph, behind all."""
    counts = level.counts[ids]
    padding = room - counts.sum(1, keepdim=True)
    lengths = torch.cat([counts, padding], 1).flatten()
    starts = level.starts[_padded(ids, len(level.starts) - 1)] - (lengths.cumsum(0) - lengths)
    source = starts.repeat_interleave(lengths, output_size=len(ids) * room)
    source += torch.arange(len(source), device=source.device)
    return source.clamp_(max=len(level.sizes) - 1)


def _padded(ids: Tensor, empty: int, spare: int = 1) -> Tensor:
    """The graphs with padding behind those of every replica, flat."""
    return torch.nn.functional.pad(ids, (0, spare), value=empty).flatten()


def _adopt_padding(sizes: Tensor, real: Tensor, below: int) -> Tensor:
    """Deals the padding of the level below out to the padding of this level, evenly.

    ``real`` says how many nodes of every replica are no padding. One node with all the padding
    would be the longest sum of all, and everything would wait for it.
    """
    extra = below - sizes.sum(1, keepdim=True)
    ends = torch.arange(sizes.size(1) + 1, device=sizes.device) - real
    share = (ends * extra // (sizes.size(1) - real)).diff(dim=1)
    return torch.where(ends[:, :-1] < 0, sizes, share).flatten()


def _cut(rows: _Rows, source: Tensor, room: int) -> Prepared:
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
    adjacency = Adjacency(ptr, index, rows.weight.index_select(0, entry), True)
    adjacency._row = row

    def turn() -> tuple[Tensor, Tensor, Tensor]:
        order = here + rows.twin.index_select(0, entry)
        return ptr, row.index_select(0, order), order

    adjacency._turn = turn
    return Prepared(adjacency, None if rows.node is None else rows.node.index_select(0, source))
