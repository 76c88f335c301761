"""CSR adjacency and message passing along it.

A symmetric adjacency is its own transpose; any other is sorted once by column, so that gradients
are sorted sums as well (see `sepool_experiments.layers.segments`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool.pyg.hierarchy import DIRECTED, SORTED, Hierarchy, normal_tensors, repeat_each
from sepool_experiments.layers.segments import (
    dot_rows,
    gather_sum,
    pool_sum,
    scalar_segment_sum,
    unpool,
)
from sepool_experiments.layers.softmax import segment_softmax


class Adjacency:
    """Weighted adjacency in CSR: node ``i`` receives from entries ``ptr[i]`` to ``ptr[i + 1]``.

    Attributes:
        ptr: start of every row.
        index: neighbours, row after row.
        weight: weights of the entries; None if all are 1.
        symmetric: the matrix is its own transpose.
    """

    def __init__(
        self, ptr: Tensor, index: Tensor, weight: Tensor | None = None, symmetric: bool = False
    ) -> None:
        self.ptr, self.index, self.weight, self.symmetric = ptr, index, weight, symmetric
        self._transpose: tuple[Tensor, Tensor, Tensor] | None = None
        self._make_transpose: Callable[[], tuple[Tensor, Tensor, Tensor]] = self._sort_by_column
        self._row: Tensor | None = None

    @classmethod
    def from_edges(
        cls, edge_index: Tensor, weight: Tensor | None, num_nodes: int, layout: int = DIRECTED
    ) -> Adjacency:
        """Convert PyG's edges, with messages from ``edge_index[0]`` to ``edge_index[1]``.

        SORTED edges need no sort: rows and columns swap. Weights with a gradient do, because the
        gradient belongs to an edge and not to its reverse.
        """
        learned = weight is not None and weight.requires_grad
        if layout == SORTED and not learned:
            # Kernels need contiguous tensors.
            row, col = edge_index.contiguous()
            weight = None if weight is None else weight.contiguous()
        else:
            row, order = edge_index[1].sort(stable=True)
            col = edge_index[0][order]
            weight = None if weight is None else weight[order]
        ptr = torch._convert_indices_from_coo_to_csr(row, num_nodes)
        a = cls(ptr, col, weight, layout != DIRECTED)
        a._row = row
        return a

    @property
    def num_nodes(self) -> int:
        """Number of rows."""
        return len(self.ptr) - 1

    @property
    def row(self) -> Tensor:
        """Row of every entry."""
        if self._row is None:
            with normal_tensors():
                self._row = repeat_each(self.ptr.diff(), len(self.index))
        return self._row

    def transpose(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return ``ptr``, ``index`` and the permutation of the entries of the transpose."""
        if self._transpose is None:
            with normal_tensors():
                self._transpose = self._make_transpose()
        return self._transpose

    def _sort_by_column(self) -> tuple[Tensor, Tensor, Tensor]:
        col, order = self.index.sort(stable=True)
        ptr = torch._convert_indices_from_coo_to_csr(col, self.num_nodes)
        return ptr, self.row[order], order

    def weighted(self, weight: Tensor) -> Adjacency:
        """Return the same entries with other weights."""
        other = Adjacency(self.ptr, self.index, weight, self.symmetric)
        other._row, other._transpose = self._row, self._transpose
        other._make_transpose = self._make_transpose
        return other

    def degree(self) -> Tensor:
        """Return the sum of the weights of every row."""
        if self.weight is None:
            return self.ptr.diff().to(torch.get_default_dtype())
        return scalar_segment_sum(self.weight, self.ptr)

    def propagate(self, x: Tensor) -> Tensor:
        """Return ``A x`` for rows of any shape; differentiable in ``x`` and in the weights."""
        if self.weight is not None and self.weight.requires_grad:
            return weighted_propagate(self, x, self.weight)
        transpose: tuple[Tensor | None, ...] = ()
        if x.requires_grad and not self.symmetric:
            ptr, index, order = self.transpose()
            transpose = ptr, index, None if self.weight is None else self.weight[order]
        return sparse_product(x, self.ptr, self.index, self.weight, *transpose)


