"""SEP and SEP-U: pooling and unpooling along a coding tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from sepool.arguments import one_of, whole_number
from sepool.nn.eager import Eager
from sepool.nn.rows import SparseRows, column, row_pointers
from sepool.nn.segments import pool_max, pool_sum, spmm, unpool

if TYPE_CHECKING:
    from sepool.pyg.hierarchy import Hierarchy

REDUCTIONS = ("sum", "mean", "max", "sym")
ADJACENCIES = ("weighted", "binary")
READOUTS = ("sum", "mean")


class Pooled(NamedTuple):
    """Result of `SEPooling`: a graph whose nodes are the clusters of a level.

    Attributes:
        x: features of every cluster.
        edge_index: edges between clusters, sorted by row and column.
        edge_weight: weight of every edge; None with ``pooled="binary"``.
        batch: graph of every cluster.
        edge_attr: attributes of every edge, reduced as ``edge_reduce`` of the layer; None if the
            layer got none.
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None
    batch: Tensor
    edge_attr: Tensor | None = None


class SEPooling(Eager, nn.Module):
    r"""Pooling of the nodes of a level into their clusters on the next.

    From "Structural Entropy Guided Graph Hierarchical Pooling" (ICML 2022), Eq. 2:

    .. math::
        \mathbf{P} = \mathbf{S} \mathbf{H}, \qquad
        \mathbf{A}' = \mathbf{S} \mathbf{A} \mathbf{S}^{\top}

    It has no weights.

    Args:
        reduce: reduction over the members of a cluster: "sum" (the paper), "mean", "max", or
            "sym", the sum divided by the root of their number, which preserves norms.
        pooled: "weighted" for ``S A S^T`` (the paper; the weight inside a cluster is a loop), or
            "binary" for its pattern without loops (the authors' released code).
        edge_reduce: reduction of the attributes of all edges of a level that become one edge of the
            next: "sum" or "mean".

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = Data(x=torch.eye(4), edge_index=edges)
        >>> levels = sepool.hierarchy(sepool.AddCodingTree(height=2)(path))
        >>> pooled = SEPooling()(path.x, levels, level=1)
        >>> pooled.x
        tensor([[1., 1., 0., 0.],
                [0., 0., 1., 1.]])
        >>> pooled.edge_index, pooled.edge_weight
        (tensor([[0, 0, 1, 1],
                [0, 1, 0, 1]]), tensor([2., 1., 1., 2.]))
    """

    def __init__(
        self, reduce: str = "sum", pooled: str = "weighted", edge_reduce: str = "sum"
    ) -> None:
        super().__init__()
        self.reduce = one_of("reduce", reduce, REDUCTIONS)
        self.pooled = one_of("pooled", pooled, ADJACENCIES)
        self.edge_reduce = one_of("edge_reduce", edge_reduce, READOUTS)

    def forward(
        self,
        x: Tensor,
        levels: Hierarchy,
        level: int,
        edge_index: Tensor | None = None,
        edge_attr: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Pooled:
        """Pool ``x``, one row for every node of ``level - 1``, to ``level``.

        In place of the edges, weights and batch of PyG's poolings stands the hierarchy, which has
        all three on every level: ``x, edge_index, edge_weight, batch, _ = pool(x, levels, 1)``.

        Args:
            x: features.
            levels: hierarchy of the graph or batch, from `sepool.hierarchy`.
            level: level to pool to.
            edge_index: edges of ``level - 1``; needed for the next two alone.
            edge_attr: attributes of these edges, reduced over all edges between two clusters.
            edge_weight: learned or later weights of these edges, which are pooled instead of the
                weights from the time the tree was added.
        """
        _check_level(x, levels, level, below=True)
        if not x.is_floating_point():
            raise ValueError(f"x must hold floating-point numbers, got {x.dtype}: x.float()")
        binary = self.pooled == "binary"
        edges = levels.inter_cluster_edges(level) if binary else levels.edges[level - 1]
        weight = None if binary else levels.weights[level - 1]
        if edge_weight is not None:
            if binary:
                raise ValueError('pooled="binary" drops weights; got edge_weight: use "weighted"')
            weight = self._pool_edges("edge_weight", edge_weight, edge_index, levels, level)
        if edge_attr is not None:
            edge_attr = self._pool_edges("edge_attr", edge_attr, edge_index, levels, level)
        x = reduce_to(x, levels, level, self.reduce)
        return Pooled(x, edges, weight, levels.batch(level), edge_attr)

    def _pool_edges(
        self, name: str, values: Tensor, edge_index: Tensor | None, levels: Hierarchy, level: int
    ) -> Tensor:
        if edge_index is None:
            raise ValueError(f"{name} needs the edges that it belongs to: pass edge_index")
        binary, reduce = self.pooled == "binary", "sum"
        if name == "edge_attr":
            reduce = self.edge_reduce
        edges = levels.inter_cluster_edges(level) if binary else levels.edges[level - 1]
        return pool_edge_attr(values, edge_index, edges, levels, level, reduce)

    def __repr__(self) -> str:
        return f"SEPooling(reduce={self.reduce!r}, pooled={self.pooled!r})"


class SEPUnpooling(Eager, nn.Module):
    """Features of a node's cluster for every node of the level below: ``S^T P`` (Eq. 15).

    Args:
        reduce: "sum" (the paper) copies; "mean" divides by the size of the cluster.

    Example:
        >>> import sepool
        >>> from torch_geometric.data import Data
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> levels = sepool.hierarchy(sepool.AddCodingTree(2)(Data(edge_index=edges, num_nodes=4)))
        >>> SEPUnpooling()(torch.tensor([[5.0], [7.0]]), levels, level=1).flatten()
        tensor([5., 5., 7., 7.])
    """

    def __init__(self, reduce: str = "sum") -> None:
        super().__init__()
        self.reduce = one_of("reduce", reduce, READOUTS)

    def forward(self, x: Tensor, levels: Hierarchy, level: int) -> Tensor:
        """Unpool ``x``, one row for every cluster of ``level``, to ``level - 1``."""
        _check_level(x, levels, level)
        if self.reduce == "mean":
            x = x / column(levels.sizes[level - 1], x)
        return unpool(x, *members(levels, level))

    def __repr__(self) -> str:
        return f"SEPUnpooling(reduce={self.reduce!r})"


def members(levels: Hierarchy, level: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """Assignment between a level and the one below, as `sepool.nn.segments.pool_sum` takes it."""
    order = levels.order if level == 1 else None
    return levels.ptr(level), levels.assignment(level), order


def reduce_to(x: Tensor, levels: Hierarchy, level: int, reduce: str) -> Tensor:
    """Reduction over the members of every cluster of ``level`` (see `SEPooling`)."""
    if reduce == "max":
        return pool_max(x, *members(levels, level))
    total = pool_sum(x, *members(levels, level))
    if reduce == "mean":
        total = total / column(levels.sizes[level - 1].clamp(min=1), x)
    if reduce == "sym":
        total = total * inverse_root_sizes(levels, level, x)
    return total


def inverse_root_sizes(levels: Hierarchy, level: int, x: Tensor) -> Tensor:
    """One over the root of the cluster sizes, as factors of the rows of ``x``."""
    sizes = levels.sizes[level - 1].clamp(min=1)
    return column(sizes.to(torch.promote_types(x.dtype, torch.float32)).rsqrt(), x)


def readout(x: Tensor, levels: Hierarchy, level: int, reduce: str = "sum") -> Tensor:
    """Sum or mean over the nodes of a level, for every graph."""
    if level == levels.height:  # one root a graph
        return x
    ptr = levels.graph_ptr(level)
    total = pool_sum(x, ptr, levels.batch(level))
    return total / column(ptr.diff().clamp(min=1), x) if reduce == "mean" else total


def pool_edge_attr(
    edge_attr: Tensor,
    edge_index: Tensor,
    pooled_index: Tensor,
    levels: Hierarchy,
    level: int,
    reduce: str = "sum",
) -> Tensor:
    """Sum or mean of the attributes of all edges between two clusters, for every pooled edge.

    Args:
        edge_attr: attributes of the edges of ``level - 1``.
        edge_index: these edges.
        pooled_index: the pooled edges of ``level``, sorted by row and column.
        levels: the hierarchy.
        level: the level of the clusters.
        reduce: "sum" or "mean".
    """
    if not edge_attr.is_floating_point():
        raise ValueError(
            f"edge_attr must hold floating-point numbers to be pooled, got {edge_attr.dtype}: "
            "data.edge_attr.float()"
        )
    clusters = levels.num_clusters(level)
    row, col = levels.assignment(level)[edge_index]
    cell, pooled = row * clusters + col, pooled_index[0] * clusters + pooled_index[1]
    place = torch.searchsorted(pooled, cell)
    # Edges that are pooled into none (loops, where loops are left out) get a cell of their own.
    count = pooled.size(0)
    matched = pooled[place.clamp(max=count - 1)] == cell if count else cell < 0
    place = place.masked_fill(~matched, count)
    place, order = place.sort(stable=True)
    ptr = row_pointers(place, count + 1)
    inverse = torch.empty_like(order).index_copy_(0, order, place)
    total = spmm(SparseRows(ptr, order), SparseRows(None, inverse), edge_attr)[:-1]
    return total / column(ptr.diff()[:-1].clamp(min=1), total) if reduce == "mean" else total


def _check_level(x: Tensor, levels: Hierarchy, level: int, below: bool = False) -> None:
    """Raise where a level does not exist, or the rows are not those of it or the one below."""
    if not hasattr(levels, "num_clusters"):
        raise TypeError(f"levels must be what sepool.hierarchy(data) gives, got {type(levels)}")
    rows = whole_number("level", level, 1, levels.height) - below
    if not torch.compiler.is_compiling() and len(x) != levels.num_clusters(rows):
        raise ValueError(
            f"x has {len(x)} rows, but level {rows} has {levels.num_clusters(rows)} nodes"
        )
