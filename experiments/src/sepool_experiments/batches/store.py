"""A dataset on a device, from which batches of replicas are sliced without synchronisation.

The graphs are concatenated on every level. A batch of ``R`` replicas is one disjoint graph: replica
after replica, each with its own graphs and then padding, so that all replicas have equal numbers of
nodes on every level and weights multiply as one batched product. Padding consists of graphs like
any other; only its classes are ignored.
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
    classes_by_neighbours,
    classes_by_rows,
    induced_adjacency,
    merge_duplicates,
)
from sepool_experiments.batches.slicing import Capacity, Level, Rows, slice_batch
from sepool_experiments.batches.tables import Tables
from sepool_experiments.data.graphs import GraphSet
from sepool_experiments.kernels.registry import LARGE, use_kernel
from sepool_experiments.layers.adjacency import Adjacency, pooled_adjacency
from sepool_experiments.layers.conv_base import AggregatingConv, Conv, Operator
from sepool_experiments.layers.feature_table import Features, FeatureTable
from sepool_experiments.layers.replica_batch import ReplicaBatch
from sepool_experiments.layers.segments import rows_at, segment_sum

MIN_DUPLICATES = 0.05  # share of duplicate nodes from which on merging them pays


@dataclass
class Batch(ReplicaBatch):
    """Graphs of many replicas as one disjoint graph, with their classes.

    The graphs of ``levels`` are those of the first replica, its padding, those of the second, ...

    Attributes:
        y: class of every graph without padding, one row a replica.
    """

    y: Tensor = field(kw_only=True)

    def by_replica(self, out: Tensor) -> Tensor:
        """Return the output of a model, one row a replica, without padding."""
        return out.view(len(self.y), -1, out.size(-1))[:, : self.y.size(1)]


@dataclass
class GraphStore:
    """A dataset and its trees on a device, prepared for one convolution.

    Args:
        graphs: dataset.
        forest: its trees.
        conv: convolution of the model.
        conv_levels: level of every convolution of the model, in order.
        binary: pooled edges without weights and loops.
        input_link: provide the sums of the input features.
        device: device.
        row_indexed: leave the lookup of features to the model (`ReplicaBatch.row_index`), on a GPU
            from a `FeatureTable`; where only the first convolution is on the nodes and many nodes
            are duplicates, merge these (`sepool_experiments.batches.dedup_rows`).
    """

    graphs: GraphSet
    forest: Forest
    conv: type[Conv]
    conv_levels: tuple[int, ...] = (0, 1, 2)
    binary: bool = False
    input_link: bool = False
    device: torch.device | str = "cpu"
    row_indexed: bool = False
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
        # Nodes are sorted by cluster, so that level 1 needs no permutation.
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
        self.aggregated = issubclass(self.conv, AggregatingConv)
        x, self.multiplicity = self._aggregate(raw, bottom), None
        merged = self._merge(whole, x, bottom)
        if merged is not None:
            whole, x = merged.levels, x[merged.first]
            if 0 in self._operator_numbers():
                bottom = induced_adjacency(bottom, merged.first)
            self.multiplicity = self._with_empty(merged.multiplicity)
        self.x = self._with_empty(x)
        self.y = torch.cat([torch.from_numpy(self.graphs.y), torch.zeros(1, dtype=torch.int64)])
        self.y = self.y.to(self.device)
        self.levels = [self._level(whole, level, bottom) for level in range(self.height + 1)]
        self.tables = Tables.of(self.levels, self.y) if use_kernel("batches", self.y) else None
        if self.row_indexed and use_kernel("linear", self.x, LARGE):
            self.sort_features()
        if self.y.is_cuda:  # other threads use the store on streams of their own
            torch.cuda.current_stream(self.y.device).synchronize()

    def sort_features(self) -> None:
        """Make the features a `FeatureTable`."""
        assert isinstance(self.x, Tensor)
        counts = self.levels[0].counts.clone()
        counts[-1] = 1  # the row of padding
        graph = torch.arange(len(counts), device=counts.device).repeat_interleave(counts)
        self.x = FeatureTable.of(self.x, graph)

    def capacity(self, ids: Tensor, spare: float = 0.0) -> Capacity:
        """Return the capacity for batches of graphs; ``ids`` as in `batch`, with leading axes.

        ``spare`` is a share to be added.
        """
        needed = []
        for level in self.levels[:-1]:
            needed.append(level.counts[ids].sum(-1).max() + 1)
        for rows in (level.rows for level in self.levels if level.rows):
            needed.append(rows.by_graph[ids].sum((-1, -2)).max())
        sizes = [int(size * (1 + spare)) + 1 for size in torch.stack(needed).tolist()]
        graphs = ids.size(-1)
        nodes = *sizes[: self.height], graphs + graphs // 8 + 1
        return Capacity(nodes, tuple(sizes[self.height :]))

    def batch(self, ids: Tensor, capacity: Capacity) -> Batch:
        """Slice a batch.

        Args:
            ids: graphs of every replica, one row a replica; ``num_graphs`` is padding.
            capacity: capacity of the batch, constant in a run so that no step synchronises.
        """
        part = slice_batch(self.levels, self.y, ids, capacity, self.tables)
        node_rows, graph_rows = part.row_indices[0], part.row_indices[-1]
        sums = self.input_sums
        return Batch(
            x=self.x if self.row_indexed else rows_at(self.x, node_rows),
            aggregated=self.aggregated,
            levels=part.levels,
            operators=part.operators,
            input_sums=None if sums is None else sums.index_select(0, graph_rows),
            row_index=node_rows if self.row_indexed else None,
            max_nodes=int(self.graphs.nodes.max()),
            graph_mask=part.graph_mask,
            num_valid=part.num_valid,
            multiplicity=self.multiplicity,
            y=part.y,
        )

    def _operator_numbers(self) -> list[int]:
        """Levels whose operator is needed; the first convolution may be precomputed."""
        return sorted(set(self.conv_levels[1:] if self.aggregated else self.conv_levels))

    def _aggregate(self, raw: Tensor, bottom: Adjacency) -> Tensor:
        with torch.device("meta"):  # draws no weights: other threads share the random numbers
            conv = self.conv(1, 1)
        if isinstance(conv, AggregatingConv):
            raw = conv.aggregate(raw, conv.prepare(bottom))
        return raw

    def _merge(self, whole: Hierarchy, x: Tensor, bottom: Adjacency) -> Merged | None:
        """Merge duplicate nodes if the model supports it and they are many."""
        node_convs = self.conv_levels.count(0) - int(self.aggregated)  # convolutions along edges
        if not self.row_indexed or node_convs > int(self.conv.supports_multiplicity):
            return None
        if self.aggregated:
            merged = merge_duplicates(whole, classes_by_rows(whole, x))
        else:
            merged = merge_duplicates(whole, classes_by_neighbours(whole, x, bottom))
        return merged if len(merged.multiplicity) <= (1 - MIN_DUPLICATES) * len(x) else None

    def _with_empty(self, rows: Tensor) -> Tensor:
        return torch.cat([rows, rows.new_zeros(1, *rows.shape[1:])]).to(self.device)

    def _level(self, whole: Hierarchy, number: int, bottom: Adjacency) -> Level:
        ptr = whole.graph_ptr(number)
        no_children = torch.zeros(whole.num_nodes, dtype=torch.int64)
        sizes = whole.sizes[number - 1] if number else no_children
        counts = torch.cat([ptr.diff(), torch.tensor([int(number == self.height)])])
        rows = None
        if number in self._operator_numbers():
            a = pooled_adjacency(whole, number, self.binary) if number else bottom
            operator = self.conv.prepare(a)
            if self.conv.node_term_is_loop and operator.node_term is not None:
                operator = Operator(_with_loops(operator.adjacency, operator.node_term))
            if number == 0 and self.multiplicity is not None:
                logs = self.multiplicity[:-1].log().cpu().unsqueeze(1)
                operator = Operator(operator.adjacency, logs)
            rows = _rows(operator, ptr, self.device)
        return Level(counts.to(self.device), ptr.to(self.device), self._with_empty(sizes), rows)


def _weights(a: Adjacency) -> Tensor:
    return torch.ones(len(a.index)) if a.weight is None else a.weight


def _with_loops(a: Adjacency, loop: Tensor) -> Adjacency:
    """Add a loop to every node: one sum in place of three passes."""
    nodes = torch.arange(a.num_nodes)
    row, order = torch.cat([a.row, nodes]).sort(stable=True)
    index = torch.cat([a.index, nodes])[order]
    weight = torch.cat([_weights(a), loop[:, 0]])[order]
    ptr = torch._convert_indices_from_coo_to_csr(row, a.num_nodes)
    return Adjacency(ptr, index, weight, a.symmetric)


def _rows(operator: Operator, graph_ptr: Tensor, device: torch.device | str) -> Rows:
    (a, node_term), zero = operator, torch.zeros(1, dtype=torch.int64)
    if node_term is not None:
        node_term = torch.cat([node_term, torch.zeros(1, 1)]).to(device)
    return Rows(
        starts=a.ptr.to(device),
        counts=torch.cat([a.ptr.diff(), zero]).to(device),
        offset=torch.cat([a.index - a.row, zero]).to(device),
        weight=torch.cat([_weights(a), torch.zeros(1)]).to(device),
        node_term=node_term,
        by_graph=torch.cat([a.ptr[graph_ptr].diff(), zero]).to(device),
        adjacency=a,
    )
