"""Structural entropy of soft assignments, as a loss."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def structural_entropy_loss(
    assignments: Sequence[Tensor],
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    num_nodes: int | None = None,
) -> Tensor:
    r"""Structural entropy of a graph on soft levels, in bits; differentiable in the assignments.

    With the volumes :math:`\mathbf{v}_l = \mathbf{S}_l^{\top} \mathbf{v}_{l-1}` from the degrees
    :math:`\mathbf{v}_0 = \mathbf{d}` up, and the boundaries :math:`\mathbf{g}_l = \mathbf{v}_l -
    \mathrm{diag}(\mathbf{C}_l^{\top} \mathbf{A} \mathbf{C}_l)` of the clusters
    :math:`\mathbf{C}_l = \mathbf{S}_1 \cdots \mathbf{S}_l`,

    .. math::
        H = \sum_{l=0}^{k-1} \frac{\mathbf{g}_l^{\top}}{V} \left(
            \mathbf{S}_{l+1} \log_2 \mathbf{v}_{l+1} - \log_2 \mathbf{v}_l \right)

    where the root, :math:`\mathbf{S}_k = \mathbf{1}`, is implied. For assignments of 0 and 1 it is
    `sepool.structural_entropy`. Losses of this kind: Sun et al., "LSEnet: Lorentz structural
    entropy neural network for deep graph clustering", ICML 2024. O(edges * clusters).

    Args:
        assignments: one matrix a level, finest first: for every node, or cluster of the level
            before, its shares of the clusters. Rows sum to 1, for instance by a softmax. An empty
            list: no clusters, the one-dimensional entropy.
        edge_index: edges, each in both directions; self-loops do not count.
        edge_weight: weights of the edges.
        num_nodes: number of nodes; needed with an empty list alone.

    Example:
        >>> edges = torch.tensor([[0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]])
        >>> edges = torch.cat([edges, edges.flip(0)], 1)  # two triangles and a bridge
        >>> triangles = torch.tensor([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
        >>> structural_entropy_loss([triangles], edges)
        tensor(1.6995)
        >>> scores = torch.zeros(6, 2, requires_grad=True)
        >>> structural_entropy_loss([scores.softmax(1)], edges).backward()
    """
    nodes = _check(assignments, edge_index, edge_weight, num_nodes)
    dtype = assignments[0].dtype if assignments else torch.get_default_dtype()
    row, col = edge_index.unbind()
    weight = torch.ones(row.size(0), device=row.device) if edge_weight is None else edge_weight
    weight = (weight * (row != col)).to(dtype)
    half = weight.new_zeros(nodes).index_add(0, row, weight)
    volume = half.index_add(0, col, weight) / 2
    total, boundary = volume.sum(), volume
    cluster: Tensor | None = None
    entropy = total.new_zeros(())
    for assignment in assignments:
        above = assignment.t() @ volume
        entropy = entropy + boundary @ (assignment @ _log2(above) - _log2(volume))
        cluster = assignment if cluster is None else cluster @ assignment
        inside = (cluster[row] * cluster[col] * weight.unsqueeze(1)).sum(0)
        volume, boundary = above, above - inside
    entropy = entropy + boundary @ (_log2(total) - _log2(volume))
    return entropy / total.clamp(min=torch.finfo(dtype).tiny)


def _log2(volume: Tensor) -> Tensor:
    """Logarithm; an empty cluster has no boundary, so that its value does not count."""
    return volume.clamp(min=torch.finfo(volume.dtype).tiny).log2()


def _check(
    assignments: Sequence[Tensor],
    edge_index: Tensor,
    edge_weight: Tensor | None,
    num_nodes: int | None,
) -> int:
    """Return the number of nodes of arguments that fit each other."""
    if isinstance(assignments, Tensor):
        raise TypeError("assignments must be a list, one matrix a level: [assignment]")
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"edge_index must have the shape (2, m), got {tuple(edge_index.shape)}")
    if edge_weight is not None and edge_weight.shape != edge_index.shape[1:]:
        raise ValueError(
            f"edge_weight must have the shape ({edge_index.size(1)},), one weight an edge, got "
            f"{tuple(edge_weight.shape)}"
        )
    if not assignments:
        if num_nodes is None:
            raise ValueError("without assignments the number of nodes is unknown: pass num_nodes")
        return num_nodes
    rows = assignments[0].size(0) if num_nodes is None else num_nodes
    nodes = rows
    for level, assignment in enumerate(assignments, 1):
        if assignment.dim() != 2 or assignment.size(0) != rows:
            raise ValueError(
                f"the assignment to level {level} must have the shape ({rows}, clusters), a row "
                f"for each node of the level below, got {tuple(assignment.shape)}"
            )
        if not assignment.is_floating_point():
            raise ValueError(
                f"the assignment to level {level} must hold floating-point shares, got "
                f"{assignment.dtype}: softmax of scores, or one_hot(labels).float()"
            )
        rows = assignment.size(1)
    return nodes