def sparse_product(
    x: Tensor,
    ptr: Tensor,
    index: Tensor,
    weight: Tensor | None,
    t_ptr: Tensor | None = None,
    t_index: Tensor | None = None,
    t_weight: Tensor | None = None,
) -> Tensor:
    """Return the product of a CSR matrix and ``x``, differentiable in ``x``.

    The gradient needs the transpose (``t_``), unless the matrix is symmetric.
    """
    product: Tensor = _Propagate.apply(  # type: ignore[no-untyped-call]
        x, ptr, index, weight, t_ptr, t_index, t_weight
    )
    return product


class _Propagate(Function):
    """``A x`` from ``A`` and its transpose, which is None if ``A`` is symmetric."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, weight: Tensor | None, *transpose: Any
    ) -> Tensor:
        ctx.save_for_backward(ptr, index, weight, *transpose)
        return gather_sum(x, ptr, index, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, index, weight, *transpose = ctx.saved_tensors
        if transpose[0] is not None:
            transpose, (ptr, index, weight) = [ptr, index, weight], transpose
        back = _Propagate.apply(grad, ptr, index, weight, *transpose)  # type: ignore[no-untyped-call]
        return back, *[None] * 6


def weighted_propagate(a: Adjacency, x: Tensor, weight: Tensor) -> Tensor:
    """Return ``A x`` with other weights, differentiable in both.

    Replicas side by side may have weights of their own, one column a replica.
    """
    transpose = a.transpose()
    if weight.dim() > 1:
        ptr, _, order = transpose
        messages = unpool(x, ptr, a.index, order) * weight.unsqueeze(-1)
        return pool_sum(messages, a.ptr, a.row)
    out: Tensor = _WeightedPropagate.apply(  # type: ignore[no-untyped-call]
        x, weight, a.ptr, a.index, a.row, *transpose
    )
    return out


class _WeightedPropagate(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, ptr: Tensor, index: Tensor, *rest: Tensor
    ) -> Tensor:
        ctx.save_for_backward(x, weight, index, *rest)
        return gather_sum(x, ptr, index, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight, index, row, ptr, col, order = ctx.saved_tensors
        weight_grad = dot_rows(grad, row, x, index)
        return gather_sum(grad, ptr, col, weight[order]), weight_grad, *[None] * 6


def edge_dot(a: Adjacency, x: Tensor) -> Tensor:
    """Return ``x_i . x_j`` of every entry, without a row of features an entry.

    Example:
        >>> path = Adjacency(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), symmetric=True)
        >>> edge_dot(path, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([11., 11.])
    """
    product: Tensor = _EdgeDot.apply(  # type: ignore[no-untyped-call]
        x, a.ptr, a.index, a.row, *a.transpose()
    )
    return product


class _EdgeDot(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, row: Tensor, *transpose: Any
    ) -> Tensor:
        ctx.save_for_backward(x, ptr, index, *transpose)
        return dot_rows(x, row, x, index)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, ptr, index, t_ptr, col, order = ctx.saved_tensors
        x_grad = gather_sum(x, ptr, index, grad) + gather_sum(x, t_ptr, col, grad[order])
        return x_grad, *[None] * 6


def edge_softmax(adjacency: Adjacency, score: Tensor) -> Tensor:
    """Return the softmax of the scores of the entries over every row, one column a replica."""
    column = score if score.dim() > 1 else score.unsqueeze(1)
    return segment_softmax(column, adjacency.ptr, adjacency.row).view_as(score)


def pooled_adjacency(levels: Hierarchy, level: int, binary: bool = False) -> Adjacency:
    """Return ``S A S^T`` of a level; binary without weights and loops."""
    edges = levels.inter_cluster_edges(level) if binary else levels.edges[level - 1]
    weight = None if binary else levels.weights[level - 1]
    layout = levels.edge_layout if levels.edge_layout == DIRECTED else SORTED
    return Adjacency.from_edges(edges, weight, levels.num_clusters(level), layout)
