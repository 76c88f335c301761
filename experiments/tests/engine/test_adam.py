"""Steps of Adam for many replicas against PyTorch's, one replica at a time."""

from __future__ import annotations

import pytest
import torch

from sepool_experiments.engine.adam import adam_step

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


def by_us(clip, parts):
    weights, gradients = start()
    moments = torch.zeros(2, REPLICAS, WIDTH)
    steps = torch.zeros((), dtype=torch.int64)
    rate, decay = (torch.tensor(row).unsqueeze(1) for row in (RATES, DECAYS))
    for gradient in gradients.clone():
        steps += 1
        norm = None if clip is None else gradient.norm(dim=1, keepdim=True)
        for part in parts:
            adam_step(weights, gradient, moments, steps, rate, decay, norm, clip or 0.0, part)
    return weights


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("parts", [[slice(None)], [slice(0, 7), slice(7, WIDTH)]])
def test_adam_step_equals_pytorch(clip, parts):
    expected = by_pytorch(clip)
    torch.testing.assert_close(by_us(clip, parts), expected, atol=1e-4, rtol=1e-3)
