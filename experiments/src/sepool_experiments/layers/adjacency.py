"""Who is next to whom: an adjacency row by row, and what flows along it.

A symmetric adjacency is its own transpose; of any other the transpose is sorted once, so that the
gradients are sorted sums too (see `sepool_experiments.layers.ops`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from sepool.pyg.hierarchy import DIRECTED, SORTED, Hierarchy, normal_tensors, repeat_each
from sepool_experiments.layers.ops import dot_rows, gather_sum, pool_sum, row_sums, unpool
from sepool_experiments.layers.softmax import segment_softmax


class Adjacency:
    """A weighted adjacency, row by row: what node ``i`` gathers lies at ``ptr[i]`` to ``ptr[i+1]``.

    Attributes:
        ptr: where every row begins.
        index: the neighbours, row after row.
        weight: their weights, or None where all are one.
        symmetric: whether the matrix is its own transpose.
    """

    def __init__(
        self, ptr: Tensor, index: Tensor, weight: Tensor | None = None, symmetric: bool = False
    ) -> None:
        self.ptr, self.index, self.weight, self.symmetric = ptr, index, weight, symmetric
        self._transpose: tuple[Tensor, Tensor, Tensor] | None = None
        self._turn: Callable[[], tuple[Tensor, Tensor, Tensor]] = self._sorted
        self._row: Tensor | None = None

    @classmethod
    def from_edges(
        cls, edge_index: Tensor, weight: Tensor | None, num_nodes: int, kind: int = DIRECTED
    ) -> Adjacency:
        """From edges as PyG has them: messages flow from ``edge_index[0]`` to ``edge_index[1]``.

        Where edges are SORTED, nothing needs to be sorted: rows and columns change places. Not
        so where weights want a gradient: it belongs to the edge itself, not to the one back.
        """
        learned = weight is not None and weight.requires_grad
        if kind == SORTED and not learned:
            # What reads these takes entries to lie side by side, which those of a transpose do not.
            row, col = edge_index.contiguous()
            weight = None if weight is None else weight.contiguous()
        else:
            row, order = edge_index[1].sort(stable=True)
            col = edge_index[0][order]
            weight = None if weight is None else weight[order]
        ptr = torch._convert_indices_from_coo_to_csr(row, num_nodes)
        found = cls(ptr, col, weight, kind != DIRECTED)
        found._row = row
        return found

    @property
    def num_nodes(self) -> int:
        """How many rows there are."""
        return len(self.ptr) - 1

    @property
    def row(self) -> Tensor:
        """The row of every entry."""
        if self._row is None:
            with normal_tensors():
                self._row = repeat_each(self.ptr.diff(), len(self.index))
        return self._row

    def transpose(self) -> tuple[Tensor, Tensor, Tensor]:
        """``ptr`` and ``index`` of the transpose, and which entry each of its entries was."""
        if self._transpose is None:
            with normal_tensors():
                self._transpose = self._turn()
        return self._transpose

    def _sorted(self) -> tuple[Tensor, Tensor, Tensor]:
        """The transpose of any adjacency; who knows it without sorting says so by `_turn`."""
        col, order = self.index.sort(stable=True)
        ptr = torch._convert_indices_from_coo_to_csr(col, self.num_nodes)
        return ptr, self.row[order], order

    def weighted(self, weight: Tensor) -> Adjacency:
        """The same entries with other weights."""
        other = Adjacency(self.ptr, self.index, weight, self.symmetric)
        other._row, other._transpose, other._turn = self._row, self._transpose, self._turn
        return other

    def degree(self) -> Tensor:
        """The sum of the weights in every row."""
        if self.weight is None:
            return self.ptr.diff().to(torch.get_default_dtype())
        return row_sums(self.weight, self.ptr)

    def propagate(self, x: Tensor) -> Tensor:
        """``A x``: every node gathers its neighbours; for any shape of the rows of ``x``.

        Differentiable in ``x``, and in the weights where these want a gradient.
        """
        if self.weight is not None and self.weight.requires_grad:
            return attend(self, x, self.weight)
        turned = self._turned() if x.requires_grad and not self.symmetric else (None,) * 3
        return sparse_product(x, self.ptr, self.index, self.weight, *turned)

    def __matmul__(self, x: Tensor) -> Tensor:
        """`propagate`, as it is written; torch.compile sees only the method."""
        return self.propagate(x)

    def _turned(self) -> tuple[Tensor, Tensor, Tensor | None]:
        ptr, index, order = self.transpose()
        return ptr, index, None if self.weight is None else self.weight[order]


def sparse_product(
    x: Tensor,
    ptr: Tensor,
    index: Tensor,
    weight: Tensor | None,
    turned_ptr: Tensor | None = None,
    turned_index: Tensor | None = None,
    turned_weight: Tensor | None = None,
) -> Tensor:
    """A sparse matrix, given row by row, times ``x``; differentiable in ``x``.

    Its transpose, given likewise, is needed for the gradient unless it is the same.
    """
    product: Tensor = _Propagate.apply(  # type: ignore[no-untyped-call]
        x, ptr, index, weight, turned_ptr, turned_index, turned_weight
    )
    return product


class _Propagate(Function):
    """``A x``, from the rows of ``A`` and those of its transpose, or None if they are the same."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, weight: Tensor | None, *turned: Any
    ) -> Tensor:
        ctx.save_for_backward(ptr, index, weight, *turned)
        return gather_sum(x, ptr, index, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, index, weight, *turned = ctx.saved_tensors
        if turned[0] is not None:
            turned, (ptr, index, weight) = [ptr, index, weight], turned
        back = _Propagate.apply(grad, ptr, index, weight, *turned)  # type: ignore[no-untyped-call]
        return back, *[None] * 6


def attend(adjacency: Adjacency, x: Tensor, weight: Tensor, turned: Tensor | None = None) -> Tensor:
    """``A x`` with these weights in place of the adjacency's, differentiable in both.

    Rows of ``x`` may be tables with one row a replica; then every replica has its own weights. The
    weights of the transpose are needed for the gradient, and found unless they are given.
    """
    a, back = adjacency, adjacency.transpose()
    if weight.dim() > 1:
        ptr, _, order = back
        seen = unpool(x, ptr, a.index, order) * weight.unsqueeze(-1)
        return pool_sum(seen, a.ptr, a.row)
    summed: Tensor = _Attend.apply(  # type: ignore[no-untyped-call]
        x, weight, turned, a.ptr, a.index, a.row, *back
    )
    return summed


class _Attend(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, turned: Tensor | None, ptr: Tensor, *rest: Tensor
    ) -> Tensor:
        index = rest[0]
        ctx.save_for_backward(x, weight, turned, *rest)
        return gather_sum(x, ptr, index, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight, turned, index, row, ptr, col, order = ctx.saved_tensors
        to_weight = dot_rows(grad, row, x, index)
        to_x = gather_sum(grad, ptr, col, weight[order] if turned is None else turned)
        return to_x, to_weight, *[None] * 7


def dot_ends(adjacency: Adjacency, x: Tensor) -> Tensor:
    """``x_i . x_j`` of the two ends of every entry, without a row for every entry.

    Example:
        >>> path = Adjacency(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), symmetric=True)
        >>> dot_ends(path, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([11., 11.])
    """
    a = adjacency
    product: Tensor = _DotEnds.apply(  # type: ignore[no-untyped-call]
        x, a.ptr, a.index, a.row, *a.transpose()
    )
    return product


class _DotEnds(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, row: Tensor, *back: Any) -> Tensor:
        ctx.save_for_backward(x, ptr, index, *back)
        return dot_rows(x, row, x, index)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, ptr, index, turned, col, order = ctx.saved_tensors
        to_x = gather_sum(x, ptr, index, grad) + gather_sum(x, turned, col, grad[order])
        return to_x, *[None] * 6


def edge_softmax(adjacency: Adjacency, score: Tensor) -> Tensor:
    """The softmax of the scores of the entries, over every row; one column a replica."""
    column = score if score.dim() > 1 else score.unsqueeze(1)
    return segment_softmax(column, adjacency.ptr, adjacency.row).view_as(score)


def pooled_adjacency(levels: Hierarchy, level: int, binary: bool = False) -> Adjacency:
    """The adjacency between the clusters of a level: ``S A S^T``, or without weights and loops."""
    edges = levels.inter_cluster_edges(level) if binary else levels.edges[level - 1]
    weight = None if binary else levels.weights[level - 1]
    kind = levels.edge_layout if levels.edge_layout == DIRECTED else SORTED
    return Adjacency.from_edges(edges, weight, levels.num_clusters(level), kind)
