"""The kernels of dense matrices against what they stand for, interpreted or on a GPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")

from sepool_experiments.models.parts import dense  # noqa: E402

kernels = pytest.importorskip("sepool_experiments.kernels.dense")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = [1, 2, 5, 16, 37]


def matrices(size):
    """Parts of wider ones; the first is empty, and one has a node without neighbours."""
    wide = torch.rand(6, size, 3 * size)
    wide[0], wide[1, 0] = 0, 0
    return wide[:, :, size : 2 * size].requires_grad_()


def same(found, expected):
    torch.testing.assert_close(found.cpu(), expected.detach(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("loops", [False, True])
def test_normalisation(size, loops):
    a, above = matrices(size), torch.randn(6, size, size)
    above[1] = 0 if not loops else above[1]  # numbers there are beyond all bounds
    expected = dense.normalise(a, loops)
    there = a.detach().to(DEVICE)
    same(kernels.normalise(there, loops, dense.TINY), expected)
    found = kernels.normalise_gradient(there, above.to(DEVICE), loops, dense.TINY)
    same(found, torch.autograd.grad(expected, a, above)[0])


@pytest.mark.parametrize("size", SIZES[1:])
def test_crowding(size):
    overlap = matrices(size)
    expected = dense.crowding(overlap)
    found, gradient = kernels.crowding(overlap.detach().to(DEVICE), dense.TINY)
    same(found, expected)
    slopes = torch.autograd.grad(expected.sum(), overlap)[0]
    same(gradient[1:], slopes[1:])
    torch.testing.assert_close(gradient[:1].cpu(), slopes[:1])
