"""Pooling and readout along a coding tree, for models of replicas."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool.pyg.hierarchy import Hierarchy
from sepool_experiments.layers.segments import (
    as_factor,
    pool_max,
    pool_sum,
)


def members(levels: Hierarchy, level: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return ``ptr``, ``assignment`` and ``order`` of the clusters of a level, as in `pool_sum`."""
    order = levels.order if level == 1 else None
    return levels.ptr(level), levels.assignment(level), order


def pool(x: Tensor, levels: Hierarchy, level: int, reduce: str) -> Tensor:
    """Pool the nodes below ``level`` into its clusters.

    Reductions are "sum", "mean", "max" and "sym", the sum over the root of the cluster's size.
    """
    if reduce == "max":
        return pool_max(x, *members(levels, level))
    out = pool_sum(x, *members(levels, level))
    if reduce == "mean":
        out = out / as_factor(levels.sizes[level - 1].clamp(min=1), x)
    if reduce == "sym":
        out = out * inverse_root_sizes(levels, level, x)
    return out


def inverse_root_sizes(levels: Hierarchy, level: int, x: Tensor) -> Tensor:
    """Return ``1 / sqrt(size)`` of every cluster, as factors of the rows of ``x``."""
    sizes = levels.sizes[level - 1].clamp(min=1)
    return as_factor(sizes.to(torch.promote_types(x.dtype, torch.float32)).rsqrt(), x)


def readout(x: Tensor, levels: Hierarchy, level: int, reduce: str = "sum") -> Tensor:
    """Return the sum or mean over the nodes of a level, one row a graph."""
    if level == levels.height:  # one root a graph
        return x
    ptr = levels.graph_ptr(level)
    out = pool_sum(x, ptr, levels.batch(level))
    return out / as_factor(ptr.diff().clamp(min=1), out) if reduce == "mean" else out
