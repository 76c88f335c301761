"""The softmax over segments, and its kernels: on a GPU, or anywhere by Triton's interpreter."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from sepool.nn.softmax import segment_softmax  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PTR = torch.tensor([0, 3, 3, 10, 11, 50])
ROW = torch.repeat_interleave(PTR.diff())


def test_softmax_of_every_segment():
    score = 50 * torch.randn(50, 2)
    found = segment_softmax(score, PTR, ROW)
    for begin, end in PTR.unfold(0, 2, 1).tolist():
        torch.testing.assert_close(found[begin:end], score[begin:end].softmax(0))


def test_gradient():
    score = torch.randn(50, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: segment_softmax(x, PTR, ROW), score)


@pytest.mark.parametrize("width", [1, 5, 16, 70])
@pytest.mark.parametrize("times", [1, 4])
def test_kernels(width, times):
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    kernels = pytest.importorskip("sepool.nn.softmax_kernels")
    ptr = torch.cat([PTR[:1], *(PTR[1:] + 50 * i for i in range(times))])
    row = torch.repeat_interleave(ptr.diff())
    score = (50 * torch.randn(len(row), width)).requires_grad_()
    above = torch.randn(len(row), width)
    expected = segment_softmax(score, ptr, row)
    slopes = torch.autograd.grad(expected, score, above)[0]
    share = kernels.softmax(score.detach().to(DEVICE), ptr.to(DEVICE))
    torch.testing.assert_close(share.cpu(), expected.detach())
    found = kernels.gradient(share, above.to(DEVICE), ptr.to(DEVICE))
    torch.testing.assert_close(found.cpu(), slopes)
