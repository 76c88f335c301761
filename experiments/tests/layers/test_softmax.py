"""Softmax over segments."""

from __future__ import annotations

import torch

from sepool_experiments.layers.softmax import segment_softmax

PTR = torch.tensor([0, 3, 3, 10, 11, 50])
ROW = torch.repeat_interleave(PTR.diff())


def test_softmax_equals_pytorch_on_every_segment():
    score = 50 * torch.randn(50, 2)
    found = segment_softmax(score, PTR, ROW)
    for begin, end in PTR.unfold(0, 2, 1).tolist():
        torch.testing.assert_close(found[begin:end], score[begin:end].softmax(0))


def test_softmax_passes_gradcheck():
    score = torch.randn(50, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: segment_softmax(x, PTR, ROW), score)
