"""Sorted sums against dense matrices: values, derivatives of any order, transforms."""

from __future__ import annotations

import pytest
import torch
from torch.func import grad, jacfwd, jacrev, vmap

from sepool.nn.segments import SparseRows, pool_max, pool_sum, spmm, unpool

# Clusters of 2, 0, 3 and 1 members.
PTR = torch.tensor([0, 2, 2, 5, 6])
ASSIGNMENT = torch.tensor([2, 0, 2, 3, 0, 2])
ORDER = torch.tensor([1, 4, 0, 2, 5, 3])
MEMBERS = PTR, ASSIGNMENT, ORDER
S = torch.nn.functional.one_hot(ASSIGNMENT, 4).t().double()
SHAPES = [(6,), (6, 3), (6, 2, 3)]


def doubles(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def sparse(matrix):
    """Rows of a dense matrix and of its transpose, and the values as a function of the entries."""
    row, col = matrix.nonzero().t()
    order = (col * len(matrix) + row).argsort()
    ptr, turned = (
        torch._convert_indices_from_coo_to_csr(i, len(matrix)) for i in (row, col[order])
    )
    return lambda weight: (
        SparseRows(ptr, col, weight),
        SparseRows(turned, row[order], weight[order]),
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pool_sum_equals_the_dense_product(shape):
    x = doubles(*shape)
    wanted = torch.tensordot(S, x, 1)
    torch.testing.assert_close(pool_sum(x, *MEMBERS), wanted)
    up = torch.randn_like(wanted)
    torch.testing.assert_close(unpool(up, *MEMBERS), torch.tensordot(S.t(), up, 1))


@pytest.mark.parametrize("function", [pool_sum, pool_max])
def test_pooling_of_sorted_rows_needs_no_order(function):
    x = doubles(6, 3)
    sorted_x, assignment = x[ORDER], ASSIGNMENT[ORDER]
    assert torch.equal(function(sorted_x, PTR, assignment), function(x, *MEMBERS))


@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_pool_max_of_an_empty_cluster_is_zero(shape):
    x = doubles(*shape)
    out = pool_max(x, *MEMBERS)
    wanted = torch.stack(
        [x[i == ASSIGNMENT].amax(0) if i != 1 else torch.zeros(shape[1:]) for i in range(4)]
    )
    torch.testing.assert_close(out, wanted)


def test_pool_max_propagates_nan():
    x = torch.zeros(6, 1)
    x[4] = torch.nan
    assert pool_max(x, *MEMBERS).isnan().flatten().tolist() == [True, False, False, False]


@pytest.mark.parametrize("function", [pool_sum, pool_max])
def test_pooling_has_second_derivatives(function):
    x = doubles(6, 2)
    assert torch.autograd.gradcheck(lambda x: function(x, *MEMBERS), x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: function(x, *MEMBERS), x)


def test_spmm_has_second_derivatives_in_learned_weights():
    matrix = torch.tensor([[0.0, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=torch.float64)
    rows, x, weight = sparse(matrix), doubles(3, 2), doubles(5)

    def product(x, weight):
        return spmm(*rows(weight), x)

    place = tuple(matrix.nonzero().t())
    dense = torch.zeros_like(matrix).index_put(place, weight)
    torch.testing.assert_close(product(x, weight), dense @ x)
    assert torch.autograd.gradcheck(product, (x, weight), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(product, (x, weight))


@pytest.mark.parametrize("function", [pool_sum, pool_max])
def test_transforms_agree_with_autograd(function):
    x = doubles(6, 2)
    batch = torch.randn(5, 6, 2, dtype=torch.float64)

    def loss(x):
        return function(x, *MEMBERS).pow(3).sum()

    torch.testing.assert_close(grad(loss)(x), torch.autograd.grad(loss(x), x)[0])
    each = torch.stack([function(row, *MEMBERS) for row in batch])
    torch.testing.assert_close(vmap(lambda x: function(x, *MEMBERS))(batch), each)
    per_sample = torch.stack([grad(loss)(row) for row in batch])
    torch.testing.assert_close(vmap(grad(loss))(batch), per_sample)
    torch.testing.assert_close(jacfwd(grad(loss))(x), jacrev(grad(loss))(x))


def test_vmap_over_weights():
    matrix = torch.tensor([[0.0, 1], [1, 1]], dtype=torch.float64)
    rows, x, weights = sparse(matrix), doubles(2, 3), doubles(4, 3)
    out = vmap(lambda weight: spmm(*rows(weight), x))(weights)
    torch.testing.assert_close(out, torch.stack([spmm(*rows(weight), x) for weight in weights]))


def test_inputs_may_change_in_place_after_a_sum():
    x = doubles(6, 2)
    y = x * 1
    out = pool_sum(y, *MEMBERS)
    y.mul_(2)
    out.sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))
