"""Steps of Adam for many replicas against PyTorch's, one replica at a time."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.engine import adam

GPU = torch.cuda.is_available()
REPLICAS, WIDTH, STEPS = 3, 2500, 4
RATES, DECAYS = (1e-3, 0.1, 0.0), (0.0, 0.3, 1e-2)


def start():
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(REPLICAS, WIDTH, generator=generator)
    gradients = torch.randn(STEPS, REPLICAS, WIDTH, generator=generator)
    return weights, gradients * torch.tensor([0.001, 1.0, 5.0])[:, None]


def by_pytorch(clip):
    weights, gradients = start()
    rows = []
    for i, row in enumerate(weights):
        weight = torch.nn.Parameter(row.clone())
        optimizer = torch.optim.Adam([weight], RATES[i], weight_decay=DECAYS[i])
        for gradient in gradients:
            weight.grad = gradient[i].clone()
            if clip is not None:
                torch.nn.utils.clip_grad_norm_([weight], clip)
            optimizer.step()
        rows.append(weight.detach())
    return torch.stack(rows)


def by_us(step, clip, parts, device="cpu"):
    weights, gradients = (tensor.to(device) for tensor in start())
    moments = torch.zeros(2, REPLICAS, WIDTH, device=device)
    steps = torch.zeros((), dtype=torch.int64, device=device)
    rate, decay = (torch.tensor(row, device=device).unsqueeze(1) for row in (RATES, DECAYS))
    for gradient in gradients.clone():
        steps += 1
        norm = None if clip is None else gradient.norm(dim=1, keepdim=True)
        for part in parts:
            step(weights, gradient, moments, steps, rate, decay, norm, clip or 0.0, part)
    return weights.cpu()


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("parts", [[slice(None)], [slice(0, 7), slice(7, WIDTH)]])
def test_equals_pytorch(clip, parts):
    expected = by_pytorch(clip)
    torch.testing.assert_close(by_us(adam.adam_step, clip, parts), expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("parts", [[slice(None)], [slice(0, 7), slice(7, WIDTH)]])
def test_kernel_equals_pytorch(clip, parts):
    pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
    from sepool_experiments.kernels import adam as adam_kernel

    def step(*state):
        adam_kernel.adam(*state, adam.BETAS, adam.EPSILON, adam.TINY)

    found = by_us(step, clip, parts, "cuda" if GPU else "cpu")
    torch.testing.assert_close(found, by_pytorch(clip), atol=1e-4, rtol=1e-3)
