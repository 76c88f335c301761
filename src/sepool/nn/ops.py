"""The sums that every layer here is made of: sorted, without atomics, differentiable.

A sum over sorted segments gives the same bits in every run, on a GPU too. The gradients are such
sums again: what is pooled forward is copied backward, and the other way round; a symmetric
adjacency is its own transpose, and of any other the transpose is sorted once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from sepool.data import DIRECTED, ROW_BY_ROW, Hierarchy

kernels: Any = None
gather_kernels: Any = None
if torch.version.cuda is not None:
    with suppress(ImportError):  # builds for GPUs bring Triton along, but need not
        from sepool.nn import gather_kernels, kernels


def segment_sum(x: Tensor, ptr: Tensor, index: Tensor | None = None) -> Tensor:
    """Sums the rows ``ptr[i]`` to ``ptr[i + 1]`` of ``x``, or of ``x[index]``, for every ``i``.

    Not differentiable by itself; see `pool_sum`.

    Example:
        >>> segment_sum(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 2, 2, 3]))
        tensor([[3.],
                [0.],
                [4.]])
    """
    return _bags(x, ptr, index)


def row_sums(values: Tensor, ptr: Tensor) -> Tensor:
    """`segment_sum` of single numbers."""
    return torch.segment_reduce(values, "sum", offsets=ptr, unsafe=True, initial=0)


def segment_max(x: Tensor, ptr: Tensor, index: Tensor | None = None) -> Tensor:
    """The largest values of the rows that `segment_sum` would add; 0 where there are none."""
    return _bags(x, ptr, index, mode="max")


def pool_sum(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """``S x``: the sum of the rows in every cluster.

    Args:
        x: one row for every node of the level below.
        ptr: where the members of every cluster begin.
        assignment: the cluster of every row of ``x``.
        order: the rows sorted by cluster; None where they are sorted already.
    """
    summed: Tensor = _Pool.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return summed


def pool_relu(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """``S relu(x)`` in one pass over ``x``, and one more for its gradient; see `pool_sum`."""
    summed: Tensor = _PoolRelu.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return summed


def unpool(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """``S^T x``: every row is copied to the members of its cluster; arguments as in `pool_sum`."""
    copied: Tensor = _Unpool.apply(x, ptr, assignment, order)  # type: ignore[no-untyped-call]
    return copied


def pool_max(x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None = None) -> Tensor:
    """The largest value in every cluster; members that share it share the gradient."""
    with torch.no_grad():
        largest = segment_max(x, ptr, order)
        reached = (x == largest.index_select(0, assignment)).to(x.dtype)
        share = reached / segment_sum(reached, ptr, order).clamp_(min=1).index_select(0, assignment)
    return pool_sum(x * share, ptr, assignment, order)


class _Pool(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(ptr, assignment, order)
        return _bags(x, ptr, order)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, assignment, order = ctx.saved_tensors
        return unpool(grad, ptr, assignment, order), None, None, None


class _PoolRelu(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(x, assignment)
        if _has_kernel(x):
            summed: Tensor = kernels.sum_rows(_wide(x), ptr, order, relu=True)
            return summed.view(-1, *x.shape[1:])
        return _bags(x.relu(), ptr, order)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, assignment = ctx.saved_tensors
        return take_rows(grad, assignment, gate=x), None, None, None


def gather_pool(
    table: Tensor, source: Tensor, weight: Tensor, bias: Tensor, ptr: Tensor, assignment: Tensor
) -> Tensor:
    """``S relu(table[source] W + b)`` for replicas, without writing down the rows that are taken.

    Args:
        table: rows of features; they get no gradient.
        source: the row that every node has; nodes of one cluster are neighbours.
        weight: one matrix a replica; replicas have equally many nodes.
        bias: one row a replica.
        ptr: where the members of every cluster begin.
        assignment: the cluster of every node.
    """
    if _has_kernel(table):
        summed: Tensor = _GatherPool.apply(  # type: ignore[no-untyped-call]
            table, source, weight, bias, ptr, assignment
        )
        return summed
    parts = take_rows(table, source).view(len(weight), -1, table.size(1))
    hidden = torch.baddbmm(bias.unsqueeze(1), parts, weight).flatten(0, 1)
    return pool_relu(hidden, ptr, assignment)


class _GatherPool(Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, source: Tensor, *others: Tensor) -> Tensor:
        weight, bias, ptr, assignment = others
        hidden = gather_kernels.gathered_product(table, source, weight, bias)
        ctx.save_for_backward(table, source, hidden, assignment)
        ctx.replicas = len(weight)
        summed: Tensor = kernels.sum_rows(hidden, ptr, relu=True)
        return summed

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        table, source, hidden, assignment = ctx.saved_tensors
        to_weight, to_bias = gather_kernels.gathered_gradient(
            table, source, grad, assignment, hidden, ctx.replicas
        )
        return None, None, to_weight, to_bias, None, None


class _Unpool(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, assignment: Tensor, order: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(ptr, assignment, order)
        return take_rows(x, assignment)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, assignment, order = ctx.saved_tensors
        return pool_sum(grad, ptr, assignment, order), None, None, None


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
        self._row: Tensor | None = None

    @classmethod
    def from_edges(
        cls, edge_index: Tensor, weight: Tensor | None, num_nodes: int, kind: int = DIRECTED
    ) -> Adjacency:
        """From edges as PyG has them: messages flow from ``edge_index[0]`` to ``edge_index[1]``.

        Where edges are ROW_BY_ROW, nothing needs to be sorted: rows and columns change places. Not
        so where weights want a gradient: it belongs to the edge itself, not to the one back.
        """
        learned = weight is not None and weight.requires_grad
        if kind == ROW_BY_ROW and not learned:
            row, col = edge_index
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
            rows = torch.arange(self.num_nodes, device=self.ptr.device)
            self._row = rows.repeat_interleave(self.ptr.diff(), output_size=len(self.index))
        return self._row

    def transpose(self) -> tuple[Tensor, Tensor, Tensor]:
        """``ptr`` and ``index`` of the transpose, and which entry each of its entries was."""
        if self._transpose is None:
            col, order = self.index.sort(stable=True)
            ptr = torch._convert_indices_from_coo_to_csr(col, self.num_nodes)
            self._transpose = ptr, self.row[order], order
        return self._transpose

    def weighted(self, weight: Tensor) -> Adjacency:
        """The same entries with other weights."""
        other = Adjacency(self.ptr, self.index, weight, self.symmetric)
        other._row, other._transpose = self._row, self._transpose
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
        product: Tensor = _Propagate.apply(  # type: ignore[no-untyped-call]
            x, self.ptr, self.index, self.weight, *turned
        )
        return product

    def __matmul__(self, x: Tensor) -> Tensor:
        """`propagate`, as it is written; torch.compile sees only the method."""
        return self.propagate(x)

    def _turned(self) -> tuple[Tensor, Tensor, Tensor | None]:
        ptr, index, order = self.transpose()
        return ptr, index, None if self.weight is None else self.weight[order]


class _Propagate(Function):
    """``A x``, from the rows of ``A`` and those of its transpose, or None if they are the same."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, ptr: Tensor, index: Tensor, weight: Tensor | None, *turned: Any
    ) -> Tensor:
        ctx.save_for_backward(ptr, index, weight, *turned)
        return _bags(x, ptr, index, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ptr, index, weight, *turned = ctx.saved_tensors
        if turned[0] is not None:
            turned, (ptr, index, weight) = [ptr, index, weight], turned
        back = _Propagate.apply(grad, ptr, index, weight, *turned)  # type: ignore[no-untyped-call]
        return back, *[None] * 6


def attend(adjacency: Adjacency, x: Tensor, weight: Tensor) -> Tensor:
    """``A x`` with these weights in place of the adjacency's, differentiable in both.

    Rows of ``x`` may be tables with one row a replica; then every replica has its own weights.
    """
    a, back = adjacency, adjacency.transpose()
    if weight.dim() > 1:
        ptr, _, order = back
        seen = unpool(x, ptr, a.index, order) * weight.unsqueeze(-1)
        return pool_sum(seen, a.ptr, a.row)
    summed: Tensor = _Attend.apply(  # type: ignore[no-untyped-call]
        x, weight, a.ptr, a.index, a.row, *back
    )
    return summed


class _Attend(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, ptr: Tensor, index: Tensor, *rest: Tensor
    ) -> Tensor:
        ctx.save_for_backward(x, weight, index, *rest)
        return _bags(x, ptr, index, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight, index, row, ptr, col, order = ctx.saved_tensors
        to_weight = (grad.index_select(0, row) * x.index_select(0, index)).flatten(1).sum(-1)
        to_x = _bags(grad, ptr, col, weight[order])
        return to_x, to_weight, *[None] * 6


def edge_softmax(adjacency: Adjacency, score: Tensor) -> Tensor:
    """The softmax of the scores of the entries, over every row; one column a replica."""
    ptr, row = adjacency.ptr, adjacency.row
    column = score if score.dim() > 1 else score.unsqueeze(1)
    with torch.no_grad():
        highest = segment_max(column, ptr).index_select(0, row)
    raised = (column - highest).exp()
    return (raised / unpool(pool_sum(raised, ptr, row), ptr, row)).view_as(score)


def pooled_adjacency(levels: Hierarchy, level: int, binary: bool = False) -> Adjacency:
    """The adjacency between the clusters of a level: ``S A S^T``, or without weights and loops."""
    edges = levels.edges_apart(level) if binary else levels.edges[level - 1]
    weight = None if binary else levels.weights[level - 1]
    kind = levels.kind if levels.kind == DIRECTED else ROW_BY_ROW
    return Adjacency.from_edges(edges, weight, levels.num_clusters(level), kind)


def rows_like(values: Tensor | None, x: Tensor) -> Tensor:
    """One value a row, shaped so that it multiplies the rows of ``x``."""
    assert values is not None
    return values.view(-1, *[1] * (x.dim() - 1))


def take_rows(x: Tensor, index: Tensor, gate: Tensor | None = None) -> Tensor:
    """``x[index]``, with 0 wherever the gate, if there is one, is not above 0."""
    if _has_kernel(x):
        gate = None if gate is None else _wide(gate)
        taken: Tensor = kernels.copy_rows(_wide(x), index, gate)
        return taken.view(-1, *x.shape[1:])
    taken = x.index_select(0, index)
    return taken if gate is None else taken * (gate > 0)


def _wide(x: Tensor) -> Tensor:
    """``x`` as a matrix with the same rows."""
    return x if x.dim() == 2 else x.unsqueeze(1).flatten(1)


def _has_kernel(x: Tensor) -> bool:
    """Whether our own kernels can work on ``x``: PyTorch's are slow for many short rows."""
    return kernels is not None and x.is_cuda and x.dtype == torch.float32


def _bags(
    x: Tensor,
    ptr: Tensor,
    index: Tensor | None = None,
    weight: Tensor | None = None,
    mode: str = "sum",
) -> Tensor:
    """Sums of gathered rows: PyTorch's embedding bags do just this, on a GPU our own kernel."""
    if mode == "sum" and _has_kernel(x):
        summed: Tensor = kernels.sum_rows(_wide(x), ptr, index, weight)
        return summed.view(-1, *x.shape[1:])
    if index is None:
        index = torch.arange(len(x), device=x.device)
    if not index.numel():
        return x.new_zeros(len(ptr) - 1, *x.shape[1:])
    wide = _wide(x)
    if weight is not None and weight.dtype != x.dtype:
        weight = weight.to(x.dtype)
    bags = F.embedding_bag(
        index, wide, ptr, mode=mode, per_sample_weights=weight, include_last_offset=True
    )
    return bags if x.dim() == 2 else bags.view(-1, *x.shape[1:])
