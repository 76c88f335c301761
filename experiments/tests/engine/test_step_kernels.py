"""The kernels of a step against what they stand for, on a GPU or by Triton's interpreter."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.engine import loss, schedule

pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
step_kernels = pytest.importorskip("sepool_experiments.kernels.steps")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
REPLICAS = 130


def test_keys():
    generator = torch.Generator().manual_seed(0)
    keys = torch.randint(2**40, (REPLICAS,), generator=generator)
    for step in (1, 2, 10**6):
        found = step_kernels.keys_at(keys.to(DEVICE), torch.tensor(step, device=DEVICE))
        assert torch.equal(found.cpu(), schedule.keys_at(keys, torch.tensor(step)))


@pytest.mark.parametrize("step", [1, 30, 51, 77, 200])
def test_rates(step):
    rate, cosine = torch.rand(REPLICAS, 1), torch.rand(REPLICAS, 1) < 0.5
    times = 10, 5, 13
    state = (tensor.to(DEVICE) for tensor in (torch.tensor(step), rate, cosine))
    found = step_kernels.rates_at(*state, *times)
    expected = schedule.rates_at(torch.tensor(step), rate, cosine, *times)
    torch.testing.assert_close(found.cpu(), expected)


@pytest.mark.parametrize(("graphs", "padding", "classes"), [(5, 1, 2), (40, 3, 6), (16, 0, 11)])
def test_losses(graphs, padding, classes):
    replicas = 3
    logits = (20 * torch.randn(replicas * (graphs + padding), classes)).requires_grad_()
    y = torch.randint(classes, (replicas, graphs))
    there = torch.rand(replicas, graphs) < 0.8
    there[:, 0] = True
    expected = loss.mean_losses(logits, y, there)
    slopes = torch.autograd.grad(expected.sum(), logits)[0]
    state = (tensor.to(DEVICE) for tensor in (logits.detach(), y, there))
    found, gradient = step_kernels.mean_losses(*state)
    torch.testing.assert_close(found.cpu(), expected.detach())
    torch.testing.assert_close(gradient.cpu(), slopes)
