from __future__ import annotations

import pytest
import torch

from sepool_experiments.layers.dropout import Dropout, noise

KEYS = torch.tensor([3, 2**40 + 7, 12345, 0])


def test_replica_alone_equals_replica_among_others():
    many, one = Dropout(0.3, salt=5), Dropout(0.3, salt=5)
    many.keys = KEYS
    x = torch.randn(4 * 6, 8)
    tables = x.view(4, 6, 8).transpose(0, 1).contiguous()
    dropped, side_by_side = many(x).view(4, 6, 8), many(tables)
    for r in range(4):
        one.keys = KEYS[r : r + 1]
        alone = one(x.view(4, 6, 8)[r])
        assert torch.equal(alone, dropped[r])
        assert torch.equal(alone, side_by_side[:, r])


def test_every_replica_has_its_rate():
    layer = Dropout(0.0)
    layer.rate, layer.keys = torch.tensor([0.0, 0.25, 0.5, 0.9]), KEYS
    x = torch.ones(4 * 100, 500)
    share = (layer(x) != 0).view(4, -1).float().mean(1)
    torch.testing.assert_close(share, torch.tensor([1, 0.75, 0.5, 0.1]), rtol=0, atol=0.01)
    torch.testing.assert_close(layer(x).view(4, -1).mean(1), torch.ones(4), rtol=0, atol=0.05)
    tables = layer(torch.ones(100, 4, 500))
    torch.testing.assert_close(tables.mean((0, 2)), torch.ones(4), rtol=0, atol=0.05)


def test_noise_is_uniform_and_independent():
    numbers = noise(torch.arange(200), 500)
    assert numbers.min() >= 0
    assert numbers.max() <= 1
    bins = torch.histc(numbers, 10, 0, 1) / numbers.numel()
    torch.testing.assert_close(bins, torch.full((10,), 0.1), rtol=0, atol=0.005)
    between = torch.corrcoef(numbers[:50])
    assert (between - torch.eye(50)).abs().max() < 0.25
    other = noise(torch.arange(200), 500, salt=1)
    assert abs(torch.corrcoef(torch.stack([numbers.flatten(), other.flatten()]))[0, 1]) < 0.02


def test_gradient_has_the_mask_of_the_output():
    layer = Dropout(0.5)
    layer.keys = KEYS
    x = torch.randn(8, 8, requires_grad=True)
    out = layer(x)
    out.sum().backward()
    assert torch.equal(x.grad == 0, out == 0)
    assert set(x.grad.flatten().tolist()) == {0.0, 2.0}


def test_evaluation_is_the_identity():
    layer = Dropout(0.9).eval()
    x = torch.randn(4, 4)
    assert layer(x) is x


def test_without_keys_equals_pytorch():
    torch.manual_seed(0)
    actual = Dropout(0.4)(torch.ones(100, 100))
    torch.manual_seed(0)
    assert torch.equal(actual, torch.nn.functional.dropout(torch.ones(100, 100), 0.4))


def test_rates_outside_0_to_1_are_refused():
    assert repr(Dropout(0.5)) == "Dropout(0.5)"
    for rate in (-0.1, 1.0):
        with pytest.raises(ValueError, match=f"dropout must be at least 0 and below 1, got {rate}"):
            Dropout(rate)
