"""Nodes beside what they gather, against dense matrices; the kernels against both."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from sepool.nn import beside as besides
from sepool.nn.adjacency import Adjacency
from sepool.nn.beside import beside

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
NODES = 40
KINDS = list(product((False, True), repeat=3))  # sums first, weights, a number for every node


@pytest.fixture
def by_kernels(monkeypatch):
    """Kernels are taken wherever they can be; says how often they were."""
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.nn.beside_kernels")
    launched = []
    launch = kernels._launch

    def counted(*given):
        launched.append(given[0].__name__)
        launch(*given)

    monkeypatch.setattr(kernels, "_launch", counted)
    monkeypatch.setattr(besides, "beside_kernels", kernels)
    monkeypatch.setattr(besides, "has_kernel", lambda x, times=0: True)
    return launched


def matrix(weighted):
    """A symmetric one; a node is next to all others, and one to nobody."""
    generator = torch.Generator().manual_seed(0)
    near = torch.rand(NODES, NODES, generator=generator) < 0.1
    near[3] = True
    near = near | near.T
    near[7], near[:, 7] = False, False
    weight = torch.rand(NODES, NODES, generator=generator) if weighted else torch.ones(1)
    return near * (weight + weight.T if weighted else weight)


def adjacency(dense, weighted, symmetric=True):
    row, col = dense.nonzero().unbind(1)
    ptr = torch._convert_indices_from_coo_to_csr(row, NODES)
    weight = dense[row, col].to(DEVICE) if weighted else None
    return Adjacency(ptr.to(DEVICE), col.to(DEVICE), weight, symmetric)


def halves(dense, x, scale, first):
    seen = dense @ x
    seen = seen if scale is None else scale * seen
    return torch.cat([seen, x] if first else [x, seen], 1)


def check(width, first, weighted, scaled, symmetric=True):
    """The rows, their gradient and the gradient of that."""
    torch.manual_seed(width)
    dense = matrix(weighted)
    if not symmetric:
        dense = dense.triu()
    a = adjacency(dense, weighted, symmetric)
    x, above = torch.randn(NODES, width), torch.randn(NODES, 2 * width).requires_grad_()
    scale = torch.rand(NODES, 1) + 0.5 if scaled else None
    x.requires_grad_()
    expected = halves(dense, x, scale, first)
    given = x.detach().to(DEVICE).requires_grad_()
    mine = above.detach().to(DEVICE).requires_grad_()
    found = beside(a, given, None if scale is None else scale.to(DEVICE), first)
    torch.testing.assert_close(found.cpu(), expected)
    (slope,) = torch.autograd.grad(expected, x, above, create_graph=True)
    (my_slope,) = torch.autograd.grad(found, given, mine, create_graph=True)
    torch.testing.assert_close(my_slope.cpu(), slope)
    turned = torch.autograd.grad(slope, above, x)
    my_turned = torch.autograd.grad(my_slope, mine, given)
    torch.testing.assert_close(my_turned[0].cpu(), turned[0])


@pytest.mark.parametrize(("first", "weighted", "scaled"), KINDS)
def test_it_is_its_formula(first, weighted, scaled):
    check(5, first, weighted, scaled)


@pytest.mark.parametrize("width", [1, 5, 64, 100])
@pytest.mark.parametrize(("first", "weighted", "scaled"), KINDS)
def test_kernels(width, first, weighted, scaled, by_kernels):
    check(width, first, weighted, scaled)
    assert by_kernels == ["_beside", "_join", "_beside"]


def test_who_is_gathered_need_not_gather(by_kernels):
    check(5, True, True, True, symmetric=False)
    assert not by_kernels


def test_weights_that_learn_get_their_gradient(by_kernels):
    a = adjacency(matrix(True), True)
    a.weight.requires_grad_()
    x = torch.randn(NODES, 3, device=DEVICE)
    (slope,) = torch.autograd.grad(beside(a, x)[:, 3:].sum(), a.weight)
    torch.testing.assert_close(slope, x.sum(1)[a.index])
    assert not by_kernels


def test_numbers_that_learn_get_their_gradient(by_kernels):
    a, x = adjacency(matrix(True), True), torch.randn(NODES, 3, device=DEVICE)
    scale = torch.ones(NODES, 1, device=DEVICE).requires_grad_()
    (slope,) = torch.autograd.grad(beside(a, x, scale)[:, 3:].sum(), scale)
    torch.testing.assert_close(slope, a.propagate(x).sum(1, keepdim=True))
    assert not by_kernels


def test_rows_need_not_lie_one_behind_the_other(by_kernels):
    a, x = adjacency(matrix(True), True), torch.randn(NODES, 6, device=DEVICE)
    scale = torch.rand(NODES, 2, device=DEVICE)
    apart = a.weighted(torch.stack([a.weight.double()] * 2, 1)[:, 0])  # and twice as long
    found = beside(apart, x.t().contiguous().t(), scale[:, :1])
    assert torch.equal(found, beside(a, x, scale[:, :1].clone()))
    assert by_kernels == ["_beside", "_beside"]
