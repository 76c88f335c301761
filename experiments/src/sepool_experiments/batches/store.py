"""A dataset on a device, from which the batches of many replicas are cut without waiting for it.

All graphs lie one after the other on every level. A batch of ``R`` replicas is one disjoint graph:
replica after replica, each with its own graphs and then graphs of padding, so that all replicas
have equally many nodes on every level and weights can be multiplied as one batched product. The
padding is made of graphs like any other; only their class is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from sepool.pyg.format import Forest, pack_blocks
from sepool.pyg.hierarchy import SORTED, Hierarchy, hierarchy
from sepool_experiments.batches.dedup_rows import (
    Merged,
    adjacency_among,
    kinds_by_neighbours,
    kinds_by_rows,
    merge,
)
from sepool_experiments.batches.slicing import (
    Level,
    Rows,
    Shape,
    cut,
    cut_by_kernels,
    tables_for_kernels,
)
from sepool_experiments.data.graphs import GraphSet
from sepool_experiments.engine.skip_init import Undrawn
from sepool_experiments.layers.adjacency import Adjacency, pooled_adjacency
from sepool_experiments.layers.conv_base import Conv, GatheringConv, Prepared
from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.ops import rows_at, segment_sum
from sepool_experiments.layers.replica_batch import ReplicaBatch

SPARED = 0.05  # of the nodes, at least, is worth the counting of how many a row stands for


@dataclass
class Batch(ReplicaBatch):
    """Graphs of many replicas as one disjoint graph, and their classes.

    The graphs of ``levels`` are those of the first replica, its padding, those of the second, ...

    Attributes:
        y: the class of every graph, one row a replica; the padding has none.
    """

    y: Tensor = field(kw_only=True)

    def by_replica(self, out: Tensor) -> Tensor:
        """What a model gave for every graph, one row a replica, without the padding."""
        return out.view(len(self.y), -1, out.size(-1))[:, : self.y.size(1)]


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
        by_source: leave it to the model to take the rows of its nodes (`ReplicaBatch.row_index`), on
            a GPU from a `sepool_experiments.layers.feature_table.FeatureTable`; where only its first convolution is
            on the nodes and many are alike, these become one (`sepool_experiments.batches.dedup_rows`).
    """

    graphs: GraphSet
    forest: Forest
    conv: type[Conv]
    conv_levels: tuple[int, ...] = (0, 1, 2)
    binary: bool = False
    input_link: bool = False
    device: torch.device | str = "cpu"
    by_source: bool = False
    x: Features = field(init=False)
    multiplicity: Tensor | None = field(init=False)
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
        whole = replace(whole, order=None)
        rank = torch.empty_like(order)
        rank[order] = torch.arange(nodes)
        pairs = rank[pairs]
        pairs = pairs[:, (pairs[0] * nodes + pairs[1]).argsort()]
        raw = torch.from_numpy(self.graphs.features())[order]
        bottom = Adjacency.from_edges(pairs, None, nodes, SORTED)

        self.height, self.num_graphs = whole.height, whole.num_graphs
        self.num_features, self.num_classes = raw.size(1), self.graphs.num_classes
        self.input_sums = None
        if self.input_link:
            self.input_sums = self._with_empty(segment_sum(raw, whole.graph_ptr(0)))
        self.aggregated = issubclass(self.conv, GatheringConv)
        x, self.multiplicity = self._gather(raw, bottom), None
        merged = self._merge(whole, x, bottom)
        if merged is not None:
            whole, x = merged.levels, x[merged.first]
            if 0 in self._conv_numbers():
                bottom = adjacency_among(bottom, merged.first)
            self.multiplicity = self._with_empty(merged.multiplicity)
        self.x = self._with_empty(x)
        self.y = torch.cat([torch.from_numpy(self.graphs.y), torch.zeros(1, dtype=torch.int64)])
        self.y = self.y.to(self.device)
        self.levels = [self._level(whole, level, bottom) for level in range(self.height + 1)]
        self.tables = tables_for_kernels(self.levels, self.y)
        if self.by_source and self.tables is not None:
            self.sort_features()
        if self.y.is_cuda:  # threads share a store, each with a stream that waits for no other
            torch.cuda.current_stream(self.y.device).synchronize()

    def sort_features(self) -> None:
        """Puts the features in order for kernels that take the rows of the nodes themselves."""
        assert isinstance(self.x, Tensor)
        counts = self.levels[0].counts.clone()
        counts[-1] = 1  # the row of no graph
        graph = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
        self.x = FeatureTable.of(self.x, graph, kinds=not self.aggregated)

    def shape(self, ids: Tensor, spare: float = 0.0) -> Shape:
        """The room that batches of these graphs need; ids as in `batch`, with any axes before."""
        room = []
        for level in self.levels[:-1]:
            room.append(level.counts[ids].sum(-1).max() + 1)
        for rows in self._rows_of_levels().values():
            room.append(rows.by_graph[ids].sum((-1, -2)).max())
        sizes = [int(size * (1 + spare)) + 1 for size in torch.stack(room).tolist()]
        graphs = ids.size(-1)
        return Shape((*sizes[: self.height], graphs + graphs // 8 + 1), tuple(sizes[self.height :]))

    def batch(self, ids: Tensor, shape: Shape) -> Batch:
        """Cuts a batch.

        Args:
            ids: the graphs of every replica, one row a replica; ``num_graphs`` stands for nothing.
            shape: the room it gets (see `shape`); the same for all batches of a run, so that no
                step waits for the device.
        """
        if self.tables is None:
            part = cut(self.levels, self.y, ids, shape)
        else:
            part = cut_by_kernels(self.levels, self.tables, ids, shape)
        node_rows, graph_rows = part.row_indices[0], part.row_indices[-1]
        return Batch(
            x=self.x if self.by_source else rows_at(self.x, node_rows),
            aggregated=self.aggregated,
            levels=part.levels,
            operators=part.operators,
            input_sums=None
            if self.input_sums is None
            else self.input_sums.index_select(0, graph_rows),
            row_index=node_rows if self.by_source else None,
            max_nodes=int(self.graphs.nodes.max()),
            graph_mask=part.graph_mask,
            num_valid=part.num_valid,
            multiplicity=self.multiplicity,
            y=part.y,
        )

    def _conv_numbers(self) -> list[int]:
        """The levels whose adjacency is needed; what the first layer gathers is known already."""
        return sorted(set(self.conv_levels[1:] if self.aggregated else self.conv_levels))

    def _rows_of_levels(self) -> dict[int, Rows]:
        return {number: level.rows for number, level in enumerate(self.levels) if level.rows}

    def _gather(self, raw: Tensor, bottom: Adjacency) -> Tensor:
        with Undrawn():  # other threads may be drawing their first weights
            conv = self.conv(1, 1)
        if isinstance(conv, GatheringConv):
            raw = conv.gather(raw, conv.prepare(bottom))
        return raw

    def _merge(self, whole: Hierarchy, x: Tensor, bottom: Adjacency) -> Merged | None:
        """Nodes that are alike as one, where the model can do with it."""
        on_nodes = self.conv_levels.count(0) - int(self.aggregated)  # convolutions along edges
        if not self.by_source or on_nodes > int(self.conv.knows_twins):
            return None
        if self.aggregated:
            merged = merge(whole, kinds_by_rows(whole, x))
        else:
            merged = merge(whole, kinds_by_neighbours(whole, x, bottom))
        return merged if len(merged.multiplicity) <= (1 - SPARED) * len(x) else None

    def _with_empty(self, rows: Tensor) -> Tensor:
        return torch.cat([rows, rows.new_zeros(1, *rows.shape[1:])]).to(self.device)

    def _level(self, whole: Hierarchy, number: int, bottom: Adjacency) -> Level:
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
            if number == 0 and self.multiplicity is not None:
                prepared = Prepared(
                    prepared.adjacency, self.multiplicity[:-1].log().cpu().unsqueeze(1)
                )
            rows = _rows(prepared, ptr, self.device)
        return Level(counts.to(self.device), ptr.to(self.device), self._with_empty(sizes), rows)


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


def _rows(prepared: Prepared, graph_ptr: Tensor, device: torch.device | str) -> Rows:
    """What batches need of an adjacency."""
    (a, node), zero = prepared, torch.zeros(1, dtype=torch.int64)
    return Rows(
        starts=a.ptr.to(device),
        counts=torch.cat([a.ptr.diff(), zero]).to(device),
        ahead=torch.cat([a.index - a.row, zero]).to(device),
        weight=torch.cat([_weights(a), torch.zeros(1)]).to(device),
        node=None if node is None else torch.cat([node, torch.zeros(1, 1)]).to(device),
        by_graph=torch.cat([a.ptr[graph_ptr].diff(), zero]).to(device),
        whole=a,
    )
