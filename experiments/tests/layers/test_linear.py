from __future__ import annotations

import pytest
import torch

from sepool_experiments.layers.linear import Linear


@pytest.mark.parametrize("bias", [True, False])
def test_replicas_equal_single_layers(bias):
    many = Linear(3, 4, bias=bias, replicas=5)
    for parameter in many.parameters():
        parameter.data.normal_()
    x = torch.randn(5 * 6, 3)
    side_by_side = x.view(5, 6, 3).transpose(0, 1).contiguous()
    parts, side = many(x).view(5, 6, 4), many(side_by_side)
    shared = many(side_by_side[:, :1])
    for r in range(5):
        one = Linear(3, 4, bias=bias)
        for mine, theirs in zip(one.parameters(), many.parameters(), strict=True):
            mine.data.copy_(theirs.data[r])
        expected = one(x.view(5, 6, 3)[r])
        torch.testing.assert_close(parts[r], expected)
        torch.testing.assert_close(side[:, r], expected)
        torch.testing.assert_close(shared[:, r], one(x[:6]))


def test_weights_start_as_glorot():
    torch.manual_seed(0)
    layer = Linear(60, 40, replicas=2)
    assert layer.weight.abs().max() <= (6 / 100) ** 0.5
    assert layer.weight.abs().max() > 0.9 * (6 / 100) ** 0.5
    assert torch.equal(layer.bias, torch.zeros(2, 40))
    assert not torch.equal(layer.weight[0], layer.weight[1])


def test_repr():
    assert repr(Linear(3, 4)) == "Linear(3, 4)"
    assert repr(Linear(3, 4, bias=False, replicas=2)) == "Linear(3, 4, bias=False, replicas=2)"


def test_torch_init_equals_pytorch():
    torch.manual_seed(0)
    ours, theirs = Linear(50, 400, init="torch"), torch.nn.Linear(50, 400)
    for mine, other in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
        assert mine.abs().max() <= 50**-0.5
        assert mine.std().item() == pytest.approx(other.std().item(), rel=0.1)
    assert not Linear(50, 400).bias.any()


def test_unknown_init_is_refused():
    with pytest.raises(ValueError, match="init must be one of glorot, torch, got 'nonsense'"):
        Linear(3, 5, init="nonsense")
