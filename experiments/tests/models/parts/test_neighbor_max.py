"""Maxima over neighbours against dense maxima."""

from __future__ import annotations

import torch

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.models.parts.neighbor_max import dense_max, sparse_max


def test_largest_of_the_neighbourhood():
    mask = torch.tensor([[True] * 4, [True, True, False, False], [False] * 4])
    x = torch.randn(3, 4, 3, dtype=torch.float64) * mask.unsqueeze(2)
    x.requires_grad_()
    near = (torch.rand(3, 4, 4) < 0.5) & (mask.unsqueeze(1) & mask.unsqueeze(2))
    near = near | torch.eye(4, dtype=torch.bool)
    expected = x.unsqueeze(1).masked_fill(~near.unsqueeze(3), -torch.inf).amax(2)
    for max_total in (6, 8):
        torch.testing.assert_close(dense_max(x, near, mask, max_total), expected)
    weight = torch.randn(3, 4, 3, dtype=torch.float64) * mask.unsqueeze(2)
    (mine,), (theirs,) = (
        torch.autograd.grad((out * weight).sum(), x)
        for out in (dense_max(x, near, mask, 8), expected)
    )
    torch.testing.assert_close(mine, theirs)


def sparse(nodes):
    """An adjacency, not symmetric, with an empty row, and as a matrix."""
    near = torch.rand(nodes, nodes) < 0.3
    near[nodes // 2] = False
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64), near.sum(1).cumsum(0)])
    return Adjacency(ptr, near.nonzero()[:, 1]), near


def test_largest_of_sparse_rows():
    a, near = sparse(9)
    x = torch.randint(4, (9, 3)).double()  # many are equal
    x = x.requires_grad_()
    values = x.unsqueeze(0).masked_fill(~near.unsqueeze(2), -torch.inf)
    expected = values.amax(1).masked_fill(~near.any(1, keepdim=True), 0)
    out = sparse_max(a, x)
    torch.testing.assert_close(out, expected)
    weight = torch.randn(9, 3, dtype=torch.float64)
    mine, theirs = (torch.autograd.grad(y, x, weight) for y in (out, expected))
    torch.testing.assert_close(mine, theirs)
