"""Maxima over neighbours against dense maxima."""

from __future__ import annotations

import torch

from sepool_experiments.layers.adjacency import Adjacency
from sepool_experiments.models.parts.neighbor_max import dense_max, sparse_max


def test_largest_of_the_neighbourhood():
    there = torch.tensor([[True] * 4, [True, True, False, False], [False] * 4])
    x = torch.randn(3, 4, 3, dtype=torch.float64) * there.unsqueeze(2)
    x.requires_grad_()
    near = (torch.rand(3, 4, 4) < 0.5) & (there.unsqueeze(1) & there.unsqueeze(2))
    near = near | torch.eye(4, dtype=torch.bool)
    expected = x.unsqueeze(1).masked_fill(~near.unsqueeze(3), -torch.inf).amax(2)
    for most in (6, 8):
        torch.testing.assert_close(dense_max(x, near, there, most), expected)
    weight = torch.randn(3, 4, 3, dtype=torch.float64) * there.unsqueeze(2)
    (mine,), (theirs,) = (
        torch.autograd.grad((out * weight).sum(), x)
        for out in (dense_max(x, near, there, 8), expected)
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
    seen = x.unsqueeze(0).masked_fill(~near.unsqueeze(2), -torch.inf)
    expected = seen.amax(1).masked_fill(~near.any(1, keepdim=True), 0)
    found = sparse_max(a, x)
    torch.testing.assert_close(found, expected)
    weight = torch.randn(9, 3, dtype=torch.float64)
    mine, theirs = (torch.autograd.grad(out, x, weight) for out in (found, expected))
    torch.testing.assert_close(mine, theirs)
