"""SEP and SEP-U: pooling and unpooling along a coding tree."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from sepool.arguments import one_of, whole_number
from sepool.pyg.hierarchy import Hierarchy
from sepool_experiments.layers.ops import (
    pool_along,
    pool_max,
    pool_relu,
    pool_sum,
    rows_like,
    unpool,
)

REDUCTIONS = ("sum", "mean", "max", "sym")
POOLED = ("weighted", "binary")
READOUTS = ("sum", "mean")


class Pooled(NamedTuple):
    """What `SEPooling` returns: a graph whose nodes are the clusters of a level."""

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None
    batch: Tensor


class SEPooling(nn.Module):
    """Pools the nodes of a level into their clusters on the next.

    Wu et al., "Structural entropy guided graph hierarchical pooling", ICML 2022, Eq. 2:
    ``P = S H`` and ``A' = S A S^T``. It has no weights.

    Args:
        reduce: how the members of a cluster are joined: "sum" (the paper), "mean", "max", or "sym",
            the sum divided by the root of their number, which keeps lengths.
        pooled: "weighted" for ``S A S^T`` (the paper; the weight inside a cluster is a loop), or
            "binary" for its pattern without loops (the authors' released code).

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

    def __init__(self, reduce: str = "sum", pooled: str = "weighted") -> None:
        super().__init__()
        self.reduce = one_of("reduce", reduce, REDUCTIONS)
        self.pooled = one_of("pooled", pooled, POOLED)

    def forward(self, x: Tensor, levels: Hierarchy, level: int) -> Pooled:
        """Pools ``x``, one row for every node of level ``level - 1``, to ``level``."""
        check_level(x, levels, level, below=True)
        if not x.is_floating_point():
            raise ValueError(f"x must hold floating-point numbers, got {x.dtype}: x.float()")
        x = reduce_to(x, levels, level, self.reduce)
        if self.pooled == "binary":
            return Pooled(x, levels.inter_cluster_edges(level), None, levels.batch(level))
        edges, weight = levels.edges[level - 1], levels.weights[level - 1]
        return Pooled(x, edges, weight, levels.batch(level))

    def __repr__(self) -> str:
        return f"SEPooling(reduce={self.reduce!r}, pooled={self.pooled!r})"


class SEPUnpooling(nn.Module):
    """Gives every node of a level the features of its cluster on the next: ``S^T P`` (Eq. 15).

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
        """Unpools ``x``, one row for every cluster of ``level``, to ``level - 1``."""
        check_level(x, levels, level)
        if self.reduce == "mean":
            x = x / rows_like(levels.sizes[level - 1], x)
        return unpool(x, *family(levels, level))

    def __repr__(self) -> str:
        return f"SEPUnpooling(reduce={self.reduce!r})"


def family(levels: Hierarchy, level: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """Who belongs to whom between a level and the one below, as `pool_sum` takes it."""
    order = levels.order if level == 1 else None
    return levels.ptr(level), levels.assignment(level), order


def reduce_to(x: Tensor, levels: Hierarchy, level: int, reduce: str, relu: bool = False) -> Tensor:
    """The members of every cluster of ``level`` as one (see `SEPooling`); of ``relu(x)`` too."""
    if reduce == "max":
        return pool_max(x.relu() if relu else x, *family(levels, level))
    pool = pool_relu if relu else pool_sum
    summed = pool(x, *family(levels, level))
    if reduce == "mean":
        summed = summed / rows_like(levels.sizes[level - 1].clamp(min=1), x)
    if reduce == "sym":
        summed = summed * inverse_roots(levels, level, x)
    return summed


def inverse_roots(levels: Hierarchy, level: int, x: Tensor) -> Tensor:
    """One over the root of how many members every cluster has, as factors of the rows of ``x``."""
    sizes = levels.sizes[level - 1].clamp(min=1)
    return rows_like(sizes.to(at_least_single(x.dtype)).rsqrt(), x)


def at_least_single(dtype: torch.dtype) -> torch.dtype:
    """What is computed with for numbers of this type, that many may be summed."""
    return torch.promote_types(dtype, torch.float32)


def read_out(x: Tensor, levels: Hierarchy, level: int, reduce: str = "sum") -> Tensor:
    """The sum or mean over the nodes of a level, for every graph."""
    if level == levels.height:  # one root a graph
        return x
    ptr = levels.graph_ptr(level)
    return _readout(pool_sum(x, ptr, levels.batch(level)), ptr, reduce)


def read_along(
    x: Tensor, levels: Hierarchy, level: int, reduce: str = "sum"
) -> tuple[Tensor, Tensor]:
    """``x`` to go on with, and `read_out` of it; see `pool_along`."""
    if level == levels.height:
        return x, x
    ptr = levels.graph_ptr(level)
    x, summed = pool_along(x, ptr, levels.batch(level))
    return x, _readout(summed, ptr, reduce)


def _readout(summed: Tensor, ptr: Tensor, reduce: str) -> Tensor:
    return summed / rows_like(ptr.diff().clamp(min=1), summed) if reduce == "mean" else summed


def features_of(data: Data, channels: int) -> Tensor:
    """The features of the nodes; raises where there are none, or not as a model takes them."""
    if not isinstance(data, Data):
        raise TypeError(f"expected a PyG Data or a batch of them, got {type(data).__name__}")
    x: Tensor | None = data.x
    if x is not None and x.dim() != 2:
        raise ValueError(f"data.x must be a matrix, one row a node, got the shape {tuple(x.shape)}")
    if x is None or x.size(-1) != channels:
        width = None if x is None else x.size(-1)
        raise ValueError(f"the model takes {channels} features a node, got {width}")
    if not x.is_floating_point():
        raise ValueError(f"features must be floating-point numbers, got {x.dtype}: data.x.float()")
    return x


def edges_of(data: Data, x: Tensor) -> tuple[Tensor, Tensor | None]:
    """The edges, and their weights as a model with such features takes them, if there are any."""
    edges, weight = data.get("edge_index", None), data.get("edge_weight", None)
    if edges is None:
        raise ValueError(
            "the data has no edge_index; models take edges as such, not as adj_t or as a matrix"
        )
    return edges, None if weight is None else weight.to(at_least_single(x.dtype))


def check_level(x: Tensor, levels: Hierarchy, level: int, below: bool = False) -> None:
    """Raises where a level does not exist, or the rows are not those of it or the one below."""
    if not isinstance(levels, Hierarchy):
        raise TypeError(f"levels must be what sepool.hierarchy(data) gives, got {type(levels)}")
    rows = whole_number("level", level, 1, levels.height) - below
    if not torch.compiler.is_compiling() and len(x) != levels.num_clusters(rows):
        raise ValueError(
            f"x has {len(x)} rows, but level {rows} has {levels.num_clusters(rows)} nodes"
        )
