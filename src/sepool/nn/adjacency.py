"""CSR adjacency and message passing along it."""

from __future__ import annotations

import torch
from torch import Tensor

from sepool.nn.rows import SparseRows, column, row_pointers
from sepool.nn.segments import spmm
from sepool.pyg.hierarchy import DIRECTED, SORTED

SELF_LOOPS = ("remaining", "all")


class Adjacency:
    """Weighted adjacency in compressed rows: node ``i`` gathers ``ptr[i]`` to ``ptr[i + 1]``.

    Attributes:
        ptr: start of every row, and the end of the last.
        index: neighbours, row after row.
        weight: weight of every entry, or None if all are 1.
        row: row of every entry.
        symmetric: True if the matrix is its own transpose, weights included.
        self_loops: loops that `smooth` adds: "remaining", to nodes without a loop, as PyG's
            ``gcn_norm``; or "all", ``A + I`` as in Eq. 1 of the paper.
    """

    def __init__(
        self,
        ptr: Tensor,
        index: Tensor,
        weight: Tensor | None,
        row: Tensor,
        symmetric: bool,
        self_loops: str = "remaining",
    ) -> None:
        self.ptr, self.index, self.weight, self.row = ptr, index, weight, row
        self.symmetric, self.self_loops = symmetric, self_loops
        self._transpose: tuple[Tensor, Tensor, Tensor] | None = None
        self._normalised: tuple[Adjacency, Tensor] | None = None

    @classmethod
    def from_edges(
        cls,
        edge_index: Tensor,
        weight: Tensor | None,
        num_nodes: int,
        edge_layout: int = DIRECTED,
        self_loops: str = "remaining",
    ) -> Adjacency:
        """Adjacency of PyG edges, whose messages flow from ``edge_index[0]`` to ``edge_index[1]``.

        Symmetric edges that are sorted by row are compressed as they stand. Learned weights forbid
        it: the gradient belongs to an edge, not to the one in the other direction.
        """
        learned = weight is not None and weight.requires_grad
        if edge_layout == SORTED and not learned:
            row, col = edge_index.contiguous()
            weight = None if weight is None else weight.contiguous()
        else:
            row, order = edge_index[1].sort(stable=True)
            col = edge_index[0][order]
            weight = None if weight is None else weight[order]
        ptr = row_pointers(row, num_nodes)
        symmetric = edge_layout != DIRECTED and not learned
        return cls(ptr, col, weight, row, symmetric, self_loops)

    @property
    def num_nodes(self) -> int:
        """Number of rows."""
        return self.ptr.size(0) - 1

    def propagate(self, x: Tensor) -> Tensor:
        """Sum over the neighbours, ``A x``; differentiable in ``x`` and in learned weights."""
        rows = SparseRows(self.ptr, self.index, self.weight)
        if self.symmetric:
            return spmm(rows, rows, x)
        if self._transpose is None:
            col, order = self.index.sort(stable=True)
            ptr = row_pointers(col, self.num_nodes)
            self._transpose = ptr, self.row[order], order
        ptr, index, order = self._transpose
        weight = None if self.weight is None else self.weight[order]
        return spmm(rows, SparseRows(ptr, index, weight), x)

    def smooth(self, x: Tensor) -> Tensor:
        """Average over neighbours and node, ``D^-1/2 (A + I) D^-1/2 x``, as GCN has it.

        A node that has a loop gets no second one, unless ``self_loops`` is "all".
        """
        if self._normalised is None:
            self._normalised = self._normalise()
        adjacency, loop = self._normalised
        return adjacency.propagate(x) + column(loop, x) * x

    def _normalise(self) -> tuple[Adjacency, Tensor]:
        """Normalised adjacency without the added loops, and the weight of those."""
        dtype = torch.get_default_dtype() if self.weight is None else self.weight.dtype
        ones = torch.ones(self.num_nodes, 1, dtype=dtype, device=self.ptr.device)
        added = ones.squeeze(1)
        if self.self_loops == "remaining":
            # Entries that are no loops fill a row past the last: masks have no size when compiled.
            looped = torch.where(self.row == self.index, self.row, self.num_nodes)
            added = ones.new_ones(self.num_nodes + 1).index_fill(0, looped, 0)[:-1]
        scale = (self.propagate(ones).squeeze(1) + added).clamp(min=1e-12).rsqrt()
        weight = scale.index_select(0, self.row) * scale.index_select(0, self.index)
        if self.weight is not None:
            weight = weight * self.weight
        other = Adjacency(self.ptr, self.index, weight, self.row, self.symmetric)
        other._transpose = self._transpose
        return other, added * scale * scale
