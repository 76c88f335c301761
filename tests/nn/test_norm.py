from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from sepool.nn.norm import BatchNorm  # noqa: E402


def test_batch_norm_equals_torch():
    ours, theirs = BatchNorm(4), torch.nn.BatchNorm1d(4)
    for _ in range(3):
        x = torch.randn(10, 4) * 3 + 1
        torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_every_replica_is_normalised_on_its_own():
    many, single = BatchNorm(4, replicas=3), [BatchNorm(4) for _ in range(3)]
    for _ in range(2):
        x = torch.randn(10, 3, 4) * torch.tensor([1.0, 10, 100]).view(3, 1)
        found = many(x)
        for r, one in enumerate(single):
            torch.testing.assert_close(found[:, r], one(x[:, r]))
            torch.testing.assert_close(many.mean[r], one.mean)
    many.reset_parameters()
    assert torch.equal(many.mean, torch.zeros(3, 4))
    assert torch.equal(many.var, torch.ones(3, 4))


def test_repr():
    assert repr(BatchNorm(4)) == "BatchNorm(4)"
    assert repr(BatchNorm(4, replicas=2)) == "BatchNorm(4, replicas=2)"
